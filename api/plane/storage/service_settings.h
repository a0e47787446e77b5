/* SPDX-License-Identifier: MIT
 *
 * The settings of the blob or file service of an account, <StorageServiceProperties>, as one JSON
 * object. Members that ARM has too (cors, deleteRetentionPolicy, defaultServiceVersion,
 * protocolSettings) have ARM's names; the others are in the member SETTINGS_OWN, which ARM does not
 * show. https://learn.microsoft.com/rest/api/storageservices/set-blob-service-properties
 */
#ifndef API_PLANE_STORAGE_SERVICE_SETTINGS_H
#define API_PLANE_STORAGE_SERVICE_SETTINGS_H

#include <jansson.h>

#include "api/http/xml.h"
#include "api/plane/storage/sas.h"
#include "lib/strbuf.h"

#define SETTINGS_OWN "dataPlane"

/* Puts the settings of a document into `doc`; settings that the document lacks keep their values.
 * After a failure `doc` must not be used. ERR_INVALID_CONTENT, AZSTORAGE_NODE_*: err's target is
 * the element. */
int settings_read(const struct xml *root, enum sas_service service, json_t *doc,
                  struct err *e) MUST_CHECK;
/* Appends the whole document. `doc`: NULL, or any JSON; invalid members are treated as not set. */
void settings_write(struct strbuf *b, enum sas_service service, const json_t *doc);

#endif
