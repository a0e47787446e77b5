/* SPDX-License-Identifier: MIT
 *
 * The connections of fake nodes: messages in transit, each with its time of arrival, and the
 * daemon's end of the link. fake_agent.c carries out the requests.
 */
#include "nodeagent-proto/link/fake_priv.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/container.h"
#include "lib/fs.h"
#include "lib/hash.h"

/* After this time a link to an unreachable node fails. */
#define REFUSED_US 200000
/* An agent that is silent for this long is treated as hanging (ms). */
#define DEAD_MS 30000

/* --- chance ------------------------------------------------------------------------------------
 */

uint64_t fake_random(struct fake_nodes *f)
{
    return random_next(&f->random);
}

static int64_t any_delay(struct fake_nodes *f)
{
    int64_t span = f->c.delay_max_us - f->c.delay_min_us;
    return f->c.delay_min_us + (int64_t)(fake_random(f) % (uint64_t)(span + 1));
}

/* --- messages -----------------------------------------------------------------------------------
 */

static void message_free(struct message *m)
{
    strbuf_free(&m->frame);
    free(m);
}

/* Inserts the message in the order of arrival; messages with the same time of arrival stay in the
 * order in which they were sent. */
static void put(struct message **list, struct message *m)
{
    while (*list && (*list)->at_us <= m->at_us)
        list = &(*list)->next;
    m->next = *list;
    *list = m;
}

/* Sets the timer to the next arrival. Messages to and from a hanging node wait. */
static void arm(struct conn *c)
{
    const struct message *first = c->up;
    if (!first || (c->down && c->down->at_us < first->at_us))
        first = c->down ? c->down : first;
    int64_t at = first && !c->node->hung ? first->at_us : 0;
    if (c->fail_us != 0 && (at == 0 || c->fail_us < at))
        at = c->fail_us;
    if (at == 0)
        loop_timer_stop(c->timer);
    else
        loop_timer_start(c->timer, at);
}

static void drop(struct message **list)
{
    while (*list) {
        struct message *m = *list;
        *list = m->next;
        message_free(m);
    }
}

/* Called when both ends have released the connection, or its node is removed. */
static void conn_free(struct conn *c)
{
    struct conn **at = &c->node->conns;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    drop(&c->up);
    drop(&c->down);
    frame_decoder_free(&c->in);
    loop_timer_destroy(c->timer);
    free(c);
}

static void conn_free_if_done(struct conn *c)
{
    if (!c->link && !c->up && !c->in_use)
        conn_free(c);
}

/* Sends a message, whose frame is encoded already, to the daemon. */
static int64_t send_down(struct conn *c, struct message *m, int64_t not_before, bool in_order)
{
    struct fake_nodes *f = c->node->f;
    m->at_us = loop_mono_us(f->c.loop) + any_delay(f);
    if (m->at_us < c->last_down)
        m->at_us = c->last_down;
    if (m->at_us < not_before)
        m->at_us = not_before;
    if (in_order)
        c->last_down = m->at_us;
    int64_t at = m->at_us;
    if (c->link)
        put(&c->down, m);
    else
        message_free(m);
    arm(c);
    return at;
}

int64_t fake_reply(struct conn *c, json_t *msg, int64_t not_before, bool in_order)
{
    struct message *m = xcalloc(1, sizeof *m);
    struct err e;
    int rc = msg ? frame_encode(msg, &m->frame, &e) : -1;
    assert(rc == 0); /* encoding cannot fail: texts of fake_agent.c are short and UTF-8 */
    (void)rc;
    json_decref(msg);
    return send_down(c, m, not_before, in_order);
}

void fake_reply_with(struct conn *c, json_t *msg, const void *bytes, size_t n)
{
    struct message *m = xcalloc(1, sizeof *m);
    struct err e;
    int rc = msg ? frame_encode_with(msg, bytes, n, &m->frame, &e) : -1;
    assert(rc == 0);
    (void)rc;
    json_decref(msg);
    send_down(c, m, 0, true);
}

static void hear(struct conn *c)
{
    struct message *m = c->up;
    struct err e;
    json_t *req;
    c->up = m->next;
    frame_decoder_feed(&c->in, m->frame.s, m->frame.len);
    message_free(m);
    while (frame_decoder_next(&c->in, &req, &e) > 0) {
        c->node->f->agent->request(c, req);
        json_decref(req);
    }
}

