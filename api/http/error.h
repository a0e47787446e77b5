/* SPDX-License-Identifier: MIT
 *
 * The boundary where struct err becomes HTTP: the only reader of the status column.
 */
#ifndef API_HTTP_ERROR_H
#define API_HTTP_ERROR_H

#include <jansson.h>

#include "api/http/service.h"

int error_status(enum err_code code);
/* True for errors that ARM's gateway answered, before the resource provider saw the request. */
int error_is_gateway(enum err_code code);
/* {"error":{"code","message"[,"target"]}}; new reference. */
json_t *error_body(struct error_words words, const struct err *e);

#endif
