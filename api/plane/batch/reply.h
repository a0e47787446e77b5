/* SPDX-License-Identifier: MIT
 *
 * Replies of the data plane: OData's envelope, ETags and the headers of writes. Each object that
 * clients can change stores the instant of its last change (modified_us). The ETag is this instant,
 * in ticks. A client's change sets the instant to batch_modified(r, was); changes by the scheduler
 * (states, counters) leave it.
 */
#ifndef API_PLANE_BATCH_REPLY_H
#define API_PLANE_BATCH_REPLY_H

#include "api/http/request.h"

#define BATCH_CONTENT_TYPE "application/json;odata=minimalmetadata"

/* The URL "https://HOST/$metadata#FRAGMENT", in the arena. */
const char *batch_metadata(struct request *r, const char *fragment);
/* The URL "https://HOST/PATH" with the host of the request, in the arena; `path` begins with a
 * slash. */
const char *batch_url(struct request *r, const char *path);
/* A name as a segment of such a path, percent-encoded, in the arena. */
const char *batch_segment(struct request *r, const char *name);

/* The ETag "0x8D5..." of an instant of change, and an instant in the form of replies; in the
 * arena. */
const char *batch_etag_text(struct request *r, int64_t modified_us);
/* NULL: us is 0, so the event has not happened */
const char *batch_time_text(struct request *r, int64_t us);
/* Adds ETag and Last-Modified. */
void batch_etag(struct request *r, int64_t modified_us);
/* The instant for a change that is made now. It is always later than `was_us`, the instant of the
 * last change (0: a new object). */
int64_t batch_modified(const struct request *r, int64_t was_us);
/* Checks the four conditional headers. `modified_us` 0: the object does not exist yet. */
int batch_conditions(struct request *r, int64_t modified_us, struct err *e) MUST_CHECK;

/* Replies with this body, without an envelope, and takes it over. */
REPLIED batch_reply_json(struct request *r, int status, json_t *body);
/* Replies 200 with one element. `object`: its JSON text, "{...}", which the reply takes over;
 * odata.metadata is inserted at its start. */
REPLIED batch_reply_element(struct request *r, const char *fragment, struct strbuf *object);
/* Replies without a body to a write or action on the resource at `path`, with the header
 * DataServiceId; a 201 also has a Location. modified_us 0: no ETag. */
REPLIED batch_reply_written(struct request *r, int status, const char *path, int64_t modified_us);

#endif
