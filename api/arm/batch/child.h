/* SPDX-License-Identifier: MIT
 *
 * The common part of pools and certificates in the management plane: conditions (If-Match),
 * $select, the JSON around the properties, and deletion.
 */
#ifndef API_ARM_BATCH_CHILD_H
#define API_ARM_BATCH_CHILD_H

#include "api/arm/batch/account.h"
#include "api/plane/batch/list.h"
#include "model/schema.h"

struct child_kind {
    const char *collection;          /* "pools" */
    const struct schema *whole;      /* id, name, type, etag, properties, identity */
    const struct schema *properties; /* the members of `properties` in `whole` */
    const char *deletions;           /* last but one segment of the URL for polling deletions */
};
/* A pool or certificate. */
struct child {
    const struct child_kind *kind;
    const struct batch_account *account;
    const char *name;
    int64_t updated_us; /* for its ETag */
    const char *tags;   /* JSON text; NULL: no tags */
};

/* Fails if the request's If-Match or If-None-Match does not permit it. updated_us 0: the resource
 * does not exist. */
int child_conditions(struct request *r, int64_t updated_us, struct err *e) MUST_CHECK;
/* Writes the resource with the properties that are in the set; takes over the reference to
 * `properties`. */
void child_render(struct request *r, const struct child *c, json_t *properties, schema_set set,
                  struct strbuf *out);
/* The context (batch_list.of) with which batch_rows.render writes the items of a list. */
struct child_list {
    struct batch_account account;
    schema_set set;
};
/* Replies with the list of the account in the path. */
REPLIED child_list(struct request *r, const struct child_kind *kind, const struct batch_rows *rows);
/* Replies with 200, the resource and its ETag. */
REPLIED child_show(struct request *r, const struct child *c, json_t *properties);
/* Replies with 202 and the URL for polling, ...Results/NAME-TICKS. TICKS is the time of the last
 * change, so a new resource with the same name has a different URL. */
REPLIED child_deleted(struct request *r, const struct child *c);
/* Splits NAME-TICKS of a polling URL in the path: returns NAME. *ticks 0: invalid. */
const char *child_deletion(struct request *r, uint64_t *ticks);

/* The tags in a body as the database stores them; in the request's memory. NULL: no tags. */
const char *child_tags(struct request *r, const json_t *body);
/* A time and a duration as JSON texts. New references. */
json_t *child_time(int64_t us);
json_t *child_span(int64_t us);

#endif
