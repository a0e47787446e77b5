/* SPDX-License-Identifier: MIT
 *
 * Pools with an image of Windows: their nodes run Linux, and run command lines of Windows by
 * batchai-cmd, if the site enables this (nodeagent-proto/windows/windows.h).
 */
#include <string.h>

#include "model/batch/argv.h"
#include "model/batch/images.h"
#include "nodeagent-proto/wire/task.h"
#include "scheduler/front/batch/front_priv.h"

static const char refusal[] =
    "the pool has an image of Windows, but its nodes run Linux, and this site does not run command "
    "lines of Windows there: choose an image of Linux, or have the site set batch.windows_commands";

size_t batch_program(const struct batch_front *f, struct arena *a, const struct batch_pool *p,
                     const char *line, const char ***argv)
{
    if (!batch_pool_is_windows(p->doc))
        return batch_argv(a, line, argv);
    const char *const run[] = {TASK_CMD, arena_strdup(a, line), NULL}, *const refuse[] = {
                                                                           TASK_NODE, TASK_REFUSE,
                                                                           refusal, NULL};
    size_t n = f->windows.commands ? 2 : 3;
    *argv = arena_alloc(a, (n + 1) * sizeof **argv);
    memcpy(*argv, f->windows.commands ? run : refuse, (n + 1) * sizeof **argv);
    return n;
}
