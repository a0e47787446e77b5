/* SPDX-License-Identifier: MIT
 *
 * For services that list their api-versions: finds the version that a request asks for, and makes
 * the errors for unknown versions. A request for a version that is newer than all versions of its
 * service is refused, or with config.newer_versions served as the newest version.
 */
#ifndef API_HTTP_VERSIONS_H
#define API_HTTP_VERSIONS_H

#include "api/http/request.h"

/* The bit of the version that the request is served as; 0: the version is not known. */
unsigned version_of_request(const struct request *r);
/* The versions that serve the request's path and method. */
unsigned versions_here(const struct request *r);
/* Whether the request's version is later than every version of its service. */
bool version_is_newer(const struct request *r);
/* Advice for a version that is newer: which version is the newest, and how to choose it. */
const char *version_advice(struct request *r);

int version_check_form(const struct request *r, struct err *e) MUST_CHECK;
/* Always fails. The error names the versions that serve the request. */
int version_refuse(struct request *r, struct err *e) MUST_CHECK;

#endif
