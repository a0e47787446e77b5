/* SPDX-License-Identifier: MIT
 *
 * Each call becomes a job for one worker thread (loop_lane); the job owns its texts and is freed on
 * the loop.
 */
#include "nodeagent-proto/login/share_server.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/share.h"
#include "nodeagent-proto/link/identity.h"
#include "nodeagent-proto/login/share_server_priv.h"

#define JOBS_MAX    65536
#define PATIENCE_US 5000000

struct share_server {
    struct share_place place;
    struct loop_lane *lane;
    bool ends;
    void (*closed)(void *ctx);
    void *closed_ctx;
};

struct share_server_job {
    struct arena a;
    struct share_server *server;
    int (*work)(struct share_server_job *j, struct err *e);
    const char *id;
    const char **texts; /* folders, or prefixes */
    size_t n;
    share_server_cb cb; /* or NULL */
    void *ctx;
    struct share_key key;
    char *private_key, *host_key;
    struct err why;
    bool failed;
};

/* --- on the thread ---------------------------------------------------------------------------- */

static int make_folders(const struct share_place *p, struct share_server_job *j, struct err *e)
{
    for (size_t i = 0; i < j->n; i++) {
        const char *path = arena_concat(&j->a, p->storage_dir, "/", j->texts[i]);
        if (fs_mkdirs(path, 0755, e) < 0 || (geteuid() == 0 && share_open(path, e) < 0))
            return -1;
    }
    return 0;
}

static int give(struct share_server_job *j, struct err *e)
{
    struct share_place *p = &j->server->place;
    char *line = NULL;
    if (!share_id_is_plain(j->id))
        return err_set(e, ERR_INVALID_PROPERTY, NULL, "'%s' is not a valid name of a key", j->id);
    if (fs_mkdirs(p->keys, 0700, e) < 0 || share_sshd_run(p, e) < 0 || make_folders(p, j, e) < 0 ||
        node_identity_make(arena_concat(&j->a, "batchaid-", j->id), &j->private_key, &line, e) < 0)
        return -1;
    int rc = share_key_write(p, j->id, line, j->texts, j->n, e);
    free(line);
    if (rc < 0 || share_keys_publish(p, e) < 0 || share_host_key(p, &j->host_key, e) < 0)
        return -1;
    j->key = (struct share_key){j->private_key, j->host_key, p->user};
    return 0;
}

static bool begins(const char *id, const char *prefix)
{
    return strncmp(id, prefix, strlen(prefix)) == 0;
}

static bool is_taken(void *ctx, const char *id)
{
    return begins(id, ((struct share_server_job *)ctx)->id);
}

static int take_back(struct share_server_job *j, struct err *e)
{
    const struct share_place *p = &j->server->place;
    int left = share_keys_remove(p, is_taken, j, e);
    if (left == 0)
        share_sshd_stop(p);
    return left < 0 ? -1 : 0;
}

static bool is_not_kept(void *ctx, const char *id)
{
    const struct share_server_job *j = ctx;
    for (size_t i = 0; i < j->n; i++)
        if (begins(id, j->texts[i]))
            return false;
    return true;
}

static int keep(struct share_server_job *j, struct err *e)
{
    struct share_place *p = &j->server->place;
    int left = share_keys_remove(p, is_not_kept, j, e);
    if (left == 0)
        share_sshd_stop(p);
    return left <= 0 ? left : share_sshd_run(p, e);
}

static int end(struct share_server_job *j, struct err *e)
{
    j->n = 0;
    return keep(j, e);
}

/* --- on the loop ------------------------------------------------------------------------------ */

static void work(void *ctx)
{
    struct share_server_job *j = ctx;
    j->failed = j->work(j, &j->why) < 0;
}

static void done(void *ctx, enum loop_work_end how)
{
    struct share_server_job *j = ctx;
    if (how == LOOP_WORK_DROPPED) {
        j->failed = true;
        err_set(&j->why, ERR_UNAVAILABLE, NULL, "the daemon is stopping");
    }
    if (j->failed)
        LOG_WARN(j->server->place.log, "share_server.failed", LF_STR("key", j->id),
                 LF_STR("why", j->why.msg));
    if (j->cb)
        j->cb(j->ctx, j->failed ? &j->why : NULL, &j->key);
    if (j->private_key)
        explicit_bzero(j->private_key, strlen(j->private_key));
    free(j->private_key);
    free(j->host_key);
    arena_free(&j->a);
    free(j);
}

static struct share_server_job *job_new(struct share_server *s,
                                        int (*what)(struct share_server_job *, struct err *),
                                        const char *id)
{
    struct share_server_job *j = xcalloc(1, sizeof *j);
    arena_init(&j->a);
    j->server = s;
    j->work = what;
    j->id = arena_strdup(&j->a, id);
    return j;
}

static void set_texts(struct share_server_job *j, const char *const *texts, size_t n)
{
    j->texts = arena_alloc(&j->a, (n + 1) * sizeof *j->texts);
    for (size_t i = 0; i < n; i++)
        j->texts[i] = arena_strdup(&j->a, texts[i]);
    j->n = n;
}

static void begin(struct share_server_job *j)
{
    if (!loop_work(j->server->lane, work, done, j))
        done(j, LOOP_WORK_DROPPED);
}

struct share_server *share_server_create(const struct share_server_config *c)
{
    struct share_server *s = xcalloc(1, sizeof *s);
    s->place = (struct share_place){.log = c->log,
                                    .dir = xstrdup(c->dir),
                                    .keys = fs_join(c->dir, "keys"),
                                    .storage_dir = xstrdup(c->storage_dir),
                                    .program = xstrdup(c->program),
                                    .port = c->port,
                                    .account = c->account};
    s->lane = loop_lane_create(c->loop, "share-server", 1, JOBS_MAX);
    s->ends = c->ends;
    return s;
}

int share_server_port(const struct share_server *s)
{
    return s->place.port;
}

static void on_closed(void *ctx)
{
    struct share_server *s = ctx;
    void (*closed)(void *) = s->closed;
    void *closed_ctx = s->closed_ctx;
    free(s->place.dir);
    free(s->place.keys);
    free(s->place.storage_dir);
    free(s->place.program);
    free(s->place.user);
    free(s);
    closed(closed_ctx);
}

void share_server_close(struct share_server *s, void (*closed)(void *ctx), void *ctx)
{
    s->closed = closed;
    s->closed_ctx = ctx;
    if (s->ends)
        begin(job_new(s, end, NULL));
    loop_lane_close(s->lane, LOOP_LANE_FINISH, PATIENCE_US, on_closed, s);
}

void share_server_give(struct share_server *s, const char *id, const char *const *folders, size_t n,
                       share_server_cb cb, void *ctx)
{
    struct share_server_job *j = job_new(s, give, id);
    set_texts(j, folders, n);
    j->cb = cb;
    j->ctx = ctx;
    begin(j);
}

void share_server_take_back(struct share_server *s, const char *prefix)
{
    begin(job_new(s, take_back, prefix));
}

void share_server_keep(struct share_server *s, const char *const *prefixes, size_t n)
{
    struct share_server_job *j = job_new(s, keep, NULL);
    set_texts(j, prefixes, n);
    begin(j);
}
