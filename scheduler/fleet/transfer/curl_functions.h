/* SPDX-License-Identifier: MIT
 *
 * libcurl, loaded at its first use: it needs some twenty libraries that a daemon without transfers
 * does not use. Loading them takes 4 ms; a start without them takes 11 ms (medians of 40
 * alternating starts).
 */
#ifndef SCHEDULER_FLEET_TRANSFER_CURL_FUNCTIONS_H
#define SCHEDULER_FLEET_TRANSFER_CURL_FUNCTIONS_H

/* libcurl's type-checking macros would call the functions by their names */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "lib/err.h"

#define CURL_FUNCTIONS(X)                                                                          \
    X(curl_global_init)                                                                            \
    X(curl_global_cleanup)                                                                         \
    X(curl_easy_init)                                                                              \
    X(curl_easy_cleanup)                                                                           \
    X(curl_easy_reset)                                                                             \
    X(curl_easy_setopt)                                                                            \
    X(curl_easy_perform)                                                                           \
    X(curl_easy_getinfo)                                                                           \
    X(curl_easy_strerror)                                                                          \
    X(curl_easy_escape)                                                                            \
    X(curl_free)                                                                                   \
    X(curl_slist_append)                                                                           \
    X(curl_slist_free_all)                                                                         \
    X(curl_easy_pause)                                                                             \
    X(curl_multi_init)                                                                             \
    X(curl_multi_cleanup)                                                                          \
    X(curl_multi_setopt)                                                                           \
    X(curl_multi_add_handle)                                                                       \
    X(curl_multi_remove_handle)                                                                    \
    X(curl_multi_perform)                                                                          \
    X(curl_multi_poll)                                                                             \
    X(curl_multi_wakeup)                                                                           \
    X(curl_multi_info_read)

/* Each member has the name and the type of its function. */
struct curl_functions {
#define CURL_MEMBER(name) __typeof__(name) *name;
    CURL_FUNCTIONS(CURL_MEMBER)
#undef CURL_MEMBER
};

/* Loads libcurl, unless it is loaded. */
int curl_functions_load(struct curl_functions *f, struct err *e) MUST_CHECK;
/* Like curl_functions_load(), from the library with this SONAME. */
int curl_functions_load_from(const char *soname, struct curl_functions *f,
                             struct err *e) MUST_CHECK;

#endif
