/* SPDX-License-Identifier: MIT
 *
 * The members of each row of a list. A client may select some of them: fields=name,state.
 */
#ifndef API_ADMIN_MEMBERS_H
#define API_ADMIN_MEMBERS_H

#include "api/http/request.h"

#define MEMBERS_MAX 64

struct member {
    const char *name;                                    /* NULL: the end of the table */
    json_t *(*show)(struct request *r, const void *row); /* NULL: no member */
};

/* Sets the bits of the members that the query's `fields` names; without `fields` all bits.
 * ERR_INVALID_QUERY: an unknown member; the message lists the valid names. `of` is for the message,
 * e.g. "a machine". */
int members_wanted(struct request *r, const struct member *table, const char *of, uint64_t *wanted,
                   struct err *e) MUST_CHECK;
/* The row as a JSON object with the wanted members, in the table's order. */
json_t *members_show(struct request *r, const struct member *table, uint64_t wanted,
                     const void *row);
/* The bit of the member `name`, which the table must contain. */
uint64_t members_bit(const struct member *table, const char *name);

/* A query parameter; NULL: it is absent or empty. Browsers also send the empty fields of a form. */
const char *query_filled(struct request *r, const char *name);

/* Whether one of the words of a text "a,b" is `word`, without regard to case. */
bool words_have(const char *text, const char *word);
/* Fails if a word of `text` is not in `names`, which ends with NULL. `text` NULL: succeeds. The
 * message is "'X' is not a valid WHAT; use ...". */
int words_check(struct request *r, const char *parameter, const char *what, const char *text,
                const char *const *names, struct err *e) MUST_CHECK;

#endif
