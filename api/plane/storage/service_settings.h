/* SPDX-License-Identifier: MIT
 *
 * The settings of the blob or file service of an account, <StorageServiceProperties>, as one JSON
 * object. Settings that ARM has too (cors, deleteRetentionPolicy, defaultServiceVersion,
 * protocolSettings) have ARM's names. All others are in the member SETTINGS_OWN, which replies of
 * ARM do not show. https://learn.microsoft.com/rest/api/storageservices/set-blob-service-properties
 */
#ifndef API_PLANE_STORAGE_SERVICE_SETTINGS_H
#define API_PLANE_STORAGE_SERVICE_SETTINGS_H

#include <jansson.h>

#include "api/http/xml.h"
#include "api/plane/storage/sas.h"
#include "lib/strbuf.h"

#define SETTINGS_OWN "dataPlane"

/* Reads the settings of an XML document into `doc`; settings that the document lacks keep their
 * values. After a failure `doc` must not be used. ERR_INVALID_CONTENT, AZSTORAGE_NODE_*: err's
 * target is the element. */
int settings_read(const struct xml *root, enum sas_service service, json_t *doc,
                  struct err *e) MUST_CHECK;
/* Appends the whole XML document. `doc`: NULL, or any JSON, of which invalid members count as not
 * set. */
void settings_write(struct strbuf *b, enum sas_service service, const json_t *doc);

#endif
