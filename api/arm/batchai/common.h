/* SPDX-License-Identifier: MIT
 *
 * Functions for the handlers of several Batch AI resources: accept a body, compare it with the
 * stored document, delete.
 */
#ifndef API_ARM_BATCHAI_COMMON_H
#define API_ARM_BATCHAI_COMMON_H

#include "api/arm/kind.h"
#include "api/http/accept.h"
#include "storage/storage.h"

/* Refuses a body whose location differs from the given one; `where` names the parent for the
 * message. */
int check_location_given(struct request *r, const struct accepted *a, const char *where,
                         const char *location, struct err *e) MUST_CHECK;
/* Puts the location into the document (the workspace's, unless the body has one), and writes it. */
void accepted_place(struct request *r, struct accepted *a, const char *location);
/* Writes a->doc to doc_text, when it needs no more changes. */
void accepted_write(struct request *r, struct accepted *a);
/* Adds a member, given as stored text, to the properties in doc_text; a->doc does not get it. */
void accepted_add(struct request *r, struct accepted *a, const char *name, const char *json,
                  size_t n);

/* Fails with BATCHAI_IMMUTABLE_PROPERTY, with the names of the properties, if the accepted body
 * differs from the stored document in properties that cannot be changed. A missing secret is no
 * change, because replies never show secrets. */
int check_immutable(struct rm *m, const char *stored_doc, const char *stored_secrets,
                    struct err *e) MUST_CHECK;

/* Errors of a DELETE whose resource or parent was not found: 204. A missing subscription is the
 * client's mistake. */
extern const int batchai_missing[];
/* A step of a PUT: checks the name. */
rm_step batchai_step_name;
/* Common members of all kinds: a DELETE is an operation, with operation_delete() and its answer,
 * 202; a reply has an ETag. */
#define BATCHAI_KIND                                                                               \
    .refuses_deleting = true, .missing = batchai_missing, .remove = batchai_remove,                \
    .headers = batchai_headers, .has_odata = true
REPLIED batchai_remove(struct rm *m);
void batchai_headers(struct rm *m);

/* Text of an object's property; NULL if absent. */
const char *json_text_at(const json_t *o, const char *key);

#endif
