/* SPDX-License-Identifier: MIT
 *
 * The settings of a pool's nodes: directories, accounts, volumes and the start task.
 */
#include "scheduler/front/batch/front_priv.h"

#include <string.h>

#include "lib/shell.h"
#include "lib/strbuf.h"
#include "model/batch/argv.h"
#include "model/batch/pool_spec.h"

/* --- directories and variables ---------------------------------------------------------------- */

static const char *const dirs[] = {
    BATCH_HOME,    BATCH_HOME "/applications", BATCH_HOME "/fsmounts",  BATCH_HOME "/shared",
    BATCH_STARTUP, BATCH_HOME "/volatile",     BATCH_HOME "/workitems",
};

size_t batch_node_dirs(struct arena *a, size_t more, struct kv **out)
{
    static const struct {
        const char *name, *dir;
    } all[] = {{"AZ_BATCH_NODE_ROOT_DIR", BATCH_HOME},
               {"AZ_BATCH_NODE_SHARED_DIR", BATCH_HOME "/shared"},
               {"AZ_BATCH_NODE_STARTUP_DIR", BATCH_STARTUP},
               {"AZ_BATCH_NODE_STARTUP_WORKING_DIR", BATCH_STARTUP "/wd"},
               {"AZ_BATCH_NODE_MOUNTS_DIR", BATCH_HOME "/fsmounts"}};
    size_t n = sizeof all / sizeof all[0];
    *out = arena_alloc(a, (n + more) * sizeof **out);
    for (size_t i = 0; i < n; i++)
        (*out)[i] = (struct kv){.name = all[i].name, .value = all[i].dir};
    return n;
}

/* --- volumes ---------------------------------------------------------------------------------- */

/* Quotes each word for the shell. */
static const char *quoted_words(struct arena *a, const char *text)
{
    const char **words, *out = "";
    size_t n = text ? batch_argv(a, text, &words) : 0;
    for (size_t i = 0; i < n; i++)
        out = arena_concat(a, out, shell_quoted(a, words[i]), " ");
    return out;
}

/* Returns "a,b" of "-o a,b": the form of options in the site's mount rules. */
static const char *plain_options(const char *text)
{
    if (!text)
        return NULL;
    text += strspn(text, " ");
    if (strncmp(text, "-o", 2) == 0)
        text += 2;
    text += strspn(text, " ");
    return *text && *text != '-' ? text : NULL;
}

static struct mount_volume volume_of(struct arena *a, const struct batch_mount *m)
{
    struct mount_volume v = {.relative_path = m->path, .account = m->account, .key = m->key};
    if (m->container) {
        v.kind = MOUNT_BLOBS;
        v.share = container_from_text(a, m->container);
    } else if (m->url) {
        const char *account;
        v.kind = MOUNT_FILE_SHARE;
        v.options = plain_options(m->options);
        if (file_share_from_url(a, m->url, &account, &v.share) < 0)
            v.share = "";
    } else {
        v.kind = MOUNT_UNMANAGED;
        v.account = m->user;
        v.key = m->password;
        v.source =
            arena_concat(a, m->nfs ? "mount -t nfs " : "mount -t cifs ",
                         quoted_words(a, m->options), shell_quoted(a, m->nfs ? m->nfs : m->cifs));
    }
    return v;
}

static void add_mounts(struct arena *a, const struct batch_pool_spec *s,
                       struct node_setup_spec *out)
{
    out->mounts.items = arena_alloc(a, (s->n_mounts + 1) * sizeof *out->mounts.items);
    for (size_t i = 0; i < s->n_mounts; i++)
        out->mounts.items[out->mounts.n++] = volume_of(a, &s->mounts[i]);
}

/* --- images of containers --------------------------------------------------------------------- */

static void add_images(struct arena *a, const struct batch_pool_containers *c,
                       struct node_setup_spec *out)
{
    out->images = arena_alloc(a, (c->n_images + 1) * sizeof *out->images);
    for (size_t i = 0; i < c->n_images; i++)
        container_of_image(a, c, c->images[i], NULL, &out->images[out->n_images++]);
}

/* --- accounts of people ----------------------------------------------------------------------- */

static void add_users(struct arena *a, const struct batch_pool_spec *s, struct node_setup_spec *out)
{
    out->users = arena_alloc(a, (s->n_users + 1) * sizeof *out->users);
    for (size_t i = 0; i < s->n_users; i++) {
        const struct batch_user_account *u = &s->users[i];
        const struct batch_account_place at = batch_account_place(a, u->name, u->uid);
        out->users[out->n_users++] =
            (struct admin_user_spec){.name = u->name,
                                     .password = u->password,
                                     .private_key = s->communicates ? u->ssh_private_key : NULL,
                                     .uid = u->uid,
                                     .gid = u->gid,
                                     .account = at.account,
                                     .account_dir = at.dir};
    }
}

int load_node_users(const struct front *f, const struct front_read *how, int64_t node_id,
                    int64_t now_us, struct node_setup_spec *out, struct err *e)
{
    struct storage *st = how->st;
    struct arena *a = how->a;
    struct batch_node_user *rows;
    size_t n;
    (void)f;
    if (st_batch_user_list(st, a, node_id, now_us, &rows, &n, e) < 0)
        return -1;
    struct admin_user_spec *all = arena_alloc(a, (out->n_users + n + 1) * sizeof *all);
    if (out->n_users > 0)
        memcpy(all, out->users, out->n_users * sizeof *all);
    out->users = all;
    for (size_t i = 0; i < n; i++) {
        struct admin_user_spec u = {.name = rows[i].name, .ssh_public_key = rows[i].ssh_key};
        if (st_batch_user_password(st, a, rows[i].id, &u.password, e) < 0)
            return -1;
        out->users[out->n_users++] = u;
    }
    return 0;
}

