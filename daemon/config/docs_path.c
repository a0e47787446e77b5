/* SPDX-License-Identifier: MIT */
#include "daemon/config/docs_path.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"

char *docs_path_find(void)
{
    /* Where `make install` puts them, and where they are beside a build. */
    static const char *const places[] = {"../share/doc/batchaid/operations.md",
                                         "../docs/operations.md"};
    char *self = realpath("/proc/self/exe", NULL), *found = NULL;
    char *slash = self ? strrchr(self, '/') : NULL;
    if (slash)
        *slash = '\0';
    for (size_t i = 0; slash && !found && i < sizeof places / sizeof places[0]; i++) {
        char *path = fs_join(self, places[i]);
        found = realpath(path, NULL);
        free(path);
    }
    free(self);
    if (found)
        *strrchr(found, '/') = '\0';
    return found;
}
