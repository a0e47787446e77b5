/* SPDX-License-Identifier: MIT
 *
 * Writes rows as JSON for the requested api-version.
 */
#ifndef API_ARM_BATCHAI_RENDER_H
#define API_ARM_BATCHAI_RENDER_H

#include "api/arm/batchai/batchai.h"
#include "model/resource.h"

void render_workspace(struct request *r, const struct workspace *w, struct strbuf *out);
void render_experiment(struct request *r, const struct experiment *x, struct strbuf *out);
void render_cluster(struct request *r, const struct cluster *c, struct strbuf *out);
void render_file_server(struct request *r, const struct file_server *f, struct strbuf *out);
/* The subnet that a document names; NULL: none. */
const char *own_subnet(const json_t *doc);
/* The subnet of a file server, or of a cluster that mounts a file server: the one in the document;
 * if the document names none, a subnet like the one that the real service would create. NULL: none.
 * The text is in the arena or the (parsed) document. */
const char *file_server_subnet(struct request *r, const struct file_server *f, const json_t *doc);
const char *cluster_subnet(struct request *r, const struct cluster *c, const json_t *doc);
/* Removes the subnet from a given document if it is `subnet`: the client has only copied it from an
 * earlier reply. */
void forget_subnet(json_t *given, const char *subnet);
void render_job(struct request *r, const struct job *j, struct strbuf *out);

/* "/subscriptions/S/resourceGroups/rg/providers/Microsoft.BatchAI/workspaces/..."; in the arena.
 * `collection` is the lower-case last segment ("clusters"). */
const char *render_id(struct request *r, const struct scope *s, const char *collection,
                      const char *name);

/* Adds ETag and Last-Modified: the time of the last write to the resource by a user. */
void reply_etag(struct request *r, int64_t updated_us);

/* Replies with {"value":[{"nodeId","ipAddress","port"}]} for these nodes. */
REPLIED reply_remote_login(struct request *r, const struct node *nodes, size_t n);

#endif
