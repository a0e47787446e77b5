/* SPDX-License-Identifier: MIT
 *
 * The common part of pools and certificates in the management plane: conditions, $select, the
 * envelope, and deletion.
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
    const char *deletions;           /* the last but one segment of the URL for polling deletions */
};
/* A pool or certificate. */
struct child {
    const struct child_kind *kind;
    const struct batch_account *account;
    const char *name;
    int64_t updated_us; /* for its ETag */
    const char *tags;   /* JSON text; NULL: none given */
};

/* If-Match and If-None-Match. updated_us 0: the resource does not exist. */
int child_conditions(struct request *r, int64_t updated_us, struct err *e) MUST_CHECK;
/* Shows the properties that are in the set; steals `properties`. */
void child_render(struct request *r, const struct child *c, json_t *properties, schema_set set,
                  struct strbuf *out);
/* The items of an account's list: for batch_rows.render, as batch_list.of. */
struct child_list {
    struct batch_account account;
    schema_set set;
};
/* The list of the account in the path. */
REPLIED child_list(struct request *r, const struct child_kind *kind, const struct batch_rows *rows);
/* 200 with the resource, and its ETag. */
REPLIED child_show(struct request *r, const struct child *c, json_t *properties);
/* 202 with the URL for polling: ...Results/NAME-TICKS. TICKS is the instant of the last change, so
 * a new resource of this name has another URL. */
REPLIED child_deleted(struct request *r, const struct child *c);
/* The two parts of such a name; 0 ticks: invalid. */
const char *child_deletion(struct request *r, uint64_t *ticks);

/* The tags in a body, in the form of rows; the request's. NULL: the body has none. */
const char *child_tags(struct request *r, const json_t *body);
/* An instant and a span in the form of documents. New references. */
json_t *child_time(int64_t us);
json_t *child_span(int64_t us);

#endif
