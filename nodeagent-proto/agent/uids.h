/* SPDX-License-Identifier: MIT
 *
 * Numbers for accounts of jobs. The range is the site's to say, and nobody else's. Who has which is
 * noted in a directory of the machine's, so that two agents never give the same number to different
 * jobs, and several nodes of one machine give the same one to the same job. No account of the
 * machine is made; names.h says what a number is called.
 *
 * `first` is the group of all. Then numbers go in pairs: a job's, and one that ends what runs as
 * the job's (lease_end.h). They are given out in turn, so that one comes again as late as can be.
 *
 *   (free) --uids_take--> held, perhaps by several --uids_let_go--> ending --uids_forget--> (free)
 */
#ifndef NODEAGENT_PROTO_AGENT_UIDS_H
#define NODEAGENT_PROTO_AGENT_UIDS_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/err.h"

struct uid_range {
    uid_t first;
    unsigned count;
};

/* Who holds numbers: a node root, and what tells it from one that was there before it. */
struct uid_holder {
    const char *root, *incarnation;
};

/* Above those that people and programs have, and below the highest. ERR_INVALID_PROPERTY. */
int uids_check(const struct uid_range *range, struct err *e) MUST_CHECK;

/* The number of the job called `name`, which this root holds from now on. */
int uids_take(const struct uid_range *range, const struct uid_holder *h, const char *name,
              uid_t *out, struct err *e) MUST_CHECK;
/* The root holds it no more; the number is not free yet. 1: and nobody else holds it. 0: another
 * root does. */
int uids_let_go(const struct uid_holder *h, const char *name, struct err *e) MUST_CHECK;
/* What was let go is free. */
void uids_forget(const struct uid_holder *h, const char *name);
/* Forgets what the root holds and `knows` not: an agent was killed before it could use it. */
void uids_tidy(const struct uid_holder *h, bool (*knows)(const char *root, const char *name));

#endif
