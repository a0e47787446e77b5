/* SPDX-License-Identifier: MIT
 *
 * Numbers for accounts of jobs. The site's configuration sets the range, which must be free. A
 * directory of the machine records the holders of numbers, so that two agents never assign the same
 * number to different jobs, and several nodes of one machine assign the same number to the same
 * job. No account of the machine is made; names.h gives numbers names.
 *
 * `first` is the group of all jobs. The other numbers form pairs: the first for a job, the second
 * for ending the processes of the first (lease_end.h). They are assigned in turn, so that a number
 * is reused as late as possible. The upper half of a range that is large enough is for accounts
 * with room: the NODE_UID_ROOM numbers before and after such a number are never assigned.
 *
 * (free) --uids_take--> held, perhaps by several --uids_let_go--> ending --uids_forget--> (free)
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

/* A holder of numbers: a node root. Its incarnation distinguishes it from an earlier root at this
 * path. */
struct uid_holder {
    const char *root, *incarnation;
};

/* Checks that the range is above the ids of people and programs, and below the highest user id.
 * ERR_INVALID_PROPERTY. */
int uids_check(const struct uid_range *range, struct err *e) MUST_CHECK;

/* Takes a number for the job called `name`; this root holds it from now on. `room`: takes a number
 * with room, if the range has such numbers. */
int uids_take(const struct uid_range *range, bool room, const struct uid_holder *h,
              const char *name, uid_t *out, struct err *e) MUST_CHECK;
/* Whether the number is for an account with room. */
bool uid_has_room(uid_t uid);
/* The root gives up the number. The number is not free yet. 1: no other root holds it; 0: another
 * root does. */
int uids_let_go(const struct uid_holder *h, const char *name, struct err *e) MUST_CHECK;
/* Frees a number that was given up. */
void uids_forget(const struct uid_holder *h, const char *name);
/* Called for a number that the root still holds: records the number again if its entry is missing.
 * (An entry may be missing because the root could not be reached when another agent checked it, or
 * because of a power cut.) */
int uids_keep(const struct uid_holder *h, const char *name, uid_t uid, struct err *e) MUST_CHECK;
/* Like uids_keep(), for a number whose lease record is missing, so that only the owner of a
 * directory shows the number. 1: another job has the number. */
int uids_take_back(const struct uid_holder *h, const char *name, uid_t uid,
                   struct err *e) MUST_CHECK;
/* Forgets the root's numbers for which knows() returns false: an agent was killed before it could
 * use them. Returns whether other roots hold numbers. */
bool uids_tidy(const struct uid_holder *h, bool (*knows)(const char *root, const char *name));
/* Starts a process that forgets the numbers of removed roots after no process runs with them. The
 * caller's loop reaps it. */
void uids_forget_gone(const struct uid_holder *h);

#endif
