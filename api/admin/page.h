/* SPDX-License-Identifier: MIT
 *
 * What a browser sees at "/": what answers here, its version, how to log in, where the docs are.
 * Open to all: it says nothing that a stranger may not know.
 */
#ifndef API_ADMIN_PAGE_H
#define API_ADMIN_PAGE_H

#include "api/http/request.h"

extern const struct service page_service;
struct error_words page_words(int kind);

#endif
