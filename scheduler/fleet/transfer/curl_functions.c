/* SPDX-License-Identifier: MIT */
#include "scheduler/fleet/transfer/curl_functions.h"

#ifndef CURL_SONAME /* the Makefile sets the soname of the libcurl at build time */
#define CURL_SONAME "libcurl-gnutls.so.4"
#endif

int curl_functions_load(struct curl_functions *f, struct err *e)
{
    static const struct library_function wanted[] = {
#define CURL_ROW(name) LIBRARY_ROW(struct curl_functions, name)
        CURL_FUNCTIONS(CURL_ROW)
#undef CURL_ROW
    };
    return library_load(CURL_SONAME, wanted, sizeof wanted / sizeof wanted[0], f, e);
}
