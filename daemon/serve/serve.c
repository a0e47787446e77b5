/* SPDX-License-Identifier: MIT
 *
 * The daemon's process from its first to its last turn of the loop.
 *
 *   STARTING  loop -> storage -> scheduler, shares -> server -> seed -> "ready"
 *   RUNNING   each turn: sched_turn(), st_turn_end(), api_turn(), before and after the poll, so
 *             that no reply is sent before its writes are synced
 *   STOPPING  server (api_stopped) -> scheduler, files and packages together (room_stopped) ->
 *             transfers -> share server -> logins -> storage -> the loop's handles; a pointer
 *             of struct daemon is NULL when its part has stopped
 *
 * After a failed start the same steps stop what was started. One thread owns struct daemon, which
 * is on the stack of serve_run().
 */
#include "daemon/serve/serve_priv.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <uv.h>

#include "api/admin/event_stream.h"
#include "api/admin/gpus.h"
#include "api/admin/terminals.h"
#include "api/arm/batchai/new_clusters.h"
#include "api/arm/batchai/shown_jobs.h"
#include "api/login/codes.h"
#include "api/plane/storage/write_lock.h"
#include "daemon/serve/ephemeral.h"
#include "daemon/serve/live.h"
#include "daemon/serve/under_way.h"
#include "lib/arena.h"
#include "lib/footprint.h"
#include "lib/fs.h"
#include "lib/loop_uv.h"
#include "lib/version.h"
#include "nodeagent-proto/link/provider.h"
#include "nodeagent-proto/login/share_server.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/fleet/transfer/transfer.h"
#include "scheduler/scheduler.h"
#include "storage/folders/change.h"
#include "storage/folders/files.h"
#include "storage/history/history.h"
#include "storage/packages/packages.h"
#include "storage/shares/journal.h"
#include "storage/shares/shares.h"
#include "storage/storage.h"

/* The first login on a local node makes a key and hashes a password, which takes about 100 ms, so
 * threads do it. */
enum { LOGIN_THREADS = 2, LOGINS_MAX = 1024 };

#define DAY_US (INT64_C(24) * 3600 * 1000000)

/* Enough for thousands of connections. Jobs inherit the limit; it is low enough for programs that
 * iterate over all possible descriptors. */
#define MAX_DESCRIPTORS 65536

/* Threads of libuv's pool. libuv starts them when the first name of a machine is resolved. */
#define MACHINE_THREADS "32"

static const int stop_signals[] = {SIGTERM, SIGINT};
static_assert(sizeof stop_signals / sizeof *stop_signals == STOP_SIGNALS, "a handle a signal");

/* --- a loop turn ---------------------------------------------------------------------------- */

static void turn(struct daemon *d)
{
    if (d->sched)
        sched_turn(d->sched);
    if (d->storage)
        st_turn_end(d->storage);
    if (d->api)
        api_turn(d->api);
}

static void on_prepare(uv_prepare_t *h)
{
    turn(h->data);
}

static void on_check(uv_check_t *h)
{
    turn(h->data);
}

/* --- stopping: api, scheduler and files, storage, loop --------------------------------------- */

static void close_hooks(struct daemon *d)
{
    uv_close((uv_handle_t *)&d->prepare, NULL);
    uv_close((uv_handle_t *)&d->check, NULL);
    for (size_t i = 0; i < STOP_SIGNALS; i++)
        uv_close((uv_handle_t *)&d->signals[i], NULL);
    reload_stop(&d->reload);
}

static void storage_closed(void *ctx)
{
    struct daemon *d = ctx;
    close_hooks(d);
    watching_end(&d->watching);
    scripted_close(&d->scripted);
    served_time_close(&d->time);
    loop_uv_destroy(d->tools);
}

static void logins_closed(void *ctx)
{
    struct daemon *d = ctx;
    struct storage *st = d->storage;
    d->storage = NULL;
    if (st)
        st_close(st, storage_closed, d);
    else
        storage_closed(d);
}

static void samples_closed(void *ctx)
{
    struct daemon *d = ctx;
    loop_lane_close(d->logins, LOOP_LANE_FINISH, 0, logins_closed, d);
}

static void share_server_closed(void *ctx)
{
    struct daemon *d = ctx;
    struct history *s = d->samples;
    d->samples = NULL;
    history_close(s, samples_closed, d);
}

static void transfers_stopped(void *ctx)
{
    struct daemon *d = ctx;
    if (d->share_server)
        share_server_close(d->share_server, share_server_closed, d);
    else
        share_server_closed(d);
}

