/* SPDX-License-Identifier: MIT
 *
 * What an agent says to the daemon that has asked it everything there is to ask: answers of each
 * shape, whole and in parts, refusals, events, requests of its own. First line: after how many
 * calls back the daemon closes the link from inside one (0: at the end). Then a line a frame, its
 * JSON; what stands between '@' at its beginning and the first '{' are the bytes that go with it.
 * An empty line: time passes. Each request is answered exactly once, whatever comes.
 */
#include "lib/strbuf.h"
#include "nodeagent-proto/link/link_priv.h"
#include "nodeagent-proto/wire/facts.h"
#include "nodeagent-proto/wire/message.h"
#include "test/fuzz/fuzz.h"
#include "test/sim/sim_loop.h"

#define SECOND_US 1000000
#define DEAD_MS   30000
#define ASKED_MAX 32

struct daemon_end {
    struct node_link link; /* first: its transport is this file's */
    struct sim_time time;
    struct loop *loop;
    struct frame_decoder said; /* what the daemon writes */
    struct question {
        struct daemon_end *d;
        int answers;
    } asked[ASKED_MAX];
    int n_asked, calls_left, downs;
    bool is_asking, close_asked, closed, freed;
};

/* --- what the link is given --- */

static void keep(struct node_link *link, const char *bytes, size_t n)
{
    struct daemon_end *d = (struct daemon_end *)(void *)link;
    json_t *msg;
    struct err e;
    CLAIM(!d->close_asked);
    if (d->is_asking)
        return; /* the same for each input */
    frame_decoder_feed(&d->said, bytes, n);
    while (frame_decoder_next(&d->said, &msg, &e) > 0) {
        CLAIM(json_is_integer(json_object_get(msg, "id")) ||
              message_kind(msg) == MESSAGE_EVENT); /* on_remote() */
        json_decref(msg);
    }
    CLAIM(d->said.broken.code == ERR_NONE);
}

static void released(void *ctx)
{
    link_released(ctx);
}

static void let_go(struct node_link *link)
{
    loop_defer(link->loop, released, link);
}

static void gone(struct node_link *link)
{
    ((struct daemon_end *)(void *)link)->freed = true;
}

static const struct link_transport to_nowhere = {keep, let_go, gone, NULL};

/* --- what is called back --- */

static void on_closed(void *ctx)
{
    ((struct daemon_end *)ctx)->closed = true;
}

static void close_link(struct daemon_end *d)
{
    if (!d->close_asked) {
        d->close_asked = true;
        node_close(&d->link, on_closed, d);
    }
}

static void called(struct daemon_end *d)
{
    CLAIM(!d->closed);
    if (--d->calls_left == 0)
        close_link(d);
}

/* A text of the other end, read to its end. */
static size_t text(const char *s)
{
    return s ? strlen(s) : 0;
}

static void on_ready(void *ctx, const struct node_facts *facts)
{
    char *kept = node_facts_text(facts);
    tell("hello", kept ? 0 : -1, "not UTF-8");
    CLAIM(kept);
    free(kept);
    called(ctx);
}

static void on_down(void *ctx, const struct err *why)
{
    struct daemon_end *d = ctx;
    CLAIM(why->code != ERR_NONE && why->msg[0]);
    tell("down", -1, why->msg);
    CLAIM(++d->downs == 1);
    for (int i = 0; i < d->n_asked; i++)
        CLAIM(d->asked[i].answers == 1);
    called(d);
}

static void status(const struct task_status *s)
{
    CLAIM(s->id && s->state <= TASK_LOST);
    (void)(text(s->id) + text(s->why) + text(s->stderr_tail));
}

static void on_ended(void *ctx, const struct task_status *s)
{
    tell("ended", 0, "");
    status(s);
    called(ctx);
}

/* What a job says goes on to another node as it is. */
static void on_remote(void *ctx, const struct remote_msg *m)
{
    struct daemon_end *d = ctx;
    tell("remote", 0, "");
    CLAIM(m->run && remote_session_valid(m->session) && m->n_bytes <= REMOTE_BYTES_MAX);
    CLAIM(text(m->host) <= REMOTE_TEXT_MAX && text(m->why) <= REMOTE_TEXT_MAX);
    node_remote_send(&d->link, m);
    called(d);
}

static struct daemon_end *answered(void *ctx, const struct err *why)
{
    struct question *q = ctx;
    CLAIM(++q->answers == 1);
    CLAIM(!why || (why->code != ERR_NONE && why->msg[0]));
    tell("answer", why ? -1 : 0, why ? why->msg : "");
    return q->d;
}

