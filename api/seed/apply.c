/* SPDX-License-Identifier: MIT
 *
 * Carries out the steps of a seed as requests (api/http/inner.h) in the name of the daemon's own
 * principal. Those that write rows alone are answered at once, so all of them are in one
 * transaction.
 *
 *   read -> rows, in one transaction -> folders, one after the other -> files -> answered
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/access/access.h"
#include "api/arm/errors.h"
#include "api/http/auth.h"
#include "api/http/inner.h"
#include "api/seed/bury.h"
#include "api/seed/steps.h"
#include "front/batchai.h"
#include "lib/jsontext.h"
#include "lib/loop.h"
#include "model/spec.h"
#include "storage/storage.h"

enum { PLANES = 3 };

struct applying {
    struct request *r;
    const struct seed *seed;
    json_t *tree; /* owned */
    struct seed_steps steps;
    const struct seed_step *failed; /* where `why` is from; NULL: steps.at */
    struct err why;
    size_t groups, next;
    struct named_value header[PLANES]; /* Authorization */
    struct request **folder;           /* requests for folders; owned */
    size_t n_folders;
    struct folder_files {
        const char *path;
        const json_t *files;
        const struct seed_step *step;
    } * fill;
    size_t n_fill;
    struct burial burial; /* of what is undone */
};

static void applying_free(void *ctx)
{
    struct applying *p = ctx;
    for (size_t i = 0; i < p->n_folders; i++)
        request_inner_end(p->folder[i]);
    json_decref(p->tree);
    free(p);
}

/* --- what is wrong where -----------------------------------------------------------------------
 */

/* Adds "properties.mounts[2].name" to the path, as far as there is room. */
static void add_target(struct arena *a, const char *target, struct seed_path *at)
{
    for (const char *p = target; *p && at->n < SEED_STEPS_MAX;) {
        size_t n = strcspn(p, ".[]");
        if (n > 0)
            at->step[at->n++] = arena_strndup(a, p, n);
        p += n;
        p += strspn(p, ".[]");
    }
}

static const char *path_text(struct arena *a, const struct seed_path *at)
{
    const char *text = "";
    for (size_t i = 0; i < at->n; i++)
        text = arena_concat(a, text, i ? "." : "", at->step[i]);
    return text;
}

/* "line 12, column 7 (groups.lab.workspaces.ws): WHAT" */
static REPLIED refuse(struct applying *p)
{
    struct arena *a = &p->r->arena;
    struct seed_path at = p->failed ? p->failed->at : p->steps.at;
    size_t line, column;
    struct err e = p->why;
    add_target(a, p->why.target, &at);
    const char *path = path_text(a, &at);
    if (seed_doc_place(p->r->raw.s, p->r->raw.len, &at, &line, &column))
        err_prefix(&e, "line %zu, column %zu (%.400s)", line, column, path);
    else
        err_prefix(&e, "%.400s", path);
    snprintf(e.target, sizeof e.target, "%.150s", path);
    return reply_err(p->r, &e);
}

/* What the handler of a step answered, as an error of ours. */
static int refused(struct applying *p, const struct seed_step *s, const struct request *inner)
{
    const char *text = request_inner_body(inner), *message = NULL, *target = NULL;
    json_t *body = text ? json_loads(text, 0, NULL) : NULL;
    const json_t *error = json_object_get(body, "error");
    const json_t *said = json_object_get(error ? error : body, "message");
    if (json_is_object(said)) /* of Azure Batch */
        said = json_object_get(said, "value");
    message = json_string_value(said);
    target = json_string_value(json_object_get(error, "target"));
    int code = inner->status == 409   ? ERR_CONFLICT
               : inner->status >= 500 ? ERR_INTERNAL
                                      : ERR_INVALID_PROPERTY;
    err_set(&p->why, code, target, "%.700s (status %d)",
            message ? message : "its request was refused", inner->status);
    p->failed = s;
    json_decref(body);
    return -1;
}

