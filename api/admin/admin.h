/* SPDX-License-Identifier: MIT
 *
 * The site's administration: machines, and what the daemon has done: docs/admin-api.md.
 */
#ifndef API_ADMIN_ADMIN_H
#define API_ADMIN_ADMIN_H

#include "api/http/request.h"

struct access;
struct files;
struct fleet;
struct sched;
struct shares;
struct storage;
struct wakes;

/* Called when a subscription was removed; `gone` may be NULL. */
struct admin_watch {
    void (*gone)(const void *ctx, const char *subscription);
    const void *ctx;
};

struct admin {
    struct sched *sched;
    struct fleet *fleet;
    const struct wakes *wakes;
    struct storage *storage;
    const struct access *access;
    struct shares *shares;
    const struct files *files;
    const char *authority; /* the certificate of the authority for clients, as PEM text */
    struct admin_watch watch;
};

/* page_service: what a browser sees at "/". It is open to all: it says nothing that a stranger may
 * not know. */
extern const struct service admin_service, page_service;
struct error_words admin_words(int kind);

static inline const struct admin *admin_of(const struct request *r)
{
    return r->deps;
}

#endif