static void on_done(void *ctx, const struct err *why)
{
    called(answered(ctx, why));
}

static void on_task(void *ctx, const struct err *why, const struct task_status *s)
{
    struct daemon_end *d = answered(ctx, why);
    if (!why)
        status(s);
    called(d);
}

static void on_tasks(void *ctx, const struct err *why, const struct task_status *list, size_t n)
{
    struct daemon_end *d = answered(ctx, why);
    for (size_t i = 0; i < n; i++)
        status(&list[i]);
    called(d);
}

static void on_health(void *ctx, const struct err *why, const struct node_health *h)
{
    struct daemon_end *d = answered(ctx, why);
    if (!why)
        (void)text(h->gpu_errors);
    called(d);
}

static void on_usage(void *ctx, const struct err *why, const struct node_usage *u)
{
    struct daemon_end *d = answered(ctx, why);
    CLAIM(why || u->memory_bytes >= 0);
    called(d);
}

static void on_sample(void *ctx, const struct err *why, const struct node_sample *s)
{
    struct daemon_end *d = answered(ctx, why);
    CLAIM(why || (s->n_gpus <= SAMPLE_GPUS && s->cpu_permille <= SAMPLE_PERMILLE));
    called(d);
}

static void on_dir(void *ctx, const struct err *why, const struct node_dir *dir)
{
    struct daemon_end *d = answered(ctx, why);
    CLAIM(dir->left_out >= 0 && dir->left_out <= INT32_MAX);
    for (size_t i = 0; i < dir->n; i++)
        CLAIM(dir->list[i].name && text(dir->list[i].name) <= FRAME_MAX);
    called(d);
}

static void on_texts(void *ctx, const struct err *why, const char *const *list, size_t n)
{
    struct daemon_end *d = answered(ctx, why);
    for (size_t i = 0; i < n; i++)
        CLAIM(list[i] && text(list[i]) <= FRAME_MAX);
    called(d);
}

static void on_bytes(void *ctx, const struct err *why, const struct node_bytes *got)
{
    struct daemon_end *d = answered(ctx, why);
    unsigned sum = 0;
    for (size_t i = 0; !why && i < got->n; i++)
        sum += (unsigned char)got->bytes[i];
    CLAIM(why || (got->bytes && sum <= got->n * 255));
    called(d);
}

/* --- one input --- */

static struct question *next(struct daemon_end *d)
{
    CLAIM(d->n_asked < ASKED_MAX);
    d->asked[d->n_asked].d = d;
    return &d->asked[d->n_asked++];
}

/* Hello is request 1, these are 2 and on. */
static void ask_everything(struct daemon_end *d)
{
    struct node_link *l = &d->link;
    static const char *const paths[] = {"/n/a", "/n/b"};
    const struct task_spec spec = {.id = "g-1-2-0",
                                   .command_line = "true",
                                   .cwd = "/n/wd",
                                   .stdout_path = "/n/out",
                                   .stderr_path = "/n/err",
                                   .step = "job"};
    const struct request_user_add user = {.name = "u", .password = "p"};
    const struct request_account_take account = {
        .name = "j", .dir = "/n/jobs/j", .first = 70000, .count = 9};
    node_ask(l, REQUEST(mount_folder, .source = "/n/s", .target = "/n/t", .shared = true), on_done,
             next(d));
    node_run(l, &spec, on_task, next(d));
    node_tasks(l, on_tasks, next(d));
    node_health(l, on_health, next(d));
    node_list_dir(l, NULL, "/n", "", on_dir, next(d));
    node_read_file(l,
                   &(struct request_read_file){.base = "/n", .path = "a", .max = 100, .as = "+j"},
                   on_bytes, next(d));
    node_clean(l, false, on_texts, next(d));
    node_ask(l, REQUEST(make_dirs, .paths = paths, .n_paths = 2, .as = "u"), on_done, next(d));
    node_ask(l, REQUEST(open_folder, .path = "/n/s"), on_done, next(d));
    node_ask(l, REQUEST(unmount, .target = "/n/t"), on_done, next(d));
    node_ask(l, REQUEST(drop_unlinked, .dir = "/n/p", .used = "/n/u", .links = "/n/l"), on_done,
             next(d));
    node_ask(l, REQUEST(remove_tree, .path = "/n/x"), on_done, next(d));
    node_ask(l, REQUEST(append, .path = "/n/a/log", .text = "text\n"), on_done, next(d));
    node_ask(l, REQUEST(write_file, .path = "/n/a/f", .text = "text\n", .mode = 0644, .as = "u"),
             on_done, next(d));
    node_ask(l, REQUEST(signal, .task = "g-1-2-0", .signal = 15), on_done, next(d));
    node_ask(l, REQUEST(forget, .task = "g-1-2-0"), on_done, next(d));
    node_ask(l, BARE_REQUEST(ping), on_done, next(d));
    node_ask(l, REQUEST_OF(user_add, user), on_done, next(d));
    node_ask(l, REQUEST(user_remove, .name = NULL), on_done, next(d));
    node_ask(l, REQUEST_OF(account_take, account), on_done, next(d));
    node_ask(l, REQUEST(account_key, .name = "j", .private_key = "key"), on_done, next(d));
    node_ask(l, REQUEST(account_release, .name = "j"), on_done, next(d));
    node_ask(l, BARE_REQUEST(remove_root), on_done, next(d));
    node_ask(l, BARE_REQUEST(reboot), on_done, next(d));
    node_ask(l, REQUEST(remote_open, .run = "j", .as = "+j"), on_done, next(d));
    node_ask(l, REQUEST(remote_close, .run = "j"), on_done, next(d));
    node_usage(l, on_usage, next(d));
    node_sample(l, true, on_sample, next(d));
}