static int fails(struct applying *p, const struct seed_step *s)
{
    p->failed = s;
    return -1;
}

/* --- requests ----------------------------------------------------------------------------------
 */

static const char *escaped(struct arena *a, const char *name)
{
    struct strbuf b = STRBUF_INIT;
    for (const char *c = name; *c; c++)
        if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~$", *c))
            strbuf_putc(&b, *c);
        else
            strbuf_printf(&b, "%%%02X", (unsigned)(unsigned char)*c);
    const char *out = arena_strdup(a, b.s ? b.s : "");
    strbuf_free(&b);
    return out;
}

/* The path of a resource, below its host. */
static const char *path_of(struct arena *a, const struct seed_step *s)
{
    const char *name = escaped(a, s->name);
    if (!s->above)
        return arena_concat(a, "/subscriptions/", s->subscription, s->kind->below, name);
    bool new_host = s->kind->plane != s->above->kind->plane;
    const char *above = new_host ? "" : path_of(a, s->above);
    return arena_concat(a, above, s->kind->below, s->kind->by_post ? "/" : "", name);
}

/* A host of the service with this name, its first * filled with `first`, another with `second`. */
static const char *host_of(const struct request *r, struct arena *a, const char *service,
                           const char *first, const char *second)
{
    for (size_t i = 0; i < r->config->n_services; i++) {
        const struct served *s = &r->config->services[i];
        if (strcmp(s->service->name, service) != 0 || !s->hosts || !s->hosts[0])
            continue;
        const char *p = s->hosts[0], *out = "";
        for (const char *with = first; *p; with = second) {
            size_t n = strcspn(p, "*");
            out = arena_concat(a, out, arena_strndup(a, p, n), p[n] ? with : "");
            p += n + (p[n] == '*');
        }
        return out;
    }
    return r->host;
}

static const char *text_at(const struct seed_step *s, const char *member)
{
    const char *text = json_string_value(json_object_get(s->given, member));
    return text ? text : "";
}

static const char *step_host(struct applying *p, struct arena *a, const struct seed_step *s)
{
    const struct seed_step *vault = seed_step_in(s, SEED_VAULT);
    const struct seed_step *account = seed_step_in(s, SEED_BATCH_ACCOUNT);
    if (s->kind->plane == SEED_AT_VAULT)
        return host_of(p->r, a, "vault", vault->name, "");
    if (s->kind->plane == SEED_AT_BATCH)
        return host_of(p->r, a, "batch", account->name,
                       arena_lower(a, text_at(account, "location")));
    return NULL;
}

/* The body of a step's request, as text, with the subscription's id in its place. */
static const char *body_of(struct arena *a, const struct seed_step *s)
{
    json_t *body = json_object(), *v;
    const char *name;
    json_object_foreach((json_t *)s->given, name, v) {
        if (!seed_is_own(s->kind, name))
            json_object_set(body, name, v);
    }
    if (s->kind->by_post)
        json_object_set_new(body, "id", json_string(s->name));
    char *text = jsontext(body);
    struct strbuf out = STRBUF_INIT;
    for (const char *p = text, *at; *p; p = at) {
        at = strstr(p, SEED_SUBSCRIPTION);
        if (!at) {
            strbuf_puts(&out, p);
            break;
        }
        strbuf_add(&out, p, (size_t)(at - p));
        strbuf_puts(&out, s->subscription);
        at += strlen(SEED_SUBSCRIPTION);
    }
    const char *kept = arena_strdup(a, out.s ? out.s : "{}");
    strbuf_free(&out);
    free(text);
    json_decref(body);
    return kept;
}

