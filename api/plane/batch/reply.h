/* SPDX-License-Identifier: MIT
 *
 * Replies of the data plane: OData's envelope, ETags and the headers of writes.
 *
 * Everything that a client can change has the instant of its last change (modified_us), which is
 * also its ETag, as ticks; a change sets it to batch_modified(r, was). What happens to it by itself
 * (states, counters) leaves that alone.
 */
#ifndef API_PLANE_BATCH_REPLY_H
#define API_PLANE_BATCH_REPLY_H

#include "api/http/request.h"

#define BATCH_CONTENT_TYPE "application/json;odata=minimalmetadata"

/* "https://HOST/$metadata#FRAGMENT"; arena. */
const char *batch_metadata(struct request *r, const char *fragment);
/* "https://HOST/PATH", as the client addressed us; `path` begins with a slash. Arena. */
const char *batch_url(struct request *r, const char *path);
/* A segment of such a path, percent-encoded; arena. */
const char *batch_segment(struct request *r, const char *name);

/* "0x8D5..." of such an instant, and the instant itself as replies have it; arena. */
const char *batch_etag_text(struct request *r, int64_t modified_us);
const char *batch_time_text(struct request *r, int64_t us); /* NULL: not yet */
/* Adds ETag and Last-Modified. */
void batch_etag(struct request *r, int64_t modified_us);
/* The instant of a change now of what was last changed then (0: it is new). */
int64_t batch_modified(const struct request *r, int64_t was_us);
/* The four conditional headers. `modified_us` 0: there is nothing yet. */
int batch_conditions(struct request *r, int64_t modified_us, struct err *e) MUST_CHECK;

/* A body as it is; steals it. */
REPLIED batch_reply_json(struct request *r, int status, json_t *body);
/* 200 with one element: `object` is its JSON text, "{...}", which gets odata.metadata in front.
 * Takes the text. */
REPLIED batch_reply_element(struct request *r, const char *fragment, struct strbuf *object);
/* An answer without a body to a write of the resource or the action at `path`, and its
 * DataServiceId; with 201 its Location. modified_us 0: without an ETag. */
REPLIED batch_reply_written(struct request *r, int status, const char *path, int64_t modified_us);

#endif
