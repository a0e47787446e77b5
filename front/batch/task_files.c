/* SPDX-License-Identifier: MIT
 *
 * The resource files of a task: URLs become files of the daemon's that are put onto the node.
 */
#include <stdlib.h>
#include <string.h>

#include "files/files.h"
#include "front/batch/front_priv.h"
#include "front/batch/packages.h"
#include "model/batch/images.h"

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
    for (size_t i = 0; i < n; i++)
        add_one(f, a, &list[i], place);
}

static int add_package(const struct batch_front *f, struct arena *a, const struct batch_pool *pool,
                       const struct batch_package_ref *ref, struct place_spec *place, struct err *e)
{
    static const struct batch_package_node node = {.root = ".", .batch_root = BATCH_ROOT};
    struct batch_package_use use;
    const char *what = arena_concat(a, "application package ", ref->application, "#",
                                    ref->version ? ref->version : "default");
    int rc =
        batch_package_find(f->st, a, pool->account_id, ref->application, ref->version, &use, e);
    if (rc < 0)
        return -1;
    if (rc == 0) {
        refuse(a, place, FAIL_INPUT_NOT_FOUND, what, "there is no such active package");
        return 0;
    }
    const struct file_place from = packages_place(f->packages, a, use.package.hash);
    const char *directory = batch_package_directory(a, &node, &use);
    const char *name = batch_package_variable(a, &use, batch_pool_is_windows(pool->doc));
    place->files[place->n_files++] =
        (struct input_file){.share = from.share,
                            .path = from.path,
                            .to = arena_concat(a, "packages/", use.package.hash),
                            .link = directory,
                            .what = what};
    place->rooted[place->n_rooted++] = (struct kv){.name = name, .value = directory};
    return 0;
}

int task_add_packages(const struct batch_front *f, struct arena *a, const struct batch_pool *pool,
                      const struct batch_package_ref *list, size_t n, struct place_spec *place,
                      struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (add_package(f, a, pool, &list[i], place, e) < 0)
            return -1;
    return 0;
}