static struct request *request_of(struct applying *p, struct arena *a, const struct seed_step *s)
{
    const char *path = path_of(a, s);
    if (s->kind->by_post)
        path = arena_strndup(a, path, (size_t)(strrchr(path, '/') - path));
    const struct inner_head head = {.method = s->kind->by_post ? "POST" : "PUT",
                                    .target =
                                        arena_concat(a, path, "?api-version=", s->kind->version),
                                    .path = path,
                                    .host = step_host(p, a, s),
                                    .body = body_of(a, s),
                                    .header = &p->header[s->kind->plane],
                                    .n_headers = 1};
    return request_inner(p->r, &head);
}

static void on_answered(void *ctx, struct request *inner)
{
    (void)ctx, (void)inner;
}

/* --- rows --------------------------------------------------------------------------------------
 */

static int check_new_group(struct applying *p, const struct seed_step *s)
{
    struct resource_group g;
    int rc =
        st_group_get(p->seed->arm.storage, &p->r->arena, s->subscription, s->name, &g, &p->why);
    if (rc > 0)
        err_set(&p->why, ERR_CONFLICT, NULL,
                "There is a resource group %s already; a seed makes new ones only, so reset it "
                "first.",
                s->name);
    p->groups += rc == 0;
    return rc == 0 ? 0 : fails(p, s);
}

static int check_subscription(struct applying *p, const struct seed_step *s)
{
    const struct access *x = p->seed->arm.access;
    struct subscription found;
    int rc = access_subscription(x, &p->r->arena, s->subscription, &found, &p->why);
    if (rc != 0)
        return rc < 0 ? fails(p, s) : 0;
    const struct subscription new = {.guid = arena_lower(&p->r->arena, s->subscription),
                                     .name = s->subscription,
                                     .created_us = p->r->now_us,
                                     .created_by = x->first_id};
    int64_t id;
    return st_subscription_insert(p->seed->arm.storage, &new, &id, &p->why) < 0 ? fails(p, s) : 0;
}

/* What members that are not of the body say, once it is made. */
typedef int (*then_fn)(const struct seed *seed, struct request *r, const struct seed_step *s,
                       struct err *e);
static const then_fn thens[SEED_KINDS] = {[SEED_JOB] = seed_job_then,
                                          [SEED_ACCOUNT] = seed_account_then,
                                          [SEED_BATCH_ACCOUNT] = seed_batch_account_then,
                                          [SEED_BATCH_TASK] = seed_batch_task_then};

static int carry_out(struct applying *p, const struct seed_step *s)
{
    const then_fn then = thens[s->kind - seed_kinds];
    struct arena a;
    arena_init(&a);
    struct request *one = request_of(p, &a, s);
    request_inner_go(one, on_answered, NULL);
    assert(one->finished); /* it writes rows alone, so it needs not wait */
    int rc = one->status >= 400 ? refused(p, s, one) : 0;
    request_inner_end(one);
    arena_free(&a);
    if (rc == 0 && then)
        rc = then(p->seed, p->r, s, &p->why) < 0 ? fails(p, s) : 0;
    return rc;
}

/* A job of Azure Batch gets its state after its tasks, which only an active one takes. */
static int write_rows(struct storage *st, void *ctx, struct err *e)
{
    struct applying *p = ctx;
    (void)st;
    for (size_t i = 0; i < p->steps.n; i++) {
        const struct seed_step *s = &p->steps.items[i];
        if (!s->above && (check_subscription(p, s) < 0 || check_new_group(p, s) < 0)) {
            *e = p->why;
            return -1;
        }
        if (!s->kind->late && carry_out(p, s) < 0) {
            *e = p->why;
            return -1;
        }
    }
    for (size_t i = 0; i < p->steps.n; i++)
        if (p->steps.items[i].kind == &seed_kinds[SEED_BATCH_JOB] &&
            seed_batch_job_then(p->seed, p->r, &p->steps.items[i], &p->why) < 0) {
            *e = p->why;
            return fails(p, &p->steps.items[i]);
        }
    return 0;
}

/* --- the end -----------------------------------------------------------------------------------
 */

