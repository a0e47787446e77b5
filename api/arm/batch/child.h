/* SPDX-License-Identifier: MIT
 *
 * What pools and certificates have in common as resources of the management plane: conditions,
 * $select, the envelope, and being deleted.
 */
#ifndef API_ARM_BATCH_CHILD_H
#define API_ARM_BATCH_CHILD_H

#include "api/arm/batch/account.h"
#include "api/plane/batch/list.h"
#include "model/schema.h"

struct child_kind {
    const char *collection;          /* "pools" */
    const struct schema *whole;      /* id, name, type, etag, properties, identity */
    const struct schema *properties; /* of it */
    const char *deletions;           /* the last but one segment of where to ask of them */
};
/* One of them. */
struct child {
    const struct child_kind *kind;
    const struct batch_account *account;
    const char *name;
    int64_t updated_us; /* for its ETag */
    const char *tags;   /* JSON text; NULL: none were given */
};

/* If-Match and If-None-Match. updated_us 0: there is none. */
int child_conditions(struct request *r, int64_t updated_us, struct err *e) MUST_CHECK;
/* Shows those of its properties that are in the set; steals them. */
void child_render(struct request *r, const struct child *c, json_t *properties, schema_set set,
                  struct strbuf *out);
/* What lists show of an account: for batch_rows.render, as batch_list.of. */
struct child_list {
    struct batch_account account;
    schema_set set;
};
/* The list of the account that the path names. */
REPLIED child_list(struct request *r, const struct child_kind *kind, const struct batch_rows *rows);
/* 200 with one, and its ETag. */
REPLIED child_show(struct request *r, const struct child *c, json_t *properties);
/* 202, and where to ask whether it is gone: ...Results/NAME-TICKS, with the instant of its last
 * change, which a new one of the name does not have. */
REPLIED child_deleted(struct request *r, const struct child *c);
/* The two parts of such a name; 0 ticks: there are none. */
const char *child_deletion(struct request *r, uint64_t *ticks);

/* The tags that a body gives, as rows have them; of the request. NULL: it says nothing of them. */
const char *child_tags(struct request *r, const json_t *body);
/* An instant and a span as documents have them. New references. */
json_t *child_time(int64_t us);
json_t *child_span(int64_t us);

#endif
