/* SPDX-License-Identifier: MIT
 *
 * The data of the dumped resources that no GET returns; dump.h has a table of them. Each function
 * is called once for all resources of a kind below one other resource, on the loop's thread; files
 * are read on the worker thread.
 */
#include <sodium.h>
#include <string.h>
#include <strings.h>

#include "api/testing/seed/dump.h"
#include "lib/jsontext.h"
#include "lib/timefmt.h"
#include "model/spec.h"
#include "storage/batch_jobs.h"
#include "storage/packages/packages.h"
#include "storage/seeding.h"
#include "storage/shares/shares.h"

static const struct st_page all_rows = {.limit = DUMP_ROWS};

/* Parses the text; an empty object if `text` is NULL or invalid. */
static json_t *object_of(const char *text)
{
    json_t *v = text ? json_loads(text, 0, NULL) : NULL;
    return v ? v : json_object();
}

/* Adds a time unless it is 0. */
static void add_time(json_t *into, const char *name, int64_t us)
{
    char text[TIMEFMT_SIZE];
    if (us <= 0)
        return;
    timefmt_exact(us, text);
    json_object_set_new(into, name, json_string(text));
}

/* Fails if a row was not found (0), because its GET has just returned it. */
static int found(int rc, struct err *e)
{
    return rc == 0
               ? err_set(e, ERR_INTERNAL, NULL,
                         "A resource that was just listed for the dump does not exist any more.")
               : (rc > 0) - 1;
}

static int find_account(struct dumping *d, const char *name, struct storage_account *out,
                        struct err *e)
{
    return found(st_account_by_name(d->seed->arm.storage, d->a, name, out, e), e);
}

static int find_batch_account(struct dumping *d, const char *name, struct batch_account *out,
                              struct err *e)
{
    return found(st_batch_account_by_name(d->seed->arm.storage, d->a, name, out, e), e);
}

/* --- keys ------------------------------------------------------------------------------------- */

static void add_keys(struct dumping *d, json_t *into, enum seed_kind_id kind, const char *name,
                     struct account_keys *keys)
{
    char text[sodium_base64_ENCODED_LEN(ACCOUNT_KEY_BYTES, sodium_base64_VARIANT_ORIGINAL)];
    const struct dump_place at = {into, seed_kinds[kind].collection, arena_strdup(d->a, name)};
    json_t *list = json_array();
    for (int i = 0; i < 2; i++)
        json_array_append_new(
            list, json_string(sodium_bin2base64(text, sizeof text, keys->key[i], ACCOUNT_KEY_BYTES,
                                                sodium_base64_VARIANT_ORIGINAL)));
    dump_member(d, &at, "keys", list);
    sodium_memzero(text, sizeof text);
    st_account_forget_keys(keys);
}

static int account_keys_of(struct dumping *d, const struct seed_step *above, json_t *into,
                           struct err *e)
{
    struct storage_account acct;
    struct account_keys keys;
    const char *name;
    json_t *body;
    (void)above;
    json_object_foreach(json_object_get(into, "storageAccounts"), name, body) {
        if (find_account(d, name, &acct, e) < 0 ||
            st_account_keys(d->seed->arm.storage, acct.id, &keys, e) < 0)
            return -1;
        add_keys(d, into, SEED_ACCOUNT, name, &keys);
    }
    return 0;
}

static int batch_keys_of(struct dumping *d, const struct seed_step *above, json_t *into,
                         struct err *e)
{
    struct batch_account b;
    struct account_keys keys;
    const char *name;
    json_t *body;
    (void)above;
    json_object_foreach(json_object_get(into, "batchAccounts"), name, body) {
        if (find_batch_account(d, name, &b, e) < 0 ||
            st_batch_account_keys(d->seed->arm.storage, b.id, &keys, e) < 0)
            return -1;
        add_keys(d, into, SEED_BATCH_ACCOUNT, name, &keys);
    }
    return 0;
}

/* --- folders ---------------------------------------------------------------------------------- */

