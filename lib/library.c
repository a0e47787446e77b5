/* SPDX-License-Identifier: MIT */
#include "lib/library.h"

#include <dlfcn.h>
#include <string.h>

/* POSIX allows a function as the result of dlsym(), C does not. */
static int find(void *library, const char *soname, const char *name, void *member, struct err *e)
{
    void *found = dlsym(library, name);
    if (!found)
        return err_set(e, ERR_INTERNAL, NULL, "%s has no %s", soname, name);
    memcpy(member, &found, sizeof found);
    return 0;
}

int library_load(const char *soname, const struct library_function *wanted, size_t n, void *table,
                 struct err *e)
{
    void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return err_set(e, ERR_INTERNAL, NULL, "%s cannot be loaded: %.300s", soname, dlerror());
    for (size_t i = 0; i < n; i++)
        if (find(library, soname, wanted[i].name, (char *)table + wanted[i].at, e) < 0)
            return -1;
    return 0;
}