/* Called when the scheduler, the files or the packages have stopped; they stop at the same time. */
static void room_stopped(void *ctx)
{
    struct daemon *d = ctx;
    assert(d->stopping_rooms > 0);
    if (--d->stopping_rooms == 0)
        transfers_stop(d->transfers, transfers_stopped, d);
}

static void files_stopped(void *ctx, size_t left_behind)
{
    struct daemon *d = ctx;
    *d->c->left_behind = left_behind;
    room_stopped(d);
}

/* Called when the server has stopped. Stops scheduler and files together, because a stopping
 * scheduler sends no new requests to storage/folders/, but may wait for pending ones. */
static void api_stopped(void *ctx)
{
    struct daemon *d = ctx;
    struct sched *s = d->sched;
    assert(d->stopping_rooms == 0);
    d->api = NULL;
    d->sched = NULL;
    testing_events_hurry(d->deps.testing.events); /* ends streams at once */
    d->stopping_rooms = (s ? 2 : 1) + (d->packages ? 1 : 0);
    journal_stop(d->journal);
    if (s)
        sched_stop(s, room_stopped, d);
    if (d->packages)
        packages_stop(d->packages, room_stopped, d);
    files_stop(d->files, files_stopped, d);
}

/* Stops the daemon. A second call has no effect: a signal may arrive while the daemon stops because
 * its start or its seed has failed. */
static void stop(struct daemon *d)
{
    if (d->readiness.stopping)
        return;
    d->readiness.stopping = true;
    if (d->api)
        api_stop(d->api, api_stopped, d);
    else
        api_stopped(d);
}

/* Restores the default effect of the signals, so that a second signal ends the process at once. */
static void on_signal(uv_signal_t *h, int signo)
{
    struct daemon *d = h->data;
    LOG_INFO(d->c->log, "daemon.stopping", LF_STR("signal", strsignal(signo)));
    for (size_t i = 0; i < STOP_SIGNALS; i++)
        uv_signal_stop(&d->signals[i]);
    notify_manager("STOPPING=1");
    endpoint_withdraw(d->c->state);
    seeding_stop(&d->seeding);
    stop(d);
}

/* --- starting ------------------------------------------------------------------------------- */

static void must(int uv_rc)
{
    if (uv_rc < 0) {
        fprintf(stderr, "batchaid: event loop: %s\n", uv_strerror(uv_rc));
        abort();
    }
}

static void open_loop(struct daemon *d)
{
    must(uv_loop_init(&d->loop));
    d->tools = loop_uv_create(&d->loop, NULL, NULL);
    d->files = files_create(d->tools, d->c->log);
    ephemeral_files(d->files, d->c->ephemeral, d->c->config->storage_sync, d->c->state->storage,
                    d->c->log);
    d->logins = loop_lane_create(d->tools, "logins", LOGIN_THREADS, LOGINS_MAX);
    const struct transfers_config tc = {.loop = d->tools,
                                        .silent_s = (int)d->c->config->batch_transfer_timeout_s,
                                        .ca_file = d->c->state->ca_cert};
    d->transfers = transfers_create(&tc);
    d->samples = history_open(&(struct history_config){d->tools, d->c->log, d->c->state->samples});
    must(uv_prepare_init(&d->loop, &d->prepare));
    must(uv_check_init(&d->loop, &d->check));
    d->prepare.data = d->check.data = d;
    must(uv_prepare_start(&d->prepare, on_prepare));
    must(uv_check_start(&d->check, on_check));
    for (size_t i = 0; i < STOP_SIGNALS; i++) {
        must(uv_signal_init(&d->loop, &d->signals[i]));
        d->signals[i].data = d;
        must(uv_signal_start(&d->signals[i], on_signal, stop_signals[i]));
    }
    d->reload = (struct reload){.loop = d->tools,
                                .lane = d->logins,
                                .certs = d->c->certs,
                                .log = d->c->log,
                                .c = d->c,
                                .take = live_take,
                                .meter = live_meter,
                                .ctx = d};
    reload_start(&d->reload, &d->loop);
}

static int open_storage(struct daemon *d, struct err *e)
{
    const struct state *s = d->c->state;
    const struct st_config sc = {.path = s->db,
                                 .key_path = s->secret_key,
                                 .loop = d->tools,
                                 .log = d->c->log,
                                 .without_sync = d->c->ephemeral,
                                 .told = d->c->opening};
    if (st_open(&sc, &d->storage, e) < 0)
        return -1;
    d->blobs = deps_blobs_source(d);
    return 0;
}

