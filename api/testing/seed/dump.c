/* SPDX-License-Identifier: MIT
 *
 * The text of a state, as a seed has it: rows at one instant on the loop, files on nodes over their
 * links, then what is in folders, and all that is made of the rows, on the lane.
 */
#include <stdlib.h>
#include <string.h>

#include "api/access/access.h"
#include "api/arm/errors.h"
#include "api/testing/seed/dump.h"
#include "lib/jsontext.h"
#include "lib/loop.h"
#include "lib/timefmt.h"
#include "model/spec.h"
#include "storage/shares/shares.h"

/* --- Batch AI ----------------------------------------------------------------------------------
 */

static json_t *job_state(const struct job *j)
{
    json_t *s = json_pack("{s:s, s:s}", "executionState",
                          enum_to_name(exec_state_names, (int)j->exec_state), "guid", j->guid);
    if (j->exec_state == EXEC_QUEUED)
        return s;
    dump_time(s, "startTime", j->start_us);
    dump_time(s, "endTime", j->end_us);
    if (j->has_exit_code)
        json_object_set_new(s, "exitCode", json_integer(j->exit_code));
    if (j->errors)
        json_object_set_new(s, "errors", json_loads(j->errors, 0, NULL));
    return s;
}

static int jobs(struct dumping *d, int64_t experiment_id, json_t *into, struct err *e)
{
    struct storage *st = d->seed->arm.storage;
    struct job *rows;
    size_t n;
    if (st_job_list_shown(st, d->a, experiment_id, 0, DUMP_ROWS, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct job j;
        const char *secrets = NULL;
        if (st_job_by_id(st, d->a, rows[i].id, &j, e) < 0 ||
            st_job_secrets(st, d->a, rows[i].id, &secrets, e) < 0)
            return -1;
        if (j.prov_state == PROV_DELETING)
            continue;
        json_t *body = dump_doc(d, &(struct dumped_doc){.schema = &schema_job,
                                                        .version = V_2018_05_01,
                                                        .doc = j.doc,
                                                        .secrets = secrets});
        json_object_set_new(body, "state", job_state(&j));
        dump_put(into, "jobs", j.name, body);
    }
    return 0;
}

static int experiments(struct dumping *d, int64_t workspace_id, json_t *into, struct err *e)
{
    struct experiment *rows;
    size_t n;
    if (st_experiment_list(d->seed->arm.storage, d->a, workspace_id, 0, DUMP_ROWS, &rows, &n, e) <
        0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        json_t *body = json_object();
        dump_put(into, "experiments", rows[i].name, body);
        if (jobs(d, rows[i].id, body, e) < 0)
            return -1;
    }
    return 0;
}

static int clusters(struct dumping *d, const struct st_filter *in, json_t *into, struct err *e)
{
    struct storage *st = d->seed->arm.storage;
    struct cluster *rows;
    size_t n;
    if (st_cluster_list(st, d->a, in, 0, DUMP_ROWS, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const char *secrets = NULL;
        if (rows[i].prov_state == PROV_DELETING)
            continue;
        if (st_cluster_secrets(st, d->a, rows[i].id, &secrets, e) < 0)
            return -1;
        dump_put(into, "clusters", rows[i].name,
                 dump_doc(d, &(struct dumped_doc){.schema = &schema_cluster,
                                                  .version = V_2018_05_01,
                                                  .doc = rows[i].doc,
                                                  .secrets = secrets}));
    }
    return 0;
}

static int file_servers(struct dumping *d, const struct st_filter *in, json_t *into, struct err *e)
{
    struct storage *st = d->seed->arm.storage;
    struct file_server *rows;
    size_t n;
    if (st_file_server_list(st, d->a, in, 0, DUMP_ROWS, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const char *secrets = NULL;
        if (rows[i].prov_state == PROV_DELETING)
            continue;
        if (st_file_server_secrets(st, d->a, rows[i].id, &secrets, e) < 0)
            return -1;
        dump_put(into, "fileServers", rows[i].name,
                 dump_doc(d, &(struct dumped_doc){.schema = &schema_file_server,
                                                  .version = V_2018_05_01,
                                                  .doc = rows[i].doc,
                                                  .secrets = secrets}));
    }
    return 0;
}

static int workspaces(struct dumping *d, const struct resource_group *g, json_t *into,
                      struct err *e)
{
    struct workspace *rows;
    size_t n;
    if (st_workspace_list(d->seed->arm.storage, d->a, g->subscription, g->id, 0, DUMP_ROWS, &rows,
                          &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const struct st_filter in = {
            .subscription = g->subscription, .group_id = g->id, .workspace_id = rows[i].id};
        if (rows[i].prov_state == PROV_DELETING)
            continue;
        json_t *body = json_object();
        dump_tracked(body, rows[i].scope.location, rows[i].tags);
        dump_put(into, "workspaces", rows[i].name, body);
        if (file_servers(d, &in, body, e) < 0 || clusters(d, &in, body, e) < 0 ||
            experiments(d, rows[i].id, body, e) < 0)
            return -1;
    }
    return 0;
}

/* --- storage -----------------------------------------------------------------------------------
 */

static void add_properties(const struct share *s, json_t *body)
{
    json_t *p = json_object();
    if (s->metadata)
        json_object_set_new(p, "metadata", dump_json(s->metadata));
    if (s->kind == SHARE_FILES && s->quota > 0)
        json_object_set_new(p, "shareQuota", json_integer(s->quota));
    if (s->access_tier)
        json_object_set_new(p, "accessTier", json_string(s->access_tier));
    if (s->kind == SHARE_BLOBS && s->public_access != PUBLIC_NONE) {
        char *name = xstrdup(enum_to_name(public_access_names, (int)s->public_access));
        name[0] = (char)(name[0] - 'a' + 'A'); /* as the management plane writes it */
        json_object_set_new(p, "publicAccess", json_string(name));
        free(name);
    }
    json_object_set_new(body, "properties", p);
}

static int shares_of(struct dumping *d, const struct storage_account *acct, enum share_kind kind,
                     json_t *into, struct err *e)
{
    struct share *rows;
    size_t n;
    if (st_share_list(d->seed->arm.storage, d->a, acct->id, kind, "", "", DUMP_ROWS, &rows, &n, e) <
        0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        json_t *body = json_object();
        add_properties(&rows[i], body);
        dump_put(into, kind == SHARE_FILES ? "shares" : "containers", rows[i].name, body);
        struct dumped_folder *f = arena_alloc(d->a, sizeof *f);
        *f = (struct dumped_folder){
            .from.path = share_folder(d->a, d->seed->storage_dir, acct->name, kind, rows[i].name),
            .from.account = arena_concat(d->a, d->seed->storage_dir, "/", acct->name),
            .from.directories = kind == SHARE_FILES,
            .into = body,
            .member = kind == SHARE_FILES ? "files" : "blobs",
            .next = d->folders};
        if (st_item_list(d->seed->arm.storage, d->a, rows[i].id, "", "\xff", false, DUMP_ROWS,
                         &f->from.items, &f->from.n_items, e) < 0)
            return -1;
        d->folders = f;
    }
    return 0;
}

static int accounts(struct dumping *d, const struct resource_group *g, json_t *into, struct err *e)
{
    struct storage *st = d->seed->arm.storage;
    struct storage_account *rows;
    struct account_keys keys;
    size_t n;
    if (st_account_list(st, d->a, g->subscription, g->id, 0, DUMP_ROWS, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (rows[i].prov_state == PROV_DELETING)
            continue;
        if (st_account_keys(st, rows[i].id, &keys, e) < 0)
            return -1;
        json_t *body = json_pack("{s:{s:s}, s:s, s:o}", "sku", "name", rows[i].sku, "kind",
                                 rows[i].kind, "properties", dump_json(rows[i].doc));
        dump_tracked(body, rows[i].scope.location, rows[i].tags);
        dump_keys(body, &keys);
        st_account_forget_keys(&keys);
        dump_put(into, "storageAccounts", rows[i].name, body);
        if (shares_of(d, &rows[i], SHARE_BLOBS, body, e) < 0 ||
            shares_of(d, &rows[i], SHARE_FILES, body, e) < 0)
            return -1;
    }
    return 0;
}

/* --- groups ------------------------------------------------------------------------------------
 */

static int group(struct dumping *d, const struct resource_group *g, json_t *into, struct err *e)
{
    json_t *body = json_object();
    if (g->prov_state == PROV_DELETING) {
        json_decref(body);
        return 0;
    }
    dump_tracked(body, g->location, g->tags);
    dump_put(into, "groups", g->name, body);
    return accounts(d, g, body, e) < 0 || dump_vaults(d, g, body, e) < 0 ||
                   workspaces(d, g, body, e) < 0 || dump_batch(d, g, body, e) < 0
               ? -1
               : 0;
}

static bool is_implicit(const struct resource_group *g)
{
    return strcmp(g->name, IMPLICIT_GROUP) == 0;
}

/* The accounts that mounts have made come first, as those who mount them would make them anew. */
static int groups(struct dumping *d, const char *subscription, const char *only, json_t *into,
                  struct err *e)
{
    struct resource_group *rows;
    size_t n;
    if (st_group_list(d->seed->arm.storage, d->a, subscription, 0, DUMP_ROWS, &rows, &n, e) < 0)
        return -1;
    for (int implicit = 1; implicit >= 0; implicit--)
        for (size_t i = 0; i < n; i++)
            if (is_implicit(&rows[i]) == implicit &&
                (!only || strcasecmp(rows[i].name, only) == 0) && group(d, &rows[i], into, e) < 0)
                return -1;
    return dump_deleted_vaults(d, subscription, only, into, e) < 0
               ? -1
               : dump_roles(d, subscription, !only, into, e);
}

/* --- the whole ---------------------------------------------------------------------------------
 */

static void dumping_free(void *ctx)
{
    struct dumping *d = ctx;
    json_decref(d->tree);
    free(d->text);
    free(d);
}

/* Puts SEED_SUBSCRIPTION where the id stands, so that the dump fits into any subscription. */
static char *portable(const char *text, const char *guid)
{
    struct strbuf b = STRBUF_INIT;
    for (const char *at; (at = strcasestr(text, guid)); text = at + strlen(guid)) {
        strbuf_add(&b, text, (size_t)(at - text));
        strbuf_puts(&b, SEED_SUBSCRIPTION);
    }
    strbuf_puts(&b, text);
    return strbuf_take(&b);
}

static REPLIED answer(struct dumping *d)
{
    if (d->why.code != ERR_NONE)
        return reply_err(d->r, &d->why);
    char *text = d->text;
    d->text = NULL;
    return reply_text(d->r, 200, JSON_CONTENT_TYPE, text);
}

static int read_folders(struct dumping *d)
{
    for (const struct dumped_folder *f = d->folders; f; f = f->next) {
        json_t *files;
        if (seed_files_read(&f->from, &d->left, &files, &d->why) < 0)
            return -1;
        seed_notes_add(files, f->from.items, f->from.n_items);
        json_object_set_new(f->into, f->member, files);
    }
    for (const struct dumped_archive *z = d->archives; z; z = z->next)
        if (seed_archive_read(z->path, &d->left, z->into, &d->why) < 0)
            return -1;
    return 0;
}

static void write_text(void *ctx)
{
    struct dumping *d = ctx;
    if (read_folders(d) < 0)
        return;
    dump_docs(d);
    d->text = jsontext(d->tree);
    json_decref(d->tree);
    d->tree = NULL;
    if (d->subscription) {
        char *fits = portable(d->text, d->subscription);
        free(d->text);
        d->text = fits;
    }
}

static void text_written(void *ctx, enum loop_work_end how)
{
    struct dumping *d = ctx;
    if (how != LOOP_WORK_DONE)
        err_set(&d->why, ERR_UNAVAILABLE, NULL, "The daemon is stopping.");
    request_finish(d->r, answer(d));
}

static void begin_text(struct dumping *d)
{
    bool failed = d->why.code != ERR_NONE;
    if (!failed && loop_work(d->seed->lane, write_text, text_written, d))
        return;
    if (!failed)
        err_set(&d->why, ERR_UNAVAILABLE, NULL, "Too much else is being read; try again.");
    request_finish(d->r, answer(d));
}

static void begin_files(struct request *r, void *ctx)
{
    (void)r;
    dump_tasks(ctx, begin_text);
}

static int all(struct dumping *d, struct err *e)
{
    const struct access *x = d->seed->arm.access;
    struct subscription *rows;
    size_t n;
    if (st_subscription_list(d->seed->arm.storage, d->a, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i <= n; i++) {
        const char *guid = i == 0 ? x->subscription_id : rows[i - 1].guid;
        json_t *one = json_object();
        dump_put(d->tree, "subscriptions", guid, one);
        if (groups(d, guid, NULL, one, e) < 0)
            return -1;
    }
    return 0;
}

static int one(struct dumping *d, const char *id, const char *only, struct err *e)
{
    struct subscription s;
    const struct access *x = d->seed->arm.access;
    int rc = access_subscription(x, d->a, id ? id : x->subscription_id, &s, e);
    if (rc == 0)
        return err_set(e, ARM_SUBSCRIPTION_NOT_FOUND, "subscription",
                       "The subscription '%.100s' could not be found.", id);
    if (rc < 0)
        return -1;
    d->subscription = s.guid;
    if (groups(d, s.guid, only, d->tree, e) < 0)
        return -1;
    if (only && json_object_size(d->tree) == 0)
        return err_set(e, ERR_RESOURCE_NOT_FOUND, "resourceGroup",
                       "There is no resource group '%.100s' in the subscription.", only);
    return 0;
}

struct replied *seed_dump(struct request *r, const struct seed *seed)
{
    struct err e;
    const char *id = request_query(r, "subscription");
    const char *only = request_query(r, "resourceGroup");
    struct dumping *d = xcalloc(1, sizeof *d);
    *d = (struct dumping){
        .r = r, .seed = seed, .a = &r->arena, .tree = json_object(), .left = DUMP_BYTES};
    request_keep(r, d, dumping_free);
    if ((id || only ? one(d, id, only, &e) : all(d, &e)) < 0)
        return reply_err(r, &e);
    request_again(r, begin_files, d);
    return reply_later(r);
}
