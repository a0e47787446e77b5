/* SPDX-License-Identifier: MIT
 *
 * The settings of the blob or the file service of an account, <StorageServiceProperties>, as one
 * JSON object: the members that the resource manager has too (cors, deleteRetentionPolicy,
 * defaultServiceVersion, protocolSettings) are named as it names them, the others are in the member
 * SETTINGS_OWN, which it does not show.
 * https://learn.microsoft.com/rest/api/storageservices/set-blob-service-properties
 */
#ifndef API_PLANE_STORAGE_SERVICE_SETTINGS_H
#define API_PLANE_STORAGE_SERVICE_SETTINGS_H

#include <jansson.h>

#include "api/http/xml.h"
#include "api/plane/storage/sas.h"
#include "lib/strbuf.h"

#define SETTINGS_OWN "dataPlane"

/* Puts what a document says into `doc`; what it does not mention stays. `doc` is not to be used
 * after a failure. ERR_INVALID_CONTENT, AZSTORAGE_NODE_*: the element is err's target. */
int settings_read(const struct xml *root, enum sas_service service, json_t *doc,
                  struct err *e) MUST_CHECK;
/* Appends the whole document. `doc`: NULL, or of any content: what is not as it should be counts as
 * not set. */
void settings_write(struct strbuf *b, enum sas_service service, const json_t *doc);

#endif