static int add_folder(struct dumping *d, const char *account, const struct share *s, json_t *into,
                      struct err *e)
{
    bool files = s->kind == SHARE_FILES;
    const struct seed_kind *kind = &seed_kinds[files ? SEED_SHARE : SEED_CONTAINER];
    struct dumped_folder *f = arena_alloc(d->a, sizeof *f);
    *f = (struct dumped_folder){
        .at = {into, kind->collection, s->name},
        .member = kind->own[0],
        .from.path = share_folder(d->a, d->seed->storage_dir, account, s->kind, s->name),
        .from.account = arena_concat(d->a, d->seed->storage_dir, "/", account),
        .from.directories = files,
        .next = d->folders};
    d->folders = f;
    struct share_item_rows rows;
    const struct st_paths all = {.from = "", .to = "\xff", .limit = DUMP_ROWS};
    if (st_item_list(d->seed->arm.storage, d->a, s->id, false, &all, &rows, e) < 0)
        return -1;
    f->from.items = rows.items;
    f->from.n_items = rows.n;
    return 0;
}

static int add_folders(struct dumping *d, const char *account, enum share_kind kind, json_t *into,
                       struct err *e)
{
    struct storage_account acct;
    struct share_rows rows;
    const struct st_names all = {.after = "", .limit = DUMP_ROWS};
    if (find_account(d, account, &acct, e) < 0 ||
        st_share_list(d->seed->arm.storage, d->a, acct.id, kind, "", &all, &rows, e) < 0)
        return -1;
    for (size_t i = 0; i < rows.n; i++)
        if (add_folder(d, acct.name, &rows.items[i], into, e) < 0)
            return -1;
    return 0;
}

static int folders_of_shares(struct dumping *d, const struct seed_step *above, json_t *into,
                             struct err *e)
{
    return add_folders(d, above->name, SHARE_FILES, into, e);
}

static int folders_of_containers(struct dumping *d, const struct seed_step *above, json_t *into,
                                 struct err *e)
{
    return add_folders(d, above->name, SHARE_BLOBS, into, e);
}

/* --- packages --------------------------------------------------------------------------------- */

static int find_application(struct dumping *d, const struct seed_step *s,
                            struct batch_application *x, struct err *e)
{
    struct batch_account b;
    return find_batch_account(d, s->above->name, &b, e) < 0
               ? -1
               : found(st_batch_application_get(d->seed->arm.storage, d->a, b.id, s->name, x, e),
                       e);
}

static void add_package(struct dumping *d, const struct batch_package *p, json_t *into)
{
    json_t *body = json_object();
    dump_put(into, "packages", p->name, body);
    if (!p->hash)
        return;
    add_time(body, "activated", p->activated_us);
    const struct file_place file = packages_place(d->seed->packages, d->a, p->hash);
    struct dumped_archive *z = arena_alloc(d->a, sizeof *z);
    *z = (struct dumped_archive){
        .path = arena_concat(d->a, file.share, "/", file.path), .into = body, .next = d->archives};
    d->archives = z;
}

/* Dumps packages from rows: the service refuses their list for an account without auto-storage. */
static int packages_of(struct dumping *d, const struct seed_step *above, json_t *into,
                       struct err *e)
{
    struct batch_application x;
    struct batch_package_rows rows;
    if (find_application(d, above, &x, e) < 0 ||
        st_batch_package_list(d->seed->arm.storage, d->a, x.id, &all_rows, &rows, e) < 0)
        return -1;
    for (size_t i = 0; i < rows.n; i++)
        add_package(d, &rows.items[i], into);
    return 0;
}

/* --- pools ------------------------------------------------------------------------------------ */

/* Leaves out the pools that jobs and schedules have created, because the jobs and schedules of the
 * seed create them again. */
static int pools_of_jobs(struct dumping *d, const struct seed_step *above, json_t *into,
                         struct err *e)
{
    struct batch_account b;
    const char *names, *name;
    json_t *one;
    if (find_batch_account(d, above->name, &b, e) < 0 ||
        st_batch_own_pools(d->seed->arm.storage, d->a, b.id, &names, e) < 0)
        return -1;
    json_auto_t *all = json_loads(names, 0, NULL);
    json_object_foreach(all, name, one) {
        const struct dump_place at = {into, "pools", arena_strdup(d->a, name)};
        dump_cut(d, &at, DUMP_LEFT_OUT);
    }
    return 0;
}