static void fail_link(struct conn *c, const char *what)
{
    struct fake_link *l = c->link;
    struct err why;
    err_set(&why, ERR_NODE_LOST, NULL, "%s: %s", c->node->name, what);
    c->fail_us = 0;
    drop(&c->down);
    if (l)
        link_fail(&l->link, &why);
}

static void say(struct conn *c)
{
    struct message *m = c->down;
    c->down = m->next;
    link_received(&c->link->link, m->frame.s, m->frame.len);
    message_free(m);
}

/* Delivers one message, because handling a message may change the list. */
static void on_timer(void *ctx)
{
    struct conn *c = ctx;
    int64_t now = loop_mono_us(c->node->f->c.loop);
    bool up_first = c->up && !(c->down && c->down->at_us < c->up->at_us);
    c->in_use = true;
    if (c->fail_us != 0 && c->fail_us <= now)
        fail_link(c, "the link is lost");
    else if (!c->node->hung && up_first && c->up->at_us <= now)
        hear(c);
    else if (!c->node->hung && !up_first && c->down && c->down->at_us <= now)
        say(c);
    c->in_use = false;
    if (c->link || c->up)
        arm(c);
    else
        conn_free(c);
}

/* --- the daemon's end ----------------------------------------------------------------------------
 */

static void fake_write(struct node_link *link, const char *bytes, size_t n)
{
    struct fake_link *l = CONTAINER_OF(link, struct fake_link, link);
    struct conn *c = l->conn;
    if (!c || c->is_dead)
        return;
    struct fake_nodes *f = c->node->f;
    struct message *m = xcalloc(1, sizeof *m);
    strbuf_add(&m->frame, bytes, n);
    m->at_us = loop_mono_us(f->c.loop) + any_delay(f);
    if (m->at_us < c->last_up)
        m->at_us = c->last_up;
    c->last_up = m->at_us;
    put(&c->up, m);
    arm(c);
}

static void on_released(void *ctx)
{
    link_released(ctx);
}

static void unlink_conn(struct fake_link *l)
{
    struct conn *c = l->conn;
    l->conn = NULL;
    if (!c)
        return;
    c->link = NULL;
    drop(&c->down);
    conn_free_if_done(c);
}

static void fake_close(struct node_link *link)
{
    struct fake_link *l = CONTAINER_OF(link, struct fake_link, link);
    unlink_conn(l);
    loop_defer(l->provider->loop, on_released, link);
}

static void fake_free(struct node_link *link)
{
    struct fake_link *l = CONTAINER_OF(link, struct fake_link, link);
    struct fake_link **at = &l->provider->links;
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    free(l->name);
    free(l);
}

static const struct link_transport transport = {fake_write, fake_close, fake_free, NULL};

static struct conn *connect_to(struct fake_node *n, struct fake_link *l)
{
    struct conn *c = xcalloc(1, sizeof *c);
    c->serial = ++n->f->last_serial;
    c->node = n;
    c->link = l;
    c->next = n->conns;
    n->conns = c;
    c->timer = loop_timer_create(n->f->c.loop, on_timer, c);
    frame_decoder_init(&c->in);
    return c;
}

/* Ends the node's earlier agents, because a new agent now serves the daemon. */
static void end_older(struct fake_node *n)
{
    for (struct conn *c = n->conns, *next; c; c = next) {
        next = c->next;
        c->is_dead = true;
        if (c->link && c->fail_us == 0)
            c->fail_us = loop_mono_us(n->f->c.loop) + 1;
        drop(&c->up);
        arm(c);
        conn_free_if_done(c);
    }
}

static struct fake_node *node_at(struct fake_nodes *f, const struct node_target *at)
{
    char name[FAKE_NAME_SIZE];
    const char *home = f->c.machine_root;
    if (!at->ssh)
        return fake_find(f, at->root);
    bool beside = home && strcmp(at->root, home) != 0;
    snprintf(name, sizeof name, "%s%s%s", at->ssh->host, beside ? ":" : "", beside ? at->root : "");
    struct fake_node *n = fake_find(f, name);
    n->is_root = home != NULL;
    return n;
}