static const char *own_address(void *ctx)
{
    const struct daemon *d = ctx;
    return d->api ? api_endpoint(d->api) : NULL;
}

/* Creates the parts that use storage and scheduler (shares, journal, packages); they do not work
 * yet. */
static void open_shares(struct daemon *d)
{
    const struct serve_config *c = d->c;
    const struct config *cf = c->config;
    const struct shares_config shc = {.storage = d->storage,
                                      .files = d->files,
                                      .wakes = sched_wakes(d->sched),
                                      .log = c->log,
                                      .storage_dir = c->state->storage,
                                      .keep_us = cf->deleted_days * DAY_US,
                                      .subscription = cf->subscription_id,
                                      .principal = c->credentials->client_id,
                                      .strict = cf->storage_strict,
                                      .gone = &woken_deletions};
    d->shares = shares_create(&shc);
    const struct journal_config jc = {d->storage,        d->tools,     c->log,
                                      c->state->storage, c->ephemeral, !cf->storage_sync};
    d->journal = journal_create(&jc);
    const struct packages_config pc = {.loop = d->tools,
                                       .files = d->files,
                                       .storage = d->storage,
                                       .log = c->log,
                                       .dir = c->state->packages};
    d->batch.packages = d->packages = packages_create(&pc);
}

/* Creates the server of shares for machines. It listens on no port before the first machine gets a
 * key. */
static void open_share_server(struct daemon *d)
{
    const struct serve_config *c = d->c;
    const struct config *cf = c->config;
    char *program = realpath("/proc/self/exe", NULL), *dir = fs_join(c->state->dir, "share-server");
    const struct share_server_config sc = {
        .loop = d->tools,
        .log = c->log,
        .dir = dir,
        .storage_dir = c->state->storage,
        .program = program ? program : "",
        .port = (int)cf->shares_port,
        .account = c->site->site.local_accounts ? (unsigned)cf->first_uid : 0,
        .ends = c->ephemeral};
    /* without a configuration file, a reload cannot add an inventory */
    if (c->config_path && cf->shares_port > 0)
        d->share_server = share_server_create(&sc);
    free(program);
    free(dir);
}

static int open_scheduler(struct daemon *d, struct err *e)
{
    const struct serve_config *c = d->c;
    const struct config *cf = c->config;
    d->vm_sizes = config_list_upper(&cf->vm_sizes);
    d->front = batchai_front(d->storage, c->log, cf->strict);
    d->batch = batch_front(d->storage, c->log);
    d->batch.windows.commands = cf->batch_windows_commands;
    d->batch.windows.programs = *cf->batch_windows_programs ? cf->batch_windows_programs : NULL;
    d->batch.quotas = (struct batch_quotas){cf->quota_batch_jobs, cf->quota_batch_pools};
    d->access = (struct access){.storage = d->storage,
                                .subscription_id = c->config->subscription_id,
                                .first_id = c->credentials->client_id,
                                .lane = d->logins};
    d->batch.blobs = deps_blobs(&d->blobs);
    d->batch.address = (struct batch_address){own_address, d};
    d->front.roles = (struct batchai_roles){keyvault_role_reads, access_is_there, &d->access};
    d->local = node_provider_local(d->tools, c->log, c->agent_path, c->cmd_path);
    d->machines = node_provider_ssh(d->tools, c->log);
    open_share_server(d);
    d->fronts = (struct fronts){{&d->front.front, &d->batch.front}};
    if (c->testing_key &&
        scripted_open(&d->scripted, c, d->time.loop, &d->access, &d->fronts, e) < 0)
        return -1;
    const struct sched_config sc = {.loop = d->time.loop,
                                    .storage = d->storage,
                                    .files = d->files,
                                    .transfers = d->transfers,
                                    .login_lane = d->logins,
                                    .shares = d->share_server,
                                    .sample_every_s =
                                        c->testing_key || !cf->samples ? 0 : SAMPLE_EVERY_S,
                                    .samples = d->samples,
                                    .shares_address = cf->shares_address,
                                    .log = c->log,
                                    .local = d->local,
                                    .machines = d->machines,
                                    .nodes_dir = c->state->nodes,
                                    .storage_dir = c->state->storage,
                                    .local_nodes = (int)cf->nodes,
                                    .local_vm_sizes = (const char *const *)d->vm_sizes,
                                    .autoscale_idle_s = (int)cf->autoscale_idle_s,
                                    .kept_outputs = (int)cf->kept_outputs,
                                    .keep = live_keep(cf),
                                    .backfill = (const char *const *)cf->backfill.items,
                                    .n_backfill = cf->backfill.n,
                                    .scripted = d->scripted.provider,
                                    .gate = scripted_gate(&d->scripted),
                                    .scripted_sizes = c->fake_sizes,
                                    .fronts = d->fronts,
                                    .site = &c->site->site};
    d->sched = sched_create(&sc);
    d->blobs.store.wakes = sched_wakes(d->sched);
    scripted_begin(&d->scripted, d->sched);
    open_shares(d);
    if (seed_begin(d->storage, c->state->storage, loop_wall_us(d->tools), c->log, e) < 0 ||
        journal_replay(d->journal, e) < 0 || sched_start(d->sched, e) < 0)
        return -1;
    return shares_start(d->shares, e);
}