static int undo(struct storage *st, void *ctx, struct err *e)
{
    struct applying *p = ctx;
    struct resource_group g;
    for (size_t i = 0; i < p->steps.n; i++) {
        const struct seed_step *s = &p->steps.items[i];
        if (s->above)
            continue;
        int rc = st_group_get(st, &p->r->arena, s->subscription, s->name, &g, e);
        if (rc < 0 || (rc > 0 && bury_group(&p->burial, &g, e) < 0))
            return -1;
    }
    return 0;
}

/* Rows are there, but a folder or file could not be made: all of it goes again. */
static void give_up(struct applying *p)
{
    struct err e;
    p->burial = (struct burial){.st = p->seed->arm.storage,
                                .a = &p->r->arena,
                                .storage_dir = p->seed->storage_dir,
                                .now_us = p->r->now_us};
    if (st_tx(p->seed->arm.storage, "seed undone", undo, p, &e) < 0)
        LOG_ERROR(p->r->config->log, "testing.seed_not_undone", LF_STR("why", e.msg));
    batchai_wake_deletions(p->seed->arm.front);
    request_finish(p->r, refuse(p));
}

static REPLIED done(struct applying *p)
{
    LOG_INFO(p->r->config->log, "testing.seeded", LF_INT("groups", (int64_t)p->groups),
             LF_INT("resources", (int64_t)p->steps.n));
    return reply_json(p->r, 200,
                      json_pack("{s:I, s:I}", "resourceGroups", (json_int_t)p->groups, "resources",
                                (json_int_t)p->steps.n));
}

/* --- files -------------------------------------------------------------------------------------
 */

static void fill_work(void *ctx)
{
    struct applying *p = ctx;
    for (size_t i = 0; i < p->n_fill; i++)
        if (seed_files_write(p->fill[i].path, p->fill[i].files, &p->why) < 0) {
            p->failed = p->fill[i].step;
            return;
        }
}

static void fill_done(void *ctx, enum loop_work_end how)
{
    struct applying *p = ctx;
    if (how != LOOP_WORK_DONE) {
        err_set(&p->why, ERR_UNAVAILABLE, NULL, "The daemon is stopping.");
        p->failed = p->steps.items;
    }
    if (p->failed)
        give_up(p);
    else
        request_finish(p->r, done(p));
}

static const json_t *files_of(const struct seed_step *s)
{
    return json_object_get(s->given, s->kind->own[0]);
}

static void fill(struct applying *p)
{
    struct arena *a = &p->r->arena;
    p->fill = arena_alloc(a, (p->n_folders + 1) * sizeof *p->fill);
    for (size_t i = 0; i < p->steps.n; i++) {
        const struct seed_step *s = &p->steps.items[i];
        if (!s->kind->late || !files_of(s))
            continue;
        enum share_kind kind = s->kind == &seed_kinds[SEED_SHARE] ? SHARE_FILES : SHARE_BLOBS;
        const char *folder = share_folder(a, p->seed->storage_dir, arena_lower(a, s->above->name),
                                          kind, arena_lower(a, s->name));
        p->fill[p->n_fill++] = (struct folder_files){folder, files_of(s), s};
    }
    if (p->n_fill > 0 && loop_work(p->seed->lane, fill_work, fill_done, p))
        return;
    if (p->n_fill > 0)
        fill_done(p, LOOP_WORK_DROPPED);
    else
        request_finish(p->r, done(p));
}

/* --- folders -----------------------------------------------------------------------------------
 */

static void next_folder(struct request *r, void *ctx);

static void on_folder(void *ctx, struct request *inner)
{
    struct applying *p = ctx;
    if (inner->status >= 400)
        (void)refused(p, &p->steps.items[p->next - 1], inner);
    request_again(p->r, next_folder, p);
}

