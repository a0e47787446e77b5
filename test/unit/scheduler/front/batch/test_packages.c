/* SPDX-License-Identifier: MIT
 *
 * Which package a reference means, and where it comes to on a node: a real database, and a real
 * agent that unpacks it.
 */
#include <minizip/zip.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "scheduler/fleet/copy/input_files.h"
#include "scheduler/front/batch/packages.h"
#include "storage/packages/packages.h"
#include "storage/storage.h"
#include "test/unit/nodeagent-proto/link/fixture.h"
#include "test/unit/support/arena_test.h"
#include "test/unit/support/words.h"

static struct batch_package_use use(const char *application, const char *version, bool by_default)
{
    return (struct batch_package_use){
        .by_default = by_default,
        .package = {.application = application,
                    .name = version,
                    .hash = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}};
}

ARENA_TEST(variables_are_called_as_the_service_calls_them)
{
    const struct batch_package_use one = use("app01", "1.0", false);
    const struct batch_package_use other = use("My-App_2", "2.0-beta.1", false);
    const struct batch_package_use usual = use("My-App", "3", true);
    assert_string_equal(batch_package_variable(a, &one, false), "AZ_BATCH_APP_PACKAGE_app01_1_0");
    assert_string_equal(batch_package_variable(a, &one, true), "AZ_BATCH_APP_PACKAGE_APP01#1.0");
    assert_string_equal(batch_package_variable(a, &other, false),
                        "AZ_BATCH_APP_PACKAGE_My_App_2_2_0_beta_1");
    assert_string_equal(batch_package_variable(a, &usual, false), "AZ_BATCH_APP_PACKAGE_My_App");
    assert_string_equal(batch_package_variable(a, &usual, true), "AZ_BATCH_APP_PACKAGE_MY-APP");
}

ARENA_TEST(another_archive_has_another_directory)
{
    struct batch_package_use one = use("app", "1.0", false);
    const char *first = batch_package_directory(a, &one);
    assert_string_equal(first, "batch/applications/app_1.0_0123456789abcdef");
    one.package.hash = "f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    assert_string_not_equal(batch_package_directory(a, &one), first);
}

/* --- what is on disk ------------------------------------------------------------------------- */

/* Whether a folder was synced that had an archive by its hash. */
static _Atomic bool archive_synced;

static bool has_archive(const char *folder)
{
    bool found = false;
    DIR *d = opendir(folder);
    for (struct dirent *x; d && (x = readdir(d));)
        found = found || strlen(x->d_name) == PACKAGE_HASH - 1 + strlen(".zip");
    if (d)
        closedir(d);
    return found;
}

/* The next sync of such a folder waits at the gate. */
static _Atomic bool next_waits;
static pthread_mutex_t sync_gate = PTHREAD_MUTEX_INITIALIZER;

/* In the place of the C library's. */
int fsync(int fd)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (has_archive(link)) {
        archive_synced = true;
        if (atomic_exchange(&next_waits, false)) {
            pthread_mutex_lock(&sync_gate);
            pthread_mutex_unlock(&sync_gate);
        }
    }
    return (int)syscall(SYS_fsync, fd);
}

/* --- from a container to a node --------------------------------------------------------------- */

struct package_stage {
    struct fixture *f;
    struct arena a;
    struct storage *st;
    struct packages *packages;
    char dir[64];
    int64_t account;
    bool closed, kept;
    struct package_kept what;
};

static void set_true(void *ctx)
{
    *(bool *)ctx = true;
}

static int64_t add_account(struct package_stage *s)
{
    struct err e = {0};
    int64_t group = 0, account = 0;
    struct account_keys keys;
    const struct resource_group g = {
        .subscription = "s", .name = "g", .location = "eastus", .prov_state = PROV_SUCCEEDED};
    assert_int_equal(st_group_insert(s->st, &g, &group, &e), 0);
    const struct batch_account b = {.group_id = group,
                                    .name = "acct",
                                    .scope = {.location = "eastus"},
                                    .doc = "{}",
                                    .prov_state = PROV_SUCCEEDED};
    st_account_new_keys(&keys);
    assert_int_equal(st_batch_account_insert(s->st, &b, &keys, &account, &e), 0);
    return account;
}

