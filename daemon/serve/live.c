/* SPDX-License-Identifier: MIT */
#include "daemon/serve/live.h"

#include "daemon/serve/serve_priv.h"
#include "scheduler/scheduler.h"
#include "storage/shares/shares.h"

#define DAY_US (INT64_C(24) * 3600 * 1000000)

struct keep_limits live_keep(const struct config *c)
{
    return (struct keep_limits){
        {[KEEP_OWNERS] = {c->keep_job_days * DAY_US, c->keep_jobs},
         [KEEP_EVENTS] = {c->keep_event_days * DAY_US, c->keep_events},
         [KEEP_OPERATIONS] = {c->keep_operation_days * DAY_US, c->keep_operations},
         [KEEP_OUTPUTS] = {c->keep_output_days * DAY_US, 0}}};
}

struct api_settings live_api(const struct config *config)
{
    return (struct api_settings){.token_lifetime_s = (int)config->token_lifetime_s,
                                 .newer_versions = config->newer_versions,
                                 .retry_after_s = (int)config->retry_after_s};
}

/* Changes the settings. The scheduler is first, because only it can refuse. */
int live_take(void *ctx, const struct config *config, const struct site *site, struct err *e)
{
    struct daemon *d = ctx;
    const struct sched_settings sc = {.site = site,
                                      .autoscale_idle_s = (int)config->autoscale_idle_s,
                                      .kept_outputs = (int)config->kept_outputs,
                                      .backfill = (const char *const *)config->backfill.items,
                                      .n_backfill = config->backfill.n,
                                      .keep = live_keep(config)};
    if (!d->sched || !d->api)
        return err_set(e, ERR_UNAVAILABLE, NULL, "the daemon is starting or stopping");
    if (sched_change(d->sched, &sc, e) < 0)
        return -1;
    d->c->log->level = config_log_level(config->log_level);
    shares_keep(d->shares, config->deleted_days * DAY_US);
    const struct api_settings settings = live_api(config);
    api_change(d->api, &settings);
    d->batch.quotas = (struct batch_quotas){config->quota_batch_jobs, config->quota_batch_pools};
    d->deps.batchai.cluster_quota = (int)config->quota_clusters;
    d->deps.batchai.core_quota = (int)config->quota_cores;
    return 0;
}

void live_meter(void *ctx, struct metering *m)
{
    struct daemon *d = ctx;
    /* without the api the daemon still starts, and reads the token later, or it stops */
    if (d->api) {
        metering_free(&d->metering);
        d->metering = *m;
        *m = (struct metering){0};
        deps_meter(d, &d->deps.metrics);
    }
}
