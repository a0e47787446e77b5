/* SPDX-License-Identifier: MIT
 *
 * The part of the API for administrators: machines, and records of the daemon's work. See
 * docs/admin-api.md.
 */
#ifndef API_ADMIN_ADMIN_H
#define API_ADMIN_ADMIN_H

#include <assert.h>

#include "api/http/request.h"
#include "api/http/service.h"

struct access;
struct event_streams;
struct files;
struct fleet;
struct gpu_board;
struct history;
struct sched;
struct shares;
struct storage;
struct terminals;
struct wakes;

/* `gone` is called after a subscription was removed; it may be NULL. */
struct admin_watch {
    void (*gone)(const void *ctx, const char *subscription);
    const void *ctx;
};

/* `ask` reads the configuration again and later calls `done` once: with the changes (borrowed), or
 * with the reason `why` nothing has changed. */
typedef void admin_reloaded(void *ctx, const json_t *changed, const struct err *why);
struct admin_reload {
    void (*ask)(void *of, admin_reloaded *done, void *ctx);
    void *of;
};

struct admin {
    struct sched *sched;
    struct history *samples;
    struct fleet *fleet;
    const struct wakes *wakes;
    struct storage *storage;
    const struct access *access;
    struct shares *shares;
    const struct files *files;
    struct terminals *terminals;
    struct gpu_board *gpus;
    struct event_streams *event_streams;
    const char *authority; /* the CA's certificate for clients, PEM */
    struct admin_watch watch;
    struct admin_reload reload;
};

extern const struct service admin_service;
struct error_words admin_words(int kind);

static inline const struct admin *admin_of(const struct request *r)
{
    assert(service_deps_are(r->service, "admin"));
    return r->deps;
}

#endif
