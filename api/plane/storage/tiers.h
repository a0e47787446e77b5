/* SPDX-License-Identifier: MIT
 *
 * Access tiers of blobs, stored among the properties of their rows. Hot, Cool and Cold are only
 * names without effect. The bytes of a blob in the tier Archive cannot be read over REST until it
 * is rehydrated.
 *
 *   any -> Archive -> rehydration -> Hot, Cool or Cold
 *
 * A rehydration takes no time, except in strict mode: then the row has the instants at which it
 * began, and the daemon's clock shows whether it is over. Nothing is written when it ends.
 * https://learn.microsoft.com/azure/storage/blobs/archive-rehydrate-overview
 */
#ifndef API_PLANE_STORAGE_TIERS_H
#define API_PLANE_STORAGE_TIERS_H

#include <stdbool.h>

#include "api/plane/storage/items.h"
#include "model/spec.h"

struct tier {
    const char *name;     /* NULL: the account's tier, Hot */
    bool archived;        /* the name is Archive */
    const char *to;       /* the new tier of a rehydration that is not over; NULL: there is none */
    const char *priority; /* the priority of the rehydration */
};
/* The present tier. `subscription`: the one of the blob's account. `f`: the facts of the blob's
 * file; NULL: not known. If a job has written the file since, the blob is not archived. */
struct tier tier_of(struct arena *a, const struct wakes *wakes, const char *subscription,
                    const struct share_item *i, const struct file_facts *f);
/* Like tier_of(), with the clock of a request. */
struct tier tier_now(struct request *r, const char *subscription, const struct share_item *i,
                     const struct file_facts *f);
/* Like tier_now(), for a blob of the request's account. */
struct tier tier_here(struct request *r, const struct share_item *i, const struct file_facts *f);

/* The status of a rehydration that is not over: "rehydrate-pending-to-hot". */
const char *tier_status(struct request *r, const struct tier *t);

/* Sets the tier in the row, and ends a rehydration. `tier` NULL: the account's default tier. */
void tier_set(struct arena *a, struct share_item *i, const char *tier);
/* Begins to rehydrate an archived blob to this tier. If that takes no time, the blob has the tier
 * at once. `high`: the priority is High. */
void tier_rehydrate(struct request *r, struct share_item *i, const char *tier, bool high);
/* Raises the priority of a rehydration to High. */
void tier_hasten(struct request *r, struct share_item *i);

/* Reads x-ms-access-tier; *out NULL: not given. */
int tier_read(struct request *r, const char **out, struct err *e) MUST_CHECK;
/* Reads x-ms-rehydrate-priority: High or Standard; *out NULL: not given. */
int tier_read_priority(struct request *r, const char **out, struct err *e) MUST_CHECK;

/* Sets AZSTORAGE_ARCHIVED; the message has the remedy. Returns -1. */
int tier_refuse(const struct tier *t, struct err *e);
/* For a GET of a file of a share or container: fails with AZSTORAGE_ARCHIVED if the file is an
 * archived blob. */
int tier_check_file(struct request *r, const struct mount_volume *v, const char *path,
                    const struct file_facts *f, struct err *e) MUST_CHECK;

#endif
