/* SPDX-License-Identifier: MIT
 *
 * What the handlers of shares and containers share. Both are rows of one kind; the words say in
 * what they differ here.
 */
#ifndef API_ARM_STORAGE_SHARE_H
#define API_ARM_STORAGE_SHARE_H

#include "api/arm/storage/account.h"

struct share_words {
    enum share_kind kind;
    const char *noun, *above, *collection; /* "share", "fileServices", "shares" */
    const struct schema *schema;
    int not_found; /* kind of error */
    bool special;  /* may be called $root, $web, $logs */
};

extern const struct share_words share_words, container_words;

/* The share of the path; STORAGE_RM's not_found unless it is there. Sets *acct too. */
int find_share(struct request *r, const struct share_words *w, struct storage_account *acct,
               struct share *s, struct err *e) MUST_CHECK;
json_t *share_render(struct request *r, const struct share_words *w,
                     const struct storage_account *acct, const struct share *s);
/* The lease's state now: stored leases end by time. */
enum lease_state share_lease(const struct share *s, int64_t now_us);

#endif