/* Ends pending reads of nodes and shares, because requests wait for them, and the server stops. */
static void end_looks(void *ctx)
{
    struct daemon *d = ctx;
    assert(d->sched); /* the server calls this, and stops before the scheduler */
    reload_end_requests(&d->reload);
    fleet_end_reads(sched_fleet(d->sched));
    history_end_reads(d->samples);
    journal_end_requests(d->journal);
    files_end_requests(d->files);
    shares_end_requests(d->shares);
    testing_log_hurry(d->deps.testing.log);
    testing_events_hurry(d->deps.testing.events);
    testing_clock_halt(d->time.clock);
    packages_end_requests(d->packages);
}

static void pick_certificate(void *ctx, const char *name, struct gnutls_pcert_st **chain,
                             unsigned *n, struct gnutls_privkey_st **key)
{
    struct daemon *d = ctx;
    struct certs_choice choice;
    certs_pick(d->c->certs, name, loop_wall_us(d->tools), loop_mono_us(d->tools), &choice);
    *chain = choice.chain;
    *n = choice.n;
    *key = choice.key;
}

static int open_api(struct daemon *d, struct err *e)
{
    size_t n_names;
    const struct serve_config *c = d->c;
    const struct config *cf = c->config;
    const char *const *names = certs_names(c->certs, &n_names);
    if (metering_open(cf, &d->metering, e) < 0 || listens_make(cf, &d->listens, e) < 0 ||
        listens_open_storage(&d->listens, d->storage, cf, c->credentials, loop_wall_us(d->tools),
                             e) < 0)
        return -1;
    d->listens.item[0].port = under_way_port(d->listens.item[0].port);
    d->deps = deps_api(d);
    hosts_make(names, n_names, cf, &d->own_hosts);
    d->directory = (struct directory){access_find, &d->access, access_goes_on};
    api_serve_all(&d->deps, (const char *const *const *)d->own_hosts.of, d->services);
    d->deps.admin.watch = (struct admin_watch){testing_forget, &d->deps.testing};
    d->watch = (struct api_watch){testing_begin, testing_headers, testing_end, &d->deps.testing};
    const struct api_config ac = {.loop = &d->loop,
                                  .disk = deps_disk(d->storage),
                                  .log = c->log,
                                  .clock = served_time_clock(&d->time),
                                  .clock_changes = c->testing_key != NULL,
                                  .services = d->services,
                                  .n_services = API_SERVICES,
                                  .hurry = end_looks,
                                  .hurry_ctx = d,
                                  .listen = d->listens.item,
                                  .n_listen = d->listens.n,
                                  .certs = {pick_certificate, d},
                                  .names = {names, n_names, d->own_hosts.suffixes, HOSTS_SUFFIXES},
                                  .token_key = c->credentials->token_key,
                                  .directory = &d->directory,
                                  .watch = c->testing_key ? &d->watch : NULL,
                                  .settings = live_api(cf)};
    return api_create(&ac, &d->api, e);
}

static int say_ready(struct daemon *d, struct err *e)
{
    const struct serve_config *c = d->c;
    const char *url = api_endpoint(d->api);
    footprint_after_start();
    LOG_INFO(c->log, "daemon.ready", LF_STR("endpoint", url), LF_STR("state_dir", c->state->dir),
             LF_STR("version", BATCHAID_VERSION),
             LF_INT("ms", (time_now_us() - c->started_us) / 1000));
    under_way_listens(url);
    bool said = printf("ready %s\n", url) >= 0 && fflush(stdout) == 0;
    if (!said && !under_way_is_again()) { /* a restarted program has printed it before */
        endpoint_withdraw(c->state);
        return err_errno(e, ERR_IO, "cannot write to standard output");
    }
    notify_manager("READY=1");
    return 0;
}