/* --- tasks ------------------------------------------------------------------------------------ */

/* Adds the files of a task. Files that a seed gave to a task are rows. */
static int add_files(struct dumping *d, const struct batch_task *t, const struct dump_place *at,
                     struct err *e)
{
    struct storage *st = d->seed->arm.storage;
    struct batch_seeded_file *rows, f;
    size_t n;
    if (t->node_name)
        return dump_task_add(d, t, at, e);
    json_t *all = json_object();
    dump_member(d, at, "files", all);
    if (st_batch_file_list(st, d->a, t->id, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (st_batch_file_get(st, d->a, t->id, rows[i].path, &f, e) < 0)
            return -1;
        json_object_set_new(all, f.path, seed_file_value(f.bytes, (size_t)f.size));
    }
    seed_files_code(all, d->subscription);
    return 0;
}

static int look_for_tasks(struct dumping *d, const struct seed_step *account, struct err *e)
{
    struct batch_account b;
    const char *names;
    if (find_batch_account(d, account->name, &b, e) < 0 ||
        st_batch_task_jobs(d->seed->arm.storage, d->a, b.id, &names, e) < 0)
        return -1;
    d->account = account;
    d->jobs_with_tasks = request_own(d->r, json_loads(names, 0, NULL));
    return 0;
}

int dump_has_none(struct dumping *d, enum seed_kind_id kind, const struct seed_step *above,
                  struct err *e)
{
    if (kind != SEED_BATCH_TASK)
        return 0;
    if (d->account != above->above && look_for_tasks(d, above->above, e) < 0)
        return -1;
    return !json_object_get(d->jobs_with_tasks, above->name);
}

static int files_of_tasks(struct dumping *d, const struct seed_step *above, json_t *into,
                          struct err *e)
{
    struct storage *st = d->seed->arm.storage;
    struct batch_account b;
    struct batch_job j;
    struct batch_task *rows;
    size_t n;
    if (find_batch_account(d, above->above->name, &b, e) < 0 ||
        found(st_batch_job_get(st, d->a, b.id, above->name, &j, e), e) < 0 ||
        st_batch_task_list_to_dump(st, d->a, j.id, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const struct dump_place at = {into, "tasks", rows[i].name};
        if (rows[i].manager)
            dump_cut(d, &at, DUMP_BARE);
        if (rows[i].files == BATCH_FILES_THERE && add_files(d, &rows[i], &at, e) < 0)
            return -1;
    }
    return 0;
}

/* --- secrets ---------------------------------------------------------------------------------- */

static void add_number(json_t *attributes, const char *name, int64_t seconds)
{
    if (seconds)
        json_object_set_new(attributes, name, json_integer((json_int_t)seconds));
}

static int version(struct dumping *d, const struct secret_version *x, json_t **out, struct err *e)
{
    const char *value = NULL;
    if (st_secret_value(d->seed->arm.storage, d->a, x->id, &value, e) < 0)
        return -1;
    json_t *attributes = json_pack("{s:b}", "enabled", x->enabled);
    add_number(attributes, "nbf", x->not_before_s);
    add_number(attributes, "exp", x->expires_s);
    *out = json_pack("{s:s, s:o}", "value", value ? value : "", "attributes", attributes);
    if (x->content_type)
        json_object_set_new(*out, "contentType", json_string(x->content_type));
    if (x->tags)
        json_object_set_new(*out, "tags", object_of(x->tags));
    return 0;
}

static int secret(struct dumping *d, const struct secret_version *newest, json_t *into,
                  struct err *e)
{
    struct secret_version_rows rows;
    json_t *shown, *before;
    if (version(d, newest, &shown, e) < 0)
        return -1;
    dump_put(into, "secrets", newest->name, shown);
    json_object_set_new(shown, "version", json_string(newest->version));
    if (newest->deleted_us)
        add_time(shown, "deleted", newest->deleted_us);
    if (st_secret_version_list(d->seed->arm.storage, d->a, newest->secret_id, &all_rows, &rows, e) <
        0)
        return -1;
    for (size_t i = 0; i + 1 < rows.n; i++) {
        if (version(d, &rows.items[i], &before, e) < 0)
            return -1;
        dump_put(shown, "versions", rows.items[i].version, before);
    }
    return 0;
}

static int secrets_of(struct dumping *d, int64_t vault_id, bool deleted, json_t *into,
                      struct err *e)
{
    struct secret_version_rows rows;
    if (st_secret_list(d->seed->arm.storage, d->a, vault_id, deleted, &all_rows, &rows, e) < 0)
        return -1;
    for (size_t i = 0; i < rows.n; i++)
        if (secret(d, &rows.items[i], into, e) < 0)
            return -1;
    return 0;
}

/* --- vaults ----------------------------------------------------------------------------------- */

static int all_secrets(struct dumping *d, int64_t vault_id, json_t *into, struct err *e)
{
    return secrets_of(d, vault_id, false, into, e) < 0 ? -1
                                                       : secrets_of(d, vault_id, true, into, e);
}

static int secrets_of_vaults(struct dumping *d, const struct seed_step *above, json_t *into,
                             struct err *e)
{
    struct vault v;
    int rc = found(st_vault_get(d->seed->arm.storage, d->a, above->name, &v, e), e);
    return rc < 0 ? -1 : all_secrets(d, v.id, into, e);
}

static int deleted_vault(struct dumping *d, const struct vault *v, json_t *group, struct err *e)
{
    json_t *body = object_of(v->doc);
    json_object_set_new(body, "location", jsontext_string(v->location));
    if (v->tags)
        json_object_set_new(body, "tags", object_of(v->tags));
    add_time(body, "deleted", v->deleted_us);
    dump_put(group, "vaults", v->name, body);
    return all_secrets(d, v->id, body, e);
}

/* Finds a group of the tree; its name may be in any case. NULL: there is none. */
static json_t *group_of(const json_t *into, const char *name)
{
    const char *key;
    json_t *group;
    json_object_foreach(json_object_get(into, "groups"), key, group) {
        if (strcasecmp(key, name) == 0)
            return group;
    }
    return NULL;
}

/* A deleted group is in the dump if it has deleted vaults. */
int dump_deleted_vaults(struct dumping *d, const char *subscription, json_t *into, struct err *e)
{
    struct vault_rows rows;
    if (st_vault_list_deleted(d->seed->arm.storage, d->a, subscription, &all_rows, &rows, e) < 0)
        return -1;
    for (size_t i = 0; i < rows.n; i++) {
        const struct vault *v = &rows.items[i];
        json_t *group = group_of(into, v->group);
        if (d->group && strcasecmp(v->group, d->group) != 0)
            continue;
        if (!group) {
            group = json_pack("{s:s, s:b}", "location", v->location, "deleted", true);
            dump_put(into, "groups", v->group, group);
        }
        if (deleted_vault(d, v, group, e) < 0)
            return -1;
    }
    return 0;
}

/* --- on the lane ------------------------------------------------------------------------------ */

int dump_folders(struct dumping *d, struct err *e)
{
    for (const struct dumped_folder *f = d->folders; f; f = f->next) {
        json_t *files;
        if (seed_files_read(&f->from, &d->left, &files, e) < 0)
            return -1;
        seed_files_code(files, d->subscription);
        seed_notes_add(files, f->from.items, f->from.n_items);
        json_object_set_new(dump_at(&f->at), f->member, files);
    }
    for (const struct dumped_archive *z = d->archives; z; z = z->next)
        if (seed_archive_read(z->path, &d->left, z->into, e) < 0)
            return -1;
    return 0;
}

dump_extra *const dump_extras[SEED_KINDS] = {
    [SEED_ACCOUNT] = account_keys_of,     [SEED_CONTAINER] = folders_of_containers,
    [SEED_SHARE] = folders_of_shares,     [SEED_SECRET] = secrets_of_vaults,
    [SEED_BATCH_ACCOUNT] = batch_keys_of, [SEED_PACKAGE] = packages_of,
    [SEED_BATCH_TASK] = files_of_tasks,   [SEED_BATCH_POOL] = pools_of_jobs,
};