/* --- the start task --------------------------------------------------------------------------- */

struct env_list {
    struct kv *items;
    size_t n;
};

static void add_variable(struct env_list *v, const char *name, const char *value)
{
    v->items[v->n++] = (struct kv){.name = name, .value = value};
}

/* Adds the variables. The user's variables are last, so they replace others with the same names. */
static void add_env(const struct batch_front *f, struct arena *a, const struct batch_pool *p,
                    const struct batch_start_task *t, struct setup_task_spec *out)
{
    struct env_list v = {arena_alloc(a, (t->n_env + 4) * sizeof *v.items), 0};
    add_variable(&v, "AZ_BATCH_ACCOUNT_NAME", p->account);
    add_variable(&v, "AZ_BATCH_POOL_ID", p->name);
    if (f->windows.programs)
        add_variable(&v, "BATCHAI_WINDOWS_PROGRAMS", f->windows.programs);
    for (size_t i = 0; i < t->n_env; i++)
        v.items[v.n++] = t->env[i];
    out->env = v.items;
    out->n_env = v.n;
}

/* Adds the resource files. Their URLs are resolved only when a node is prepared. */
static void add_start_files(const struct batch_front *f, struct arena *a,
                            const struct batch_pool *p, const struct batch_start_task *t,
                            bool prepares, struct place_spec *place)
{
    struct batch_inputs in = {.front = f, .a = a, .pool = p, .files = &place->files};
    place->files.items = arena_alloc(a, (t->n_resources + 1) * sizeof *place->files.items);
    if (prepares)
        batch_add_files(&in, t->resources, t->n_resources, BATCH_STARTUP "/wd");
    if (!place->refused) {
        place->refused = in.refused;
        place->why_refused = in.why_refused;
    }
}

/* Sets the account. A start task of a user who is not an administrator runs like other tasks, but
 * shares no account with them. */
static void set_start_user(struct arena *a, const struct batch_start_task *t,
                           const struct batch_pool_spec *pool, struct place_spec *place)
{
    place_set_user(a, &t->user, pool, place);
    if (place->admin || !place->account) {
        place->account = place->admin ? BATCH_ACCOUNT : BATCH_START_ACCOUNT;
        place->account_dir = place->admin ? BATCH_HOME : BATCH_HOME "/users/.startup";
        place->uid = place->gid = 0;
    }
}

/* The input for a start task. `prepares`: a node is about to be prepared; otherwise files are not
 * resolved. */
struct start_of {
    const struct batch_pool *row;
    const struct batch_pool_spec *pool;
    const struct batch_inputs *packages;
    bool prepares;
};

static void add_start_task(const struct batch_front *f, struct arena *a, const struct start_of *of,
                           struct node_setup_spec *out)
{
    const struct batch_pool *p = of->row;
    const struct batch_pool_spec *pool = of->pool;
    const struct batch_inputs *packages = of->packages;
    const struct batch_start_task *t = pool->start_task;
    struct setup_task_spec *s = arena_alloc(a, sizeof *s);
    struct place_spec *place = arena_alloc(a, sizeof *place);
    const char **argv;
    size_t n = batch_program(f, a, p, t->command_line, &argv);
    *place = (struct place_spec){.dir = BATCH_STARTUP, .program = {argv, n, t->command_line}};
    set_start_user(a, t, pool, place);
    place->n_rooted = batch_node_dirs(a, 2 + packages->n_rooted, &place->rooted);
    for (size_t i = 0; i < packages->n_rooted; i++)
        place->rooted[place->n_rooted++] = packages->rooted[i];
    place->rooted[place->n_rooted++] =
        (struct kv){.name = "AZ_BATCH_TASK_DIR", .value = BATCH_STARTUP};
    place->rooted[place->n_rooted++] =
        (struct kv){.name = "AZ_BATCH_TASK_WORKING_DIR", .value = BATCH_STARTUP "/wd"};
    *s = (struct setup_task_spec){.command_line = t->command_line,
                                  .place = place,
                                  .retries = t->retries,
                                  .beside = !t->waits,
                                  .admin = place->admin};
    if (t->container) {
        s->container = batch_container(a, p, pool, t->container, place->admin, place);
        batch_container_narrow(a, t->container, NULL, place, s->container);
    }
    add_env(f, a, p, t, s);
    add_start_files(f, a, p, t, of->prepares, place);
    out->setup_task = s;
}

int node_setup_of(const struct batch_front *f, const struct front_read *how,
                  const struct batch_pool *p, const char *secrets, struct node_setup_spec *out,
                  struct err *e)
{
    struct arena *a = how->a;
    struct batch_pool_spec s;
    *out = (struct node_setup_spec){
        .dirs = dirs, .n_dirs = sizeof dirs / sizeof dirs[0], .account = BATCH_ACCOUNT};
    if (batch_pool_decode(a, p->doc, secrets, &s, e) < 0)
        return -1;
    add_mounts(a, &s, out);
    add_users(a, &s, out);
    struct batch_inputs in = {.front = f,
                              .a = a,
                              .pool = p,
                              .files = &out->packages,
                              .rooted = arena_alloc(a, (s.n_packages + 1) * sizeof *in.rooted)};
    out->packages.items = arena_alloc(a, (s.n_packages + 1) * sizeof *out->packages.items);
    if (batch_add_packages(&in, s.packages, s.n_packages, BATCH_PACKAGES_OF_POOL, e) < 0)
        return -1;
    out->refused = in.refused;
    out->why_refused = in.why_refused;
    if (s.containers)
        add_images(a, s.containers, out);
    if (s.start_task)
        add_start_task(f, a, &(struct start_of){p, &s, &in, how->secrets}, out);
    return 0;
}
