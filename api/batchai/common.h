/* SPDX-License-Identifier: MIT
 *
 * Functions for the handlers of several Batch AI resources: accept a body, compare it with what is
 * stored, delete.
 */
#ifndef API_BATCHAI_COMMON_H
#define API_BATCHAI_COMMON_H

#include "api/arm/operation.h"
#include "api/http/request.h"
#include "storage/storage.h"

/* A request body after schema_accept(), as text for storage and as objects for reading. */
struct accepted {
    json_t *doc, *secrets; /* owned; secrets may be NULL */
    char *doc_text;        /* owned; NULL until it is written */
    char *secrets_text;    /* owned; may be NULL; wiped when released */
};

int accept_body(struct request *r, const struct schema *s, struct accepted *a,
                struct err *e) MUST_CHECK;
/* Puts the location into the document (the workspace's, unless the body has one), and writes it
 * out. */
void accepted_place(struct accepted *a, const char *location);
/* Writes a->doc to doc_text, when no more changes to it are needed. */
void accepted_write(struct accepted *a);
/* Adds a member, given as stored text, to the properties in doc_text; a->doc does not get it. */
void accepted_add(struct accepted *a, const char *name, const char *json, size_t n);
void accepted_release(struct accepted *a);

/* Fails with BATCHAI_IMMUTABLE_PROPERTY, naming the properties, if the accepted body differs from
 * the stored document in anything that cannot be changed. A secret that the body leaves out counts
 * as unchanged, as replies never show secrets. */
int check_immutable(struct request *r, const struct schema *s, const char *what, const char *name,
                    const char *stored_doc, const char *stored_secrets, const struct accepted *a,
                    struct err *e) MUST_CHECK;

/* operation_delete() and its answer: 202. */
struct replied *delete_resource(struct request *r, enum resource_kind kind, int64_t id,
                                const struct scope *scope, const char *name);
/* The answer to a DELETE whose resource was not found: 204, unless a level above is missing by the
 * client's mistake (the subscription). */
struct replied *delete_missing(struct request *r, const struct err *e);

/* An id that no row has. */
#define NO_ROW (-1)

/* Turns the path into a filter for a list. Versions without workspaces see only the resources in
 * their home (model/home.h). */
typedef int filter_fn(struct request *r, struct st_filter *f, struct err *e);
filter_fn filter_subscription, filter_group, filter_workspace;

/* Text of an object's property; NULL if absent. */
const char *json_text_at(const json_t *o, const char *key);

#endif
