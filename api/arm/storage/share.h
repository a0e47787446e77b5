/* SPDX-License-Identifier: MIT
 *
 * What the handlers of shares and containers share. Both are rows of one kind, and kinds of
 * the resource manager (api/arm/kind.h); the words say in what they differ.
 */
#ifndef API_ARM_STORAGE_SHARE_H
#define API_ARM_STORAGE_SHARE_H

#include "api/arm/storage/account.h"

struct share_words {
    enum share_kind kind;
    const char *noun, *above, *collection; /* "share", "fileServices", "shares" */
    bool special;                          /* may be called $root, $web, $logs */
};

/* A row of both kinds, whose `of` are the words. */
struct rm_share {
    struct storage_account account;
    struct share row;
};

json_t *share_render(struct request *r, const struct share_words *w, const struct rm_share *x);
/* The lease's state now: stored leases end by time. */
enum lease_state share_lease(const struct share *s, int64_t now_us);

#endif
