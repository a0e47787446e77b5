/* SPDX-License-Identifier: MIT
 *
 * Access tiers of blobs, among the properties of their rows. Hot, Cool and Cold are only shown. The
 * bytes of a blob in the tier Archive cannot be read over REST until it is rehydrated.
 *
 *   any -> Archive -> rehydration -> Hot, Cool or Cold
 *
 * A rehydration takes no time, except in strict mode: then its row has the instants at which it
 * began, and the served clock tells whether it is over. Nothing is written at its end.
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
    const char *to;       /* the tier that it gets by a rehydration; NULL: none is under way */
    const char *priority; /* the priority of the rehydration */
};
/* The tier at present. `subscription`: of the blob's account. `f`: the blob's file; a file that a
 * job has written since is not archived. */
struct tier tier_of(struct arena *a, const struct wakes *wakes, const char *subscription,
                    const struct share_item *i, const struct file_facts *f);
/* Like tier_of(), with the clock of a request. */
struct tier tier_now(struct request *r, const char *subscription, const struct share_item *i,
                     const struct file_facts *f);
/* Like tier_now(), for a blob of the request's account. */
struct tier tier_here(struct request *r, const struct share_item *i, const struct file_facts *f);

/* "rehydrate-pending-to-hot", of a rehydration that is under way. */
const char *tier_status(struct request *r, const struct tier *t);

/* Notes the tier, and ends a rehydration. `tier` NULL: the account's tier. */
void tier_set(struct arena *a, struct share_item *i, const char *tier);
/* The archived blob becomes this tier, if that takes no time at once. `high`: its priority. */
void tier_rehydrate(struct request *r, struct share_item *i, const char *tier, bool high);
/* A rehydration gets the priority High. */
void tier_hasten(struct request *r, struct share_item *i);

/* x-ms-access-tier. NULL in *out: none is given. */
int tier_read(struct request *r, const char **out, struct err *e) MUST_CHECK;
/* x-ms-rehydrate-priority: High or Standard; NULL in *out: none is given. */
int tier_read_priority(struct request *r, const char **out, struct err *e) MUST_CHECK;

/* AZSTORAGE_ARCHIVED, with the remedy. Always -1. */
int tier_refuse(const struct tier *t, struct err *e);
/* Fails with AZSTORAGE_ARCHIVED, too, if the file is an archived blob: for a GET of a file of a
 * share or container. */
int tier_check_file(struct request *r, const struct mount_volume *v, const char *path,
                    const struct file_facts *f, struct err *e) MUST_CHECK;

#endif
