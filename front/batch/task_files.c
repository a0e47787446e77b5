/* SPDX-License-Identifier: MIT
 *
 * The resource files of a task: URLs become files of the daemon's that are put onto the node.
 */
#include <stdlib.h>
#include <string.h>

#include "files/files.h"
#include "front/batch/front_priv.h"

/* Execution is for everybody who may read it, as the service had it. */
#define MODE 0770

/* Without its signature, which is secret. */
static const char *shown(struct arena *a, const char *url)
{
    return arena_strndup(a, url, strcspn(url, "?"));
}

static void refuse(struct arena *a, struct place_spec *place, enum failure_code code,
                   const char *url, const char *why)
{
    if (place->refused)
        return;
    place->refused = code;
    place->why_refused =
        arena_concat(a, "The resource file ", shown(a, url), " cannot be had: ", why);
}

static enum failure_code code_of(const struct err *e)
{
    if (e->code == ERR_FILE_NOT_FOUND)
        return FAIL_INPUT_NOT_FOUND;
    return e->code == ERR_FORBIDDEN ? FAIL_INPUT_DENIED : FAIL_INPUT_FAILED;
}

static void add_one(const struct batch_front *f, struct arena *a,
                    const struct batch_resource_file *in, struct place_spec *place)
{
    struct file_place from;
    struct err e = {0};
    if (!in->http_url) {
        refuse(a, place, FAIL_INPUT_FAILED,
               in->container_url ? in->container_url : in->auto_container,
               "containers as sources are not served here; name each blob by its httpUrl");
        return;
    }
    int rc = f->blobs.open(f->blobs.ctx, a, in->http_url, wakes_wall(f->wakes), &from, &e);
    if (rc < 0)
        refuse(a, place, code_of(&e), in->http_url, e.msg);
    else if (rc == 0)
        refuse(a, place, FAIL_INPUT_FAILED, in->http_url, "it is of no storage account here");
    else
        place->files[place->n_files++] =
            (struct input_file){.share = from.share,
                                .path = from.path,
                                .to = arena_concat(a, place->dir, "/wd/", in->path),
                                .what = arena_concat(a, "resource file ", shown(a, in->http_url)),
                                .mode = in->mode ? (int)strtol(in->mode, NULL, 8) : MODE};
}

void task_add_files(const struct batch_front *f, struct arena *a,
                    const struct batch_resource_file *list, size_t n, struct place_spec *place)
{
    place->files = arena_alloc(a, (n + 1) * sizeof *place->files);
    for (size_t i = 0; i < n; i++)
        add_one(f, a, &list[i], place);
}
