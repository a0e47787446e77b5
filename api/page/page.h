/* SPDX-License-Identifier: MIT
 *
 * The page at "/": the files that a browser loads (from files/ and vendor/), compressed in the
 * daemon's program. They need no login, because they contain no data of the site. The page gets its
 * data from the REST API, with the login of its user.
 */
#ifndef API_PAGE_PAGE_H
#define API_PAGE_PAGE_H

#include "api/http/service.h"

extern const struct service page_service;

#endif
