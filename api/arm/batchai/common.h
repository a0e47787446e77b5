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

/* Fails if the body's location differs from `location`; `where` names the parent in the message. */
int check_location_given(struct request *r, const struct accepted *a, const char *where,
                         const char *location, struct err *e) MUST_CHECK;
/* Sets the document's location to `location` unless the body has one, and writes the document. */
void accepted_place(struct request *r, struct accepted *a, const char *location);
/* Writes a->doc as text to a->doc_text. Call it after all changes of a->doc. */
void accepted_write(struct request *r, struct accepted *a);
/* Adds a member with the JSON text `json` to the properties in a->doc_text, not to a->doc. */
void accepted_add(struct request *r, struct accepted *a, const char *name, const char *json,
                  size_t n);

/* Fails with BATCHAI_IMMUTABLE_PROPERTY, with the names of the properties, if the accepted body
 * differs from the stored document in properties that cannot be changed. A secret that is missing
 * in the body is no change, because clients never get secrets in replies. */
int check_immutable(struct rm *m, const char *stored_doc, const char *stored_secrets,
                    struct err *e) MUST_CHECK;

/* The error codes for a missing resource or parent: a DELETE replies with 204 for them. A missing
 * subscription is not one of them: it stays an error. */
extern const int batchai_missing[];
/* A step of a PUT: checks the resource's name. */
rm_step batchai_step_name;
/* Members that all kinds of Batch AI have: a DELETE is an asynchronous operation
 * (operation_delete(), reply 202), and replies have an ETag. */
#define BATCHAI_KIND                                                                               \
    .refuses_deleting = true, .missing = batchai_missing, .remove = batchai_remove,                \
    .headers = batchai_headers, .has_odata = true
REPLIED batchai_remove(struct rm *m);
void batchai_headers(struct rm *m);

/* The text of the member `key`; NULL: the object does not have it. */
const char *json_text_at(const json_t *o, const char *key);

#endif