/* A mount of a seeded cluster has named it, so its folder is being made already. */
static bool is_being_made(const struct applying *p, const struct seed_step *s)
{
    struct storage_account acct;
    struct share found;
    struct arena a;
    struct err e;
    enum share_kind kind = s->kind == &seed_kinds[SEED_SHARE] ? SHARE_FILES : SHARE_BLOBS;
    struct storage *st = p->seed->arm.storage;
    arena_init(&a);
    bool making = st_account_by_name(st, &a, s->above->name, &acct, &e) > 0 &&
                  st_share_by_name(st, &a, acct.id, kind, s->name, &found, &e) > 0 &&
                  found.state == SHARE_MAKING;
    arena_free(&a);
    return making;
}

static void next_folder(struct request *r, void *ctx)
{
    struct applying *p = ctx;
    (void)r;
    if (p->failed) {
        give_up(p);
        return;
    }
    while (p->next < p->steps.n && !p->steps.items[p->next].kind->late)
        p->next++;
    if (p->next == p->steps.n) {
        fill(p);
        return;
    }
    if (is_being_made(p, &p->steps.items[p->next])) {
        request_again(p->r, next_folder, p);
        return;
    }
    struct request *one = request_of(p, &p->r->arena, &p->steps.items[p->next++]);
    p->folder[p->n_folders++] = one;
    request_inner_go(one, on_folder, p);
}

/* --- the beginning -----------------------------------------------------------------------------
 */

static int log_in(struct applying *p, struct err *e)
{
    static const char *const audience[PLANES] = {[SEED_ARM] = "https://management.azure.com",
                                                 [SEED_AT_VAULT] = "https://vault.azure.net",
                                                 [SEED_AT_BATCH] =
                                                     "https://batch.core.windows.net"};
    struct principal who;
    const struct api_config *c = p->r->config;
    const char *first = p->seed->arm.access->first_id;
    int seconds;
    int rc = c->directory->find(c->directory->ctx, first, &who, e);
    if (rc <= 0)
        return rc < 0 ? -1 : err_set(e, ERR_INTERNAL, NULL, "The daemon's own principal is gone.");
    for (int i = 0; i < PLANES; i++) {
        char *token = auth_issue(c, &who, who.app_id, audience[i], p->r->now_us, &seconds);
        p->header[i] =
            (struct named_value){"Authorization", arena_concat(&p->r->arena, "Bearer ", token)};
        free(token);
    }
    return 0;
}

/* What the transaction does not see: files are checked before anything is written. */
static int check_files(struct applying *p)
{
    for (size_t i = 0; i < p->steps.n; i++) {
        const struct seed_step *s = &p->steps.items[i];
        if (s->kind->late && files_of(s) &&
            seed_files_check(&p->r->arena, files_of(s), &p->why) < 0)
            return fails(p, s);
    }
    return 0;
}

struct replied *seed_apply(struct request *r, const struct seed *seed)
{
    struct err e;
    const char *subscription = request_query(r, "subscription");
    struct applying *p = xcalloc(1, sizeof *p);
    *p = (struct applying){.r = r, .seed = seed};
    request_keep(r, p, applying_free);
    if (seed_doc_read(r->raw.s ? r->raw.s : "", r->raw.len, &p->tree, &e) < 0 || log_in(p, &e) < 0)
        return reply_err(r, &e);
    if (subscription && !guid_valid(subscription)) {
        err_set(&e, ERR_INVALID_QUERY, "subscription", "subscription is '%.100s', and no GUID.",
                subscription);
        return reply_err(r, &e);
    }
    if (!subscription)
        subscription = seed->arm.access->subscription_id;
    if (seed_steps_read(&r->arena, p->tree, subscription, &p->steps, &p->why) < 0 ||
        check_files(p) < 0 || st_tx(seed->arm.storage, "seed", write_rows, p, &e) < 0) {
        if (p->why.code == ERR_NONE) /* the transaction itself */
            return reply_err(r, &e);
        return refuse(p);
    }
    p->folder = arena_alloc(&r->arena, (p->steps.n + 1) * sizeof *p->folder);
    request_again(r, next_folder, p);
    return reply_later(r);
}