static int open_link(struct node_provider *base, const struct node_target *at,
                     const struct node_callbacks *callbacks, struct node_link **out, struct err *e)
{
    struct fake_provider *p = CONTAINER_OF(base, struct fake_provider, base);
    (void)e;
    struct fake_node *n = node_at(p->f, at);
    bool is_new = n->id == 0;
    n->id = at->id;
    if (is_new && p->f->c.met)
        p->f->c.met(p->f->c.ctx, n);
    struct fake_link *l = xcalloc(1, sizeof *l);
    l->provider = p;
    l->name = xstrdup(n->name);
    l->next = p->links;
    p->links = l;
    if (!n->down)
        end_older(n);
    l->conn = connect_to(n, l);
    l->conn->is_dead = n->down;
    link_start(&l->link, &(struct link_start){.loop = p->loop,
                                              .transport = &transport,
                                              .user = callbacks,
                                              .log = p->f->c.log,
                                              .name = l->name,
                                              .epoch = &at->epoch,
                                              .dead_ms = p->f->c.keeps_files ? 0 : DEAD_MS});
    if (n->down) {
        if (at->ssh)
            l->link.step = NODE_STEP_CONNECT;
        l->conn->fail_us = loop_mono_us(p->f->c.loop) + REFUSED_US;
        arm(l->conn);
    }
    *out = &l->link;
    return 0;
}

static bool has_root(struct node_provider *base, const char *root)
{
    const struct fake_nodes *f = CONTAINER_OF(base, struct fake_provider, base)->f;
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->nodes[i]->name, root) == 0)
            return !f->nodes[i]->removed;
    return false;
}

static void remove_root(struct node_provider *base, const char *root)
{
    const struct fake_nodes *f = CONTAINER_OF(base, struct fake_provider, base)->f;
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->nodes[i]->name, root) == 0) {
            fake_wipe(f->nodes[i]);
            f->nodes[i]->removed = true;
        }
}

/* Roots are DIR/NAME. */
static void each_root(struct node_provider *base, const char *dir,
                      void (*each)(void *ctx, const char *name), void *ctx)
{
    const struct fake_nodes *f = CONTAINER_OF(base, struct fake_provider, base)->f;
    size_t n = strlen(dir);
    for (size_t i = 0; i < f->n; i++) {
        const char *name = f->nodes[i]->name;
        if (!f->nodes[i]->removed && strncmp(name, dir, n) == 0 && name[n] == '/')
            each(ctx, name + n + 1);
    }
}

static const struct node_provider_ops provider_ops = {open_link, has_root, remove_root, each_root};

/* --- nodes that keep files: a root exists as long as its directory exists -------------------- */

static bool has_directory(struct node_provider *base, const char *root)
{
    struct stat st;
    (void)base;
    return stat(root, &st) == 0;
}

static void forget_node(struct fake_nodes *f, size_t i)
{
    struct fake_node *n = f->nodes[i];
    for (struct conn *c = n->conns, *next; c; c = next) {
        next = c->next;
        assert(!c->link);
        conn_free(c);
    }
    f->agent->wipe(n);
    free(n->refuses);
    free(n->name);
    free(n);
    memmove(&f->nodes[i], &f->nodes[i + 1], (f->n - i - 1) * sizeof(struct fake_node *));
    f->n--;
}

/* If the directory cannot be removed, the daemon's next start finds it. */
static void remove_directory(struct node_provider *base, const char *root)
{
    struct fake_nodes *f = CONTAINER_OF(base, struct fake_provider, base)->f;
    struct err e;
    if (fs_remove_tree(root, &e) < 0)
        LOG_WARN(f->c.log, "node.root_not_removed", LF_STR("root", root), LF_STR("why", e.msg));
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->nodes[i]->name, root) == 0) {
            forget_node(f, i);
            return;
        }
}

static const struct node_provider_ops provider_ops_on_disk = {
    .open = open_link, .has_root = has_directory, .remove_root = remove_directory};

struct node_provider *fake_provider_new(struct fake_nodes *f, struct loop *loop)
{
    struct fake_provider *p = xcalloc(1, sizeof *p);
    p->base.ops = f->c.keeps_files ? &provider_ops_on_disk : &provider_ops;
    p->f = f;
    p->loop = loop;
    return &p->base;
}

