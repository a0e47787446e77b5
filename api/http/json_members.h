/* SPDX-License-Identifier: MIT
 *
 * Members of a small object in JSON, read by a table. What is wrong is said with its place, its
 * value, and what would be right: "reply.status is 200; it must be 400 to 599.".
 */
#ifndef API_HTTP_JSON_MEMBERS_H
#define API_HTTP_JSON_MEMBERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"

/* One of the seven pointers says of which kind the member is, and takes the value; it stays as it
 * was if the member is not there. Texts and `any` are the document's. */
struct member {
    const char *name;
    const char **text;
    int *number; /* a whole number from min to max */
    int64_t *big;
    int64_t *ms;      /* seconds from min to max, perhaps with a fraction, in milliseconds */
    int64_t *span_us; /* a duration of ISO 8601, in microseconds, from 0 to max */
    bool *flag;
    const json_t **any; /* of any kind: the caller checks it */
    int64_t min, max;   /* of a number; of a text `max` is how many bytes it may have, 0: any */
    const char *right;  /* what a text is to be, for errors; NULL: "a text" */
    bool needed;
};

/* `o` may be NULL: nothing is there. `where` is what it is in: "" (the body), "match", "rules[2]".
 * ERR_INVALID_PROPERTY: no object, a member that is not in the table, or of the wrong kind, or out
 * of its bounds. ERR_MISSING_PROPERTY: a member that is needed. The members before it are read. */
int members_read(const json_t *o, const char *where, const struct member *members, size_t n,
                 struct err *e);

/* For a table that is an array: its members and how many. */
#define MEMBERS(table) (table), sizeof(table) / sizeof *(table)

/* How errors show a value: `"2s"`, `1.5`, `null`, `a list`, `an object`. Returns `out`. */
#define MEMBER_VALUE_SIZE 80
const char *member_value(const json_t *value, char out[MEMBER_VALUE_SIZE]);

#endif
