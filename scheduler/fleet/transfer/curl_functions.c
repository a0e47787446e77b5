/* SPDX-License-Identifier: MIT
 *
 * Loads libcurl and fills the table of its functions. The library stays loaded.
 */
#include "scheduler/fleet/transfer/curl_functions.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#ifndef CURL_SONAME /* the Makefile sets the SONAME of the libcurl with which it builds */
#define CURL_SONAME "libcurl-gnutls.so.4"
#endif

static const struct {
    const char *name;
    size_t at;
} wanted[] = {
#define CURL_ROW(name) {#name, offsetof(struct curl_functions, name)},
    CURL_FUNCTIONS(CURL_ROW)
#undef CURL_ROW
};

/* POSIX allows a function as the result of dlsym(), C does not. */
static int find(void *library, const char *soname, const char *name, void *member, struct err *e)
{
    void *found = dlsym(library, name);
    if (!found)
        return err_set(e, ERR_INTERNAL, NULL, "%s has no %s", soname, name);
    memcpy(member, &found, sizeof found);
    return 0;
}

int curl_functions_load_from(const char *soname, struct curl_functions *f, struct err *e)
{
    void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return err_set(e, ERR_INTERNAL, NULL, "%s cannot be loaded: %.300s", soname, dlerror());
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (find(library, soname, wanted[i].name, (char *)f + wanted[i].at, e) < 0)
            return -1;
    return 0;
}

int curl_functions_load(struct curl_functions *f, struct err *e)
{
    return curl_functions_load_from(CURL_SONAME, f, e);
}
