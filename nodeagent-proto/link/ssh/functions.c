/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/link/ssh/functions.h"

#ifndef SSH2_SONAME /* the Makefile has that of the libssh2 it builds with */
#define SSH2_SONAME "libssh2.so.1"
#endif

int ssh2_functions_load(struct ssh2_functions *f, struct err *e)
{
    static const struct library_function wanted[] = {
#define SSH2_ROW(name) LIBRARY_ROW(struct ssh2_functions, name)
        SSH2_FUNCTIONS(SSH2_ROW)
#undef SSH2_ROW
    };
    return library_load(SSH2_SONAME, wanted, sizeof wanted / sizeof wanted[0], f, e);
}