static void let_pass(struct daemon_end *d, int64_t us)
{
    int64_t at, end = d->time.now_us + us;
    while (!d->freed && sim_loop_next(d->loop, &at) && at <= end) {
        d->time.now_us = at > d->time.now_us ? at : d->time.now_us;
        sim_loop_run_due(d->loop);
    }
    d->time.now_us = end;
}

static void put_u32(struct strbuf *out, uint32_t v)
{
    const unsigned char b[4] = {(unsigned char)(v >> 24), (unsigned char)(v >> 16),
                                (unsigned char)(v >> 8), (unsigned char)v};
    strbuf_add(out, b, sizeof b);
}

/* The frame is made by hand: its JSON need not be any. */
static void hear(struct daemon_end *d, const char *line)
{
    struct strbuf frame = STRBUF_INIT;
    const char *json = line;
    if (*line == '@' && (json = strchr(line, '{')) != NULL) {
        size_t n = strlen(json), m = (size_t)(json - line - 1);
        put_u32(&frame, 0x80000000U | (uint32_t)(4 + n + m));
        put_u32(&frame, (uint32_t)n);
        strbuf_add(&frame, json, n);
        strbuf_add(&frame, line + 1, m);
    } else {
        put_u32(&frame, (uint32_t)strlen(line));
        strbuf_add(&frame, line, strlen(line));
    }
    link_received(&d->link, frame.s, frame.len);
    strbuf_free(&frame);
    let_pass(d, 0);
}

static void begin(struct daemon_end *d, const struct log *quiet)
{
    const struct node_callbacks user = {on_ready, on_down, on_ended, on_remote, d};
    const struct node_epoch epoch = {7, "abc"};
    d->time = (struct sim_time){.now_us = SECOND_US, .random = 1};
    d->loop = sim_loop_create(&d->time, 0, 1);
    frame_decoder_init(&d->said);
    link_start(&d->link, &(struct link_start){.loop = d->loop,
                                              .transport = &to_nowhere,
                                              .user = &user,
                                              .log = quiet,
                                              .name = "fuzz",
                                              .epoch = &epoch,
                                              .dead_ms = DEAD_MS});
    d->is_asking = true;
    ask_everything(d);
    d->is_asking = false;
}

static void end(struct daemon_end *d)
{
    close_link(d);
    let_pass(d, SECOND_US);
    CLAIM(d->closed && d->freed);
    for (int i = 0; i < d->n_asked; i++)
        CLAIM(d->asked[i].answers == 1);
    frame_decoder_free(&d->said);
    sim_loop_free(d->loop);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct log quiet = {.fd = -1,
                                     .level = LOG_LVL_DEBUG}; /* lines are made, and go nowhere */
    struct pieces in = {(const char *)data, (const char *)data + size};
    struct daemon_end *d = calloc(1, sizeof *d);
    char *line = next_line(&in);
    d->calls_left = atoi(line);
    free(line);
    begin(d, &quiet);
    while (in.p < in.end && !d->freed) {
        line = next_line(&in);
        if (*line)
            hear(d, line);
        else
            let_pass(d, DEAD_MS * 1000 / 2);
        free(line);
    }
    end(d);
    free(d);
    return 0;
}
