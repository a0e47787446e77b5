/* SPDX-License-Identifier: MIT
 *
 * Tasks in containers: converts their documents to the core's container settings.
 */
#include <string.h>

#include "model/batch/images.h"
#include "model/batch/pool_spec.h"
#include "scheduler/front/batch/front_priv.h"

static void refuse(struct arena *a, struct place_spec *place, enum failure_code code,
                   const char *why)
{
    if (place->refused)
        return;
    place->refused = code;
    place->why_refused = arena_strdup(a, why);
}

/* The host of a server without its scheme and path. */
static const char *host_of(struct arena *a, const char *server)
{
    const char *scheme = server ? strstr(server, "://") : NULL;
    const char *host = scheme ? scheme + 3 : server;
    return host ? arena_strndup(a, host, strcspn(host, "/")) : NULL;
}

/* The pool's registry with a login for this image; or NULL. */
static const struct batch_container *
registry_of(struct arena *a, const struct batch_pool_containers *pool, const char *image)
{
    for (size_t i = 0; pool && i < pool->n_registries; i++) {
        const char *host = host_of(a, pool->registries[i].server);
        size_t n = host ? strlen(host) : 0;
        if (n > 0 && strncmp(image, host, n) == 0 && image[n] == '/')
            return &pool->registries[i];
    }
    return NULL;
}

void container_of_image(struct arena *a, const struct batch_pool_containers *pool,
                        const char *image, const struct batch_container *own,
                        struct container_spec *out)
{
    const struct batch_container *login = own && own->user ? own : registry_of(a, pool, image);
    *out = (struct container_spec){.image = image};
    if (login) {
        out->server = host_of(a, login->server);
        out->user = login->user;
        out->password = login->password;
    }
}

struct container_spec *batch_container(struct arena *a, const struct batch_pool *p,
                                       const struct batch_pool_spec *pool,
                                       const struct batch_container *asked, bool any_option,
                                       struct place_spec *place)
{
    struct container_spec *c = arena_alloc(a, sizeof *c);
    container_of_image(a, pool->containers, asked->image, asked, c);
    c->in_image = asked->work_dir == BATCH_DIR_OF_IMAGE;
    batch_container_options(a, asked->options, any_option, place, c);
    if (!pool->containers)
        refuse(a, place, FAIL_CONTAINER_RUNTIME_NOT_FOUND,
               "the task has containerSettings, and its pool has no containerConfiguration");
    else if (batch_pool_is_windows(p->doc))
        refuse(a, place, FAIL_NOT_SERVED, "pools with an image of Windows run no containers");
    return c;
}

/* --- the parts of the node that a container sees ---------------------------------------------- */

static const char *host_path(enum batch_host_path source, const struct place_spec *place,
                             const char *preparation)
{
    switch (source) {
    case BATCH_PATH_SHARED:
        return BATCH_ROOT "/shared";
    case BATCH_PATH_STARTUP:
        return BATCH_STARTUP;
    case BATCH_PATH_MOUNTS:
        return BATCH_ROOT "/fsmounts";
    case BATCH_PATH_TASK:
        return place->dir;
    case BATCH_PATH_PREPARATION:
        return preparation;
    case BATCH_PATH_APPLICATIONS:
        return BATCH_ROOT "/applications";
    }
    return NULL;
}

/* Adds a mount of a path. The runtime accepts each path only once; if one of the mounts of a path
 * is read-only, the path is read-only. */
static void add_bind(struct container_spec *c, const char *path, bool read_only)
{
    for (size_t i = 0; i < c->n_binds; i++)
        if (strcmp(c->binds[i].path, path) == 0) {
            c->binds[i].read_only |= read_only;
            return;
        }
    c->binds[c->n_binds++] = (struct container_bind){path, read_only};
}

void batch_container_narrow(struct arena *a, const struct batch_container *asked,
                            const char *preparation, struct place_spec *place,
                            struct container_spec *out)
{
    out->narrow = asked->narrow;
    out->binds = arena_alloc(a, (asked->n_binds + 1) * sizeof *out->binds);
    for (size_t i = 0; i < asked->n_binds; i++) {
        const char *path = host_path(asked->binds[i].source, place, preparation);
        if (path)
            add_bind(out, path, asked->binds[i].read_only);
        else
            refuse(a, place, FAIL_FAILED_STARTING_CONTAINER,
                   "containerSettings.containerHostBatchBindMounts names JobPrep, but the job has "
                   "no job preparation task");
    }
}
