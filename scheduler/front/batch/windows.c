/* SPDX-License-Identifier: MIT
 *
 * Pools with an image of Windows: their nodes run Linux, and command lines of Windows by the
 * agent's own program, if the site wants that (nodeagent-proto/windows/windows.h).
 */
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
    enum { WORDS = 3 };
    if (!batch_pool_is_windows(p->doc))
        return batch_argv(a, line, argv);
    const char **words = arena_alloc(a, (WORDS + 1) * sizeof *words);
    words[0] = TASK_OWN_PROGRAM;
    words[1] = f->windows.commands ? "windows" : TASK_REFUSE;
    words[2] = f->windows.commands ? arena_strdup(a, line) : refusal;
    *argv = words;
    return WORDS;
}