static void open_stage(struct package_stage *s, struct fixture *f)
{
    struct err e = {0};
    *s = (struct package_stage){.f = f, .dir = "/tmp/batchaid-packages-XXXXXX"};
    arena_init(&s->a);
    assert_non_null(mkdtemp(s->dir));
    const struct st_config c = {.path = arena_concat(&s->a, s->dir, "/db"),
                                .key_path = arena_concat(&s->a, s->dir, "/key"),
                                .loop = f->tools,
                                .log = &f->log};
    if (st_open(&c, &s->st, &e) < 0)
        fail_msg("%s", e.msg);
    const char *kept = arena_concat(&s->a, s->dir, "/kept");
    assert_int_equal(mkdir(kept, 0700), 0);
    const struct packages_config pc = {
        .loop = f->tools, .files = f->files, .storage = s->st, .log = &f->log, .dir = kept};
    s->packages = packages_create(&pc);
    s->account = add_account(s);
    const struct node_local_config nc = {.loop = f->tools,
                                         .log = &f->log,
                                         .files = f->files,
                                         .agent_path = f->agent,
                                         .root = f->root,
                                         .callbacks = {on_ready, on_down, on_ended, NULL, f}};
    assert_int_equal(node_open_local(&nc, &f->link, &e), 0);
    WAIT(f, f->ready > 0);
}

static void close_stage(struct package_stage *s)
{
    struct err e;
    close_link(s->f);
    packages_stop(s->packages, set_true, &s->closed);
    WAIT(s->f, s->closed);
    s->closed = false;
    st_close(s->st, set_true, &s->closed);
    WAIT(s->f, s->closed);
    arena_free(&s->a);
    assert_int_equal(fs_remove_tree(s->dir, &e), 0);
}

static void on_kept(void *ctx, const struct err *why, const struct package_kept *kept)
{
    struct package_stage *s = ctx;
    s->kept = true;
    if (why)
        fail_msg("%s", why->msg);
    s->what = *kept;
}

/* An archive as a client puts it into a container. */
static void put_archive(struct package_stage *s)
{
    zipFile z = zipOpen64(arena_concat(&s->a, s->dir, "/a.zip"), APPEND_STATUS_CREATE);
    assert_int_equal(
        zipOpenNewFileInZip64(z, "bin/run", NULL, NULL, 0, NULL, 0, NULL, Z_DEFLATED, 9, 0),
        ZIP_OK);
    assert_int_equal(zipWriteInFileInZip(z, "program", 7), ZIP_OK);
    assert_int_equal(zipClose(z, NULL), ZIP_OK);
}

static void keep_archive(struct package_stage *s)
{
    put_archive(s);
    packages_keep(s->packages, &(struct file_place){s->dir, "a.zip"}, on_kept, s);
    WAIT(s->f, s->kept);
}

static int64_t add_package(struct package_stage *s, int64_t application, const char *version,
                           const char *hash)
{
    struct err e = {0};
    int64_t id = 0;
    const struct batch_package p = {.application_id = application,
                                    .name = version,
                                    .format = hash ? "zip" : NULL,
                                    .hash = hash};
    assert_int_equal(st_batch_package_insert(s->st, &p, &id, &e), 0);
    return id;
}

static int find(struct package_stage *s, const char *application, const char *version,
                struct batch_package_use *out)
{
    struct err e = {0};
    return batch_package_find(s->st, &s->a, s->account, application, version, out, &e);
}

static void on_changed(void *ctx)
{
    (void)ctx;
}

