/* SPDX-License-Identifier: MIT
 *
 * The members of a row of a list, of which a client may choose some: fields=name,state.
 */
#ifndef API_ADMIN_MEMBERS_H
#define API_ADMIN_MEMBERS_H

#include "api/http/request.h"

#define MEMBERS_MAX 64

struct member {
    const char *name;                                    /* NULL: the end of the table */
    json_t *(*show)(struct request *r, const void *row); /* NULL: the row has none */
};

/* The bits of the members in the query's `fields`; without `fields` all bits. ERR_INVALID_QUERY: an
 * unknown member; the message names the known ones. `of`: "a machine". */
int members_wanted(struct request *r, const struct member *table, const char *of, uint64_t *wanted,
                   struct err *e) MUST_CHECK;
/* The row as an object with the wanted members, in the table's order. */
json_t *members_show(struct request *r, const struct member *table, uint64_t wanted,
                     const void *row);
/* The bit of a member, which must be there. */
uint64_t members_bit(const struct member *table, const char *name);

/* A query parameter; NULL: it is absent or empty. Browsers send empty fields of forms. */
const char *query_filled(struct request *r, const char *name);

/* Whether one of the words of a text "a,b" is `word`, without regard to case. */
bool words_have(const char *text, const char *word);
/* Refuses a word of `text` that is not in `names` (NULL at the end); NULL: nothing to check. The
 * message is "'X' is not a valid WHAT; use ...". */
int words_check(struct request *r, const char *parameter, const char *what, const char *text,
                const char *const *names, struct err *e) MUST_CHECK;

#endif