static void on_seeded(void *ctx, bool good)
{
    struct daemon *d = ctx;
    struct err e;
    if (d->readiness.stopping)
        return;
    d->readiness.seeding = false;
    if (good && say_ready(d, &e) == 0)
        return;
    if (!good)
        err_set(&e, ERR_CONFIG, NULL, "the seed %s is not applied", d->c->seed_file);
    LOG_ERROR(d->c->log, "daemon.not_seeded", LF_STR("why", e.msg));
    d->seed_failed = true;
    endpoint_withdraw(d->c->state);
    stop(d);
}

static int announce(struct daemon *d, struct err *e)
{
    const struct serve_config *c = d->c;
    transfers_set_own(d->transfers, api_local_endpoint(d->api));
    const struct endpoint ep = {.url = (char *)(uintptr_t)api_local_endpoint(d->api),
                                .subscription_id = c->config->subscription_id,
                                .config = (char *)(uintptr_t)c->config_path,
                                .testing_key = (char *)(uintptr_t)c->testing_key};
    if (endpoint_publish(c->state, &ep, e) < 0)
        return -1;
    if (c->testing_key)
        LOG_WARN(c->log, "testing.enabled",
                 LF_STR("why", "--testing: everybody with the key can make requests fail and "
                               "remove all data; for tests only"));
    if (!c->seed_file)
        return say_ready(d, e);
    d->readiness.seeding = true;
    d->seeding = (struct seeding){.log = c->log, .done = on_seeded, .ctx = d};
    return seeding_begin(&d->seeding, &d->loop, c->state->dir, c->seed_file, e);
}

/* --- the process, before there are threads ---------------------------------------------------- */

static void raise_descriptors(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) < 0)
        return;
    rlim_t want = r.rlim_max < MAX_DESCRIPTORS ? r.rlim_max : MAX_DESCRIPTORS;
    if (r.rlim_cur >= want)
        return;
    r.rlim_cur = want;
    setrlimit(RLIMIT_NOFILE, &r);
}

/* Sets the number of threads of libuv's pool. They resolve names (at most half of them) and compute
 * logins. With libuv's default of four, a dead DNS server would delay many machines. */
static void size_thread_pool(void)
{
    setenv("UV_THREADPOOL_SIZE", MACHINE_THREADS, 0);
}

int serve_run(const struct serve_config *c, struct err *e)
{
    struct daemon d = {.c = c};
    footprint_begin();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that exceeds its limit becomes an error of the write */
    raise_descriptors();
    size_thread_pool();
    open_loop(&d);
    served_time_open(&d.time, d.tools, &d.storage, c->testing_key ? d.files : NULL);
    footprint_between(); /* frees memory that making the certificates took */
    int rc = open_storage(&d, e);
    if (rc == 0)
        rc = open_scheduler(&d, e);
    footprint_between();
    if (rc == 0)
        rc = open_api(&d, e);
    if (rc == 0)
        rc = announce(&d, e);
    watching_begin(&d.watching, d.tools, c);
    if (rc < 0)
        stop(&d);
    uv_run(&d.loop, UV_RUN_DEFAULT);
    assert(!d.api && !d.sched && !d.storage && d.stopping_rooms == 0);
    /* A handle that is still open means that a room has not closed it. */
    must(uv_loop_close(&d.loop));
    reload_free(&d.reload);
    node_provider_free(d.local);
    node_provider_free(d.machines);
    shares_free(d.shares);
    journal_free(d.journal);
    turns_free(d.deps.azstorage.turns);
    config_texts_free(d.vm_sizes);
    listens_free(&d.listens);
    metering_free(&d.metering);
    hosts_free(&d.own_hosts);
    new_clusters_free(d.deps.batchai.new_clusters);
    shown_jobs_free(d.deps.batchai.shown_jobs);
    codes_free(d.deps.aad.codes);
    terminals_free(d.deps.admin.terminals);
    gpu_board_free(d.deps.admin.gpus);
    event_streams_free(d.deps.admin.event_streams);
    testing_log_free(d.deps.testing.log);
    testing_events_free(d.deps.testing.events);
    if (rc == 0 && d.seed_failed)
        rc = err_set(e, ERR_CONFIG, NULL, "the seed %s is not applied", c->seed_file);
    if (rc == 0)
        LOG_INFO(c->log, "daemon.stopped");
    return rc;
}
