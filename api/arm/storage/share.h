/* SPDX-License-Identifier: MIT
 *
 * Declarations for the handlers of shares and containers. Both are rows of one table and kinds of
 * resources (api/arm/kind.h); struct share_words contains their differences.
 */
#ifndef API_ARM_STORAGE_SHARE_H
#define API_ARM_STORAGE_SHARE_H

#include "api/arm/storage/account.h"

struct share_words {
    enum share_kind kind;
    const char *noun, *above, *collection; /* "share", "fileServices", "shares" */
    bool special;                          /* the names $root, $web and $logs are valid */
};

/* A share or a container; rm_kind.of shows which. */
struct rm_share {
    struct storage_account account;
    struct share row;
    int64_t usage; /* the bytes of its files, if has_usage */
    bool has_usage;
};

json_t *share_render(struct request *r, const struct share_words *w, const struct rm_share *x);

#endif
