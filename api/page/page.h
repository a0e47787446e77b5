/* SPDX-License-Identifier: MIT
 *
 * The page at "/": files that a browser loads (files/ and vendor/), embedded compressed. They need
 * no login, for they contain nothing of the site; what they show comes from the REST API, with the
 * login of whoever looks.
 */
#ifndef API_PAGE_PAGE_H
#define API_PAGE_PAGE_H

#include "api/http/service.h"

extern const struct service page_service;

#endif