/* Drops messages in transit to the node, except the first few. */
static void lose_some(struct conn *c)
{
    struct message **at = &c->up;
    while (*at && fake_random(c->node->f) % 4 != 0)
        at = &(*at)->next;
    drop(at);
}

void fake_provider_cut_off(struct node_provider *base)
{
    struct fake_provider *p = CONTAINER_OF(base, struct fake_provider, base);
    for (struct fake_link *l = p->links; l; l = l->next) {
        if (!l->conn)
            continue;
        l->conn->is_dead = true;
        lose_some(l->conn);
        arm(l->conn);
        unlink_conn(l);
    }
}

void fake_provider_free(struct node_provider *p)
{
    assert(!CONTAINER_OF(p, struct fake_provider, base)->links);
    free(p);
}

/* --- trouble
 * -------------------------------------------------------------------------------------- */

static void lose_links(struct fake_node *n, int64_t notice_us)
{
    for (struct conn *c = n->conns, *next; c; c = next) {
        next = c->next;
        c->is_dead = true;
        lose_some(c);
        drop(&c->down);
        if (c->link)
            c->fail_us = loop_mono_us(n->f->c.loop) + 1 + notice_us;
        arm(c);
        conn_free_if_done(c);
    }
}

void fake_cut(struct fake_node *n)
{
    lose_links(n, 0);
}

void fake_set_down(struct fake_node *n, bool down, int64_t notice_us)
{
    n->down = down;
    if (!down)
        return;
    n->troubles++;
    lose_links(n, notice_us);
}

void fake_set_hung(struct fake_node *n, bool hung)
{
    n->troubles += hung && !n->hung;
    n->hung = hung;
    for (struct conn *c = n->conns; c; c = c->next)
        arm(c);
}

void fake_restart(struct fake_node *n)
{
    n->troubles++;
    n->f->agent->restart(n);
    lose_links(n, 0);
    for (struct conn *c = n->conns, *next; c; c = next) {
        next = c->next;
        drop(&c->up); /* the agent that would have read the messages is dead */
        conn_free_if_done(c);
    }
}

void fake_wipe(struct fake_node *n)
{
    n->troubles++;
    n->f->agent->wipe(n);
    lose_links(n, 0);
    for (struct conn *c = n->conns, *next; c; c = next) {
        next = c->next;
        drop(&c->up);
        conn_free_if_done(c);
    }
}

/* --- the nodes
 * ------------------------------------------------------------------------------------- */

struct fake_nodes *fake_nodes_new(const struct fake_config *c, const struct fake_agent *agent)
{
    struct fake_nodes *f = xcalloc(1, sizeof *f);
    f->c = *c;
    f->agent = agent;
    f->random = c->seed;
    return f;
}

struct fake_node *fake_find(struct fake_nodes *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->nodes[i]->name, name) == 0) {
            f->nodes[i]->removed = false;
            return f->nodes[i];
        }
    if (f->n == f->cap) {
        f->cap = f->cap ? f->cap * 2 : 16;
        f->nodes = xrealloc(f->nodes, f->cap * sizeof *f->nodes);
    }
    struct fake_node *n = f->nodes[f->n++] = xcalloc(1, sizeof *n);
    n->f = f;
    n->name = xstrdup(name);
    n->gpus = f->c.gpus;
    f->agent->init(n);
    return n;
}

void fake_nodes_free(struct fake_nodes *f)
{
    if (!f)
        return;
    while (f->n > 0)
        forget_node(f, f->n - 1);
    free(f->nodes);
    free(f);
}

size_t fake_count(const struct fake_nodes *f)
{
    return f->n;
}

struct fake_node *fake_at(const struct fake_nodes *f, size_t i)
{
    return f->nodes[i];
}

const char *fake_name(const struct fake_node *n)
{
    return n->name;
}

void fake_set_refusing(struct fake_node *n, const char *why)
{
    char *copy = why ? xstrdup(why) : NULL;
    free(n->refuses);
    n->refuses = copy;
}

struct fake_node *fake_by_id(const struct fake_nodes *f, int64_t id)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->nodes[i]->id == id)
            return f->nodes[i];
    return NULL;
}

int64_t fake_id(const struct fake_node *n)
{
    return n->id;
}

int fake_troubles(const struct fake_node *n)
{
    return n->troubles;
}

int fake_troubles_over(const struct fake_node *n)
{
    return n->troubles - (n->down || n->hung);
}
