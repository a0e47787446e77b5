/* SPDX-License-Identifier: MIT
 *
 * Finds batchai-node: the path in $BATCHAI_NODE, otherwise a file beside this program.
 */
#include "daemon/serve/agent_path.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/fs.h"

char *agent_path_find(struct err *e)
{
    const char *given = getenv("BATCHAI_NODE");
    if (given && *given) {
        char *found = access(given, X_OK) == 0 ? realpath(given, NULL) : NULL;
        if (found)
            return found;
        err_errno(e, ERR_CONFIG, "BATCHAI_NODE=%s cannot be run", given);
        return NULL;
    }
    static const char *const places[] = {"batchai-node", "../libexec/batchaid/batchai-node"};
    char *self = realpath("/proc/self/exe", NULL);
    if (!self) {
        err_errno(e, ERR_CONFIG, "cannot read /proc/self/exe");
        return NULL;
    }
    char *slash = strrchr(self, '/');
    *(slash == self ? slash + 1 : slash) = '\0';
    char *found = NULL;
    for (size_t i = 0; i < sizeof places / sizeof places[0] && !found; i++) {
        char *path = fs_join(self, places[i]);
        if (access(path, X_OK) == 0)
            found = realpath(path, NULL);
        free(path);
    }
    if (!found)
        err_set(e, ERR_CONFIG, NULL,
                "the node agent batchai-node is neither in %s nor in %s/../libexec/batchaid; set "
                "BATCHAI_NODE to its path",
                self, self);
    free(self);
    return found;
}

char *agent_path_of_cmd(const char *agent_path)
{
    char *folder = fs_folder(agent_path), *path = fs_join(folder, "batchai-cmd");
    free(folder);
    return path;
}
