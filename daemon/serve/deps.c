/* SPDX-License-Identifier: MIT
 *
 * Connects rooms that must not depend on each other: the server waits until the storage's writes
 * are on disk; Azure Batch's front reads blobs; the handlers of a service need a struct of that
 * service. All pointers are borrowed from the struct daemon. Runs on the loop's thread.
 */
#include "daemon/serve/serve_priv.h"

#include "api/admin/event_stream.h"
#include "api/admin/gpus.h"
#include "api/admin/terminals.h"
#include "api/arm/batchai/new_clusters.h"
#include "api/arm/batchai/shown_jobs.h"
#include "api/http/service.h"
#include "api/login/codes.h"
#include "api/plane/storage/storage_url.h"
#include "api/plane/storage/write_lock.h"
#include "daemon/certs/certs.h"
#include "scheduler/scheduler.h"
#include "storage/storage.h"
#include "storage/usage.h"

/* --- the disk --------------------------------------------------------------------------------- */

static bool has_pending(void *ctx)
{
    return st_has_pending(ctx);
}

static void when_durable(void *ctx, void (*cb)(void *cb_ctx, const struct err *why), void *cb_ctx)
{
    st_when_durable(ctx, cb, cb_ctx);
}

struct api_disk deps_disk(struct storage *st)
{
    return (struct api_disk){has_pending, when_durable, st};
}

/* --- blobs ------------------------------------------------------------------------------------ */

/* `rc`: the result of storage_url_open(); 0: no account of the daemon. Then an account name below
 * one of the daemon's hosts is an error, because it is not an account elsewhere. */
static int known(const struct batch_blobs_source *s, struct arena *a, const char *url, int rc,
                 struct err *e)
{
    static const enum api_hosts kinds[] = {HOSTS_BLOB, HOSTS_FILE};
    struct storage_url u;
    if (rc != 0 || storage_url_split(a, url, NULL, SHARE_BLOBS, &u) < 0)
        return rc;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (host_is_one_of((const char *const *)s->hosts->of[kinds[i]], u.authority))
            return err_set(e, ERR_FILE_NOT_FOUND, NULL, "there is no storage account %.100s",
                           u.account);
    return 0;
}

static int open_blob(void *ctx, struct arena *a, const char *url, const struct url_reader *reader,
                     struct blob_place *out, struct err *e)
{
    const struct batch_blobs_source *s = ctx;
    return known(s, a, url, storage_url_open(&s->store, a, url, reader, out, e), e);
}

static int open_all(void *ctx, struct arena *a, const char *url, const struct url_reader *reader,
                    struct container_place *out, struct err *e)
{
    const struct batch_blobs_source *s = ctx;
    return known(s, a, url, storage_url_open_all(&s->store, a, url, reader, out, e), e);
}

static int home(void *ctx, struct arena *a, const char *url, const char **out, struct err *e)
{
    const struct batch_blobs_source *s = ctx;
    return known(s, a, url, storage_url_home(&s->store, a, url, out, e), e);
}

static int writable(void *ctx, struct arena *a, const struct share_name *name, int64_t now_us,
                    const char **url, struct err *e)
{
    const struct batch_blobs_source *s = ctx;
    return storage_container_url(&s->store, a, name, now_us, url, e);
}

static int container(void *ctx, struct arena *a, const struct share_name *name,
                     struct container_place *out, struct err *e)
{
    const struct batch_blobs_source *s = ctx;
    return storage_container_open(&s->store, a, name, out, e);
}

static int archived(void *ctx, struct arena *a, const struct container_place *c, const char *prefix,
                    struct archived_blobs *out, struct err *e)
{
    const struct batch_blobs_source *s = ctx;
    return storage_archived_blobs(&s->store, a, c, prefix, out, e);
}

struct batch_blobs_source deps_blobs_source(struct daemon *d)
{
    return (struct batch_blobs_source){{.storage = d->storage,
                                        .access = &d->access,
                                        .storage_dir = d->c->state->storage,
                                        .token_key = d->c->credentials->token_key},
                                       &d->own_hosts};
}

struct batch_blobs deps_blobs(struct batch_blobs_source *s)
{
    return (struct batch_blobs){open_blob, open_all, home, writable, container, archived, s};
}

/* --- services --------------------------------------------------------------------------------- */

static struct testing testing_deps(struct daemon *d, const struct arm *arm)
{
    bool on = d->c->testing_key != NULL;
    return (struct testing){.arm = *arm,
                            .key = d->c->testing_key,
                            .log = on ? testing_log_create(&d->loop) : NULL,
                            .faults = d->scripted.faults,
                            .events = on ? testing_events_create(&d->loop, d->storage) : NULL,
                            .rules = d->scripted.rules,
                            .strict = d->scripted.strict,
                            .clock = d->time.clock,
                            .services = d->services,
                            .n_services = API_SERVICES,
                            .seed = {.arm = *arm,
                                     .lane = d->logins,
                                     .storage_dir = d->c->state->storage,
                                     .files = d->files,
                                     .packages = d->packages,
                                     .batch = &d->batch}};
}