static void bring(struct package_stage *s, const struct batch_package_use *what, const char *link)
{
    const struct file_place from = packages_place(s->packages, &s->a, what->package.hash);
    struct input_file file = {.share = from.share,
                              .path = from.path,
                              .to = arena_concat(&s->a, "packages/", what->package.hash),
                              .link = link,
                              .what = "a package",
                              .package = true};
    struct script *sc = script_new(&s->a, &s->f->log, "node-1");
    const struct inputs in = {.script = sc, .a = &s->a, .files = s->f->files, .root = s->f->root};
    inputs_add(&in, &(struct input_list){&file, 1});
    script_run(sc, s->f->link, on_changed, s);
    WAIT(s->f, script_state(sc) != SCRIPT_RUNNING && !script_busy(sc));
    if (script_state(sc) != SCRIPT_DONE)
        fail_msg("%s", script_failure(sc)->message);
}

TEST_SETUP(the_name_of_a_kept_archive_is_on_disk, setup, teardown)
{
    struct package_stage s;
    open_stage(&s, *state);
    keep_archive(&s);
    close_stage(&s);
    assert_true(archive_synced);
}

static void on_told(void *ctx, const struct err *why, const struct package_kept *kept)
{
    int *told = ctx;
    (void)kept;
    assert_true(!why || why->code == ERR_UNAVAILABLE);
    (*told)++;
}

static int unfinished(const struct package_stage *s)
{
    int n = 0;
    char kept[80];
    snprintf(kept, sizeof kept, "%s/kept", s->dir);
    DIR *d = opendir(kept);
    for (struct dirent *x; d && (x = readdir(d));)
        n += strncmp(x->d_name, "new-", 4) == 0;
    if (d)
        closedir(d);
    return n;
}

#define MORE_THAN_WAIT 300

TEST_SETUP(a_refused_archive_leaves_no_copy, setup, teardown)
{
    struct package_stage s;
    int told = 0, told_last = 0;
    open_stage(&s, *state);
    put_archive(&s);
    next_waits = true;
    pthread_mutex_lock(&sync_gate);
    packages_keep_bytes(s.packages, xstrdup("bytes"), 5, on_told, &told);
    WAIT(s.f, !next_waits); /* the thread is held */
    for (int i = 0; i < MORE_THAN_WAIT; i++)
        packages_keep_bytes(s.packages, xstrdup("bytes"), 5, on_told, &told);
    WAIT(s.f, told > 0);
    packages_keep(s.packages, &(struct file_place){s.dir, "a.zip"}, on_told, &told_last);
    WAIT(s.f, told_last == 1);
    WAIT(s.f, unfinished(&s) == 0);
    pthread_mutex_unlock(&sync_gate);
    WAIT(s.f, told == MORE_THAN_WAIT + 1);
    close_stage(&s);
}

TEST_SETUP(a_package_gets_to_a_node, setup, teardown)
{
    struct package_stage s;
    struct err e = {0};
    struct batch_package_use found;
    open_stage(&s, *state);
    keep_archive(&s);
    struct batch_application x = {.account_id = s.account, .name = "App"};
    assert_int_equal(st_batch_application_insert(s.st, &x, &x.id, &e), 0);
    add_package(&s, x.id, "1.0", s.what.hash);
    add_package(&s, x.id, "2.0", NULL);
    assert_int_equal(find(&s, "none", "1.0", &found), 0);
    assert_int_equal(find(&s, "app", "3.0", &found), 0);
    assert_int_equal(find(&s, "app", "2.0", &found), 0); /* it is not active */
    assert_int_equal(find(&s, "app", NULL, &found), 0);  /* there is no default version */
    assert_int_equal(find(&s, "app", "1.0", &found), 1);
    assert_false(found.by_default);
    x.default_version = "1.0";
    assert_int_equal(st_batch_application_update(s.st, &x, &e), 0);
    assert_int_equal(find(&s, "APP", "", &found), 1);
    assert_true(found.by_default);
    assert_string_equal(found.package.application, "App");

    const char *places[] = {batch_package_directory(&s.a, &found),
                            batch_pool_package_directory(&s.a, &found)};
    for (int i = 0; i < 4; i++) { /* each step is safe to repeat */
        bring(&s, &found, places[i % 2]);
        assert_true(file_has(s.f, arena_concat(&s.a, places[i % 2], "/bin/run"), "program"));
    }
    close_stage(&s);
}
