/* SPDX-License-Identifier: MIT
 *
 * Replies of the data plane: OData's envelope, ETags and the headers of writes. Each object that
 * clients can change stores the instant of its last change (modified_us). The ETag is this instant,
 * in ticks. A client's change sets it to batch_modified(r, was); changes by the scheduler (states,
 * counters) do not.
 */
#ifndef API_PLANE_BATCH_REPLY_H
#define API_PLANE_BATCH_REPLY_H

#include "api/http/request.h"

#define BATCH_CONTENT_TYPE "application/json;odata=minimalmetadata"

/* "https://HOST/$metadata#FRAGMENT"; arena. */
const char *batch_metadata(struct request *r, const char *fragment);
/* "https://HOST/PATH" with the host of the request; `path` begins with a slash. Arena. */
const char *batch_url(struct request *r, const char *path);
/* A segment of such a path, percent-encoded; arena. */
const char *batch_segment(struct request *r, const char *name);

/* The ETag "0x8D5..." of such an instant, and the instant in the form of replies; arena. */
const char *batch_etag_text(struct request *r, int64_t modified_us);
const char *batch_time_text(struct request *r, int64_t us); /* NULL: not yet */
/* Adds ETag and Last-Modified. */
void batch_etag(struct request *r, int64_t modified_us);
/* The instant of a change that is made now. It is later than the last change, `was_us` (0: a new
 * object). */
int64_t batch_modified(const struct request *r, int64_t was_us);
/* Checks the four conditional headers. `modified_us` 0: the object does not exist yet. */
int batch_conditions(struct request *r, int64_t modified_us, struct err *e) MUST_CHECK;

/* Replies with the body unchanged; steals it. */
REPLIED batch_reply_json(struct request *r, int status, json_t *body);
/* 200 with one element: `object` is its JSON text, "{...}"; odata.metadata is inserted in front.
 * Takes the text over. */
REPLIED batch_reply_element(struct request *r, const char *fragment, struct strbuf *object);
/* Replies without a body to a write or action on the resource at `path`, with DataServiceId; a 201
 * also has a Location. modified_us 0: without an ETag. */
REPLIED batch_reply_written(struct request *r, int status, const char *path, int64_t modified_us);

#endif