static struct azstorage azstorage_deps(struct daemon *d)
{
    return (struct azstorage){.storage = d->storage,
                              .access = &d->access,
                              .fleet = sched_fleet(d->sched),
                              .runs = sched_runs(d->sched),
                              .files = d->files,
                              .shares = d->shares,
                              .journal = d->journal,
                              .turns = turns_create(),
                              .wakes = sched_wakes(d->sched),
                              .storage_dir = d->c->state->storage,
                              .leases = &d->leases};
}

static int64_t certificate_ends_us(const void *ctx, bool of_site)
{
    return of_site ? certs_site_ends_us(ctx) : certs_authority_ends_us(ctx);
}

void deps_meter(const struct daemon *d, struct metrics *out)
{
    out->token = d->metering.token;
    out->networks = d->metering.networks;
    out->n_networks = d->metering.n;
}

/* From this call on, use is counted. */
static struct metrics metrics_deps(struct daemon *d)
{
    int64_t begun_us = loop_wall_us(d->time.loop);
    st_usage_count_from(d->storage, d->time.loop, begun_us);
    struct metrics m = {.storage = d->storage,
                        .fleet = sched_fleet(d->sched),
                        .runs = sched_runs(d->sched),
                        .wakes = sched_wakes(d->sched),
                        .files = d->files,
                        .fronts = &d->fronts,
                        .access = &d->access,
                        .loop = d->time.loop,
                        .begun_us = begun_us,
                        .state_dir = d->c->state->dir,
                        .backed_up = d->c->state->backed_up,
                        .certificate_ends_us = certificate_ends_us,
                        .certificates = d->c->certs,
                        .people = d->c->config->metrics_people};
    deps_meter(d, &m);
    return m;
}

static struct admin admin_deps(struct daemon *d)
{
    const struct serve_config *c = d->c;
    return (struct admin){.sched = d->sched,
                          .samples = d->samples,
                          .fleet = sched_fleet(d->sched),
                          .wakes = sched_wakes(d->sched),
                          .storage = d->storage,
                          .access = &d->access,
                          .shares = d->shares,
                          .files = d->files,
                          .terminals = terminals_create(&d->loop, c->log),
                          .gpus = gpu_board_create(),
                          .event_streams =
                              event_streams_create(&d->loop, d->time.loop, c->log, d->storage,
                                                   &d->access, sched_fleet(d->sched)),
                          .authority = certs_authority(c->certs),
                          .reload = {reload_ask, &d->reload}};
}

struct api_deps deps_api(struct daemon *d)
{
    const struct serve_config *c = d->c;
    const struct config *cf = c->config;
    d->leases = lease_clock_begin(d->time.loop);
    const struct arm arm = {.storage = d->storage,
                            .sched = d->sched,
                            .fleet = sched_fleet(d->sched),
                            .runs = sched_runs(d->sched),
                            .shares = d->shares,
                            .leases = &d->leases,
                            .front = &d->front,
                            .access = &d->access,
                            .subscription_name = cf->subscription_name,
                            .provider = "Microsoft.BatchAI",
                            .strict = cf->strict};
    struct arm keyvault = arm, storage_rm = arm, batch = arm;
    keyvault.provider = "Microsoft.KeyVault";
    storage_rm.provider = "Microsoft.Storage";
    batch.provider = "Microsoft.Batch";
    return (struct api_deps){
        .keyvault = {.arm = keyvault,
                     .suffixes = (const char *const *)cf->vault_suffixes.items,
                     .n_suffixes = cf->vault_suffixes.n},
        .storage_rm = storage_rm,
        .batch = {batch, &d->batch, &d->blobs.store},
        .batchrm = {batch, d->packages, d->files, &d->batch, &d->blobs.store},
        .batchai = {.arm = arm,
                    .files = d->files,
                    .storage_dir = c->state->storage,
                    .new_clusters = new_clusters_create(d->time.loop, config_resizing_s(cf)),
                    .shown_jobs = shown_jobs_create(d->storage, SHOWN_JOBS_BYTES),
                    .cluster_quota = (int)cf->quota_clusters,
                    .core_quota = (int)cf->quota_cores},
        .azstorage = azstorage_deps(d),
        .admin = admin_deps(d),
        .authorization = {.access = &d->access},
        .graph = {.access = &d->access},
        .aad = {.client_id = c->credentials->client_id,
                .client_secret = c->credentials->client_secret,
                .access = &d->access,
                .codes = codes_create()},
        .testing = testing_deps(d, &arm),
        .metrics = metrics_deps(d),
        .health = {.storage = d->storage,
                   .fleet = sched_fleet(d->sched),
                   .state_dir = c->state->dir,
                   .readiness = &d->readiness,
                   .begun_us = loop_mono_us(d->tools),
                   .loop = d->tools}};
}
