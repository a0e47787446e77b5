/* SPDX-License-Identifier: MIT
 *
 * Plans a step for each input file: a file, all files below a prefix, or an archive that is
 * unpacked.
 */
#include "scheduler/fleet/copy/input_files.h"

#include "scheduler/fleet/copy/copy_step.h"

static const struct script_cause of_files[] = {
    {ERR_FILE_NOT_FOUND, FAIL_INPUT_NOT_FOUND},
    {ERR_FORBIDDEN, FAIL_INPUT_DENIED},
    {ERR_UNAVAILABLE, FAIL_INPUT_TIMED_OUT},
    {ERR_QUOTA, FAIL_NO_ROOM},
    {0, FAIL_INPUT_FAILED},
};
static const struct script_cause of_packages[] = {
    {ERR_QUOTA, FAIL_NO_ROOM},
    {0, FAIL_PACKAGE},
};

static void add(const struct inputs *in, const struct input_file *file)
{
    struct arena *a = in->a;
    const struct script_label label = {.code = FAIL_INPUT_FAILED,
                                       .causes = file->package ? of_packages : of_files,
                                       .what = file->what};
    const struct carry_what what = {.files = in->files,
                                    .from = {file->share, file->path},
                                    .transfers = in->transfers,
                                    .url = file->url,
                                    .archived = file->prefix ? NULL : file->archived,
                                    .as = in->as,
                                    .path = arena_concat(a, in->root, "/", file->to),
                                    .mode = file->mode};
    const struct put_which which = {file->prefix, file->aside, file->n_aside, file->archived,
                                    file->n_archived};
    if (file->prefix) {
        script_put_all(in->script, a, &label, &what, &which);
    } else if (file->link) {
        script_put_archive(in->script, a, &label, &what);
        script_ask(in->script, &label,
                   REQUEST(mount_folder, .source = what.path,
                           .target = arena_concat(a, in->root, "/", file->link)));
    } else {
        script_put_file(in->script, a, &label, &what);
    }
}

void inputs_add(const struct inputs *in, const struct input_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        add(in, &list->items[i]);
}

bool inputs_failed(const struct failure *why)
{
    bool failed = why->code == FAIL_PACKAGE;
    for (size_t i = 0; i < sizeof of_files / sizeof of_files[0]; i++)
        failed = failed || why->code == of_files[i].code;
    return failed;
}
