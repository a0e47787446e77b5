/* SPDX-License-Identifier: MIT
 *
 * Packages of applications in a seed: their archives, and their rows.
 */
#include <stdlib.h>
#include <string.h>

#include "api/arm/batch/application.h"
#include "api/testing/seed/steps.h"
#include "storage/packages/packages.h"
#include "storage/storage.h"

/* --- archives --------------------------------------------------------------------------------- */

struct keeping {
    struct seed_archives *all;
    struct seed_step *step;
};

static void finished(struct request *r, void *ctx)
{
    struct seed_archives *k = ctx;
    (void)r;
    k->cb(k->ctx, k->failed, k->failed ? &k->why : NULL);
}

static void fails(struct seed_archives *k, const struct seed_step *s, const struct err *why)
{
    if (k->failed)
        return;
    k->failed = s;
    k->why = *why;
}

/* An archive is stored. After the last one the seed continues at once, before a cleanup could
 * remove archives that have no rows yet. */
static void on_kept(void *ctx, const struct err *why, const struct package_kept *kept)
{
    const struct keeping *one = ctx;
    struct seed_archives *k = one->all;
    struct err e;
    if (why) {
        err_set(&e, why->code, "base64", "%.300s", why->msg);
        fails(k, one->step, &e);
    } else {
        one->step->hash = arena_strdup(&k->r->arena, kept->hash);
        one->step->size = kept->size;
    }
    if (--k->under_way == 0)
        finished(k->r, k);
}

static void keep(struct seed_archives *k, struct seed_step *s)
{
    size_t n;
    struct err e;
    struct keeping *one = arena_alloc(&k->r->arena, sizeof *one);
    *one = (struct keeping){k, s};
    char *bytes = seed_file_bytes(s->given, &n);
    if (!bytes) {
        err_set(&e, ERR_INVALID_PROPERTY, "base64", "base64 must be the archive as a base64 text.");
        fails(k, s, &e);
        return;
    }
    k->under_way++;
    packages_keep_bytes(k->seed->packages, bytes, n, on_kept, one);
}

void seed_archives_keep(struct seed_archives *k)
{
    for (size_t i = 0; i < k->steps->n && !k->failed; i++) {
        struct seed_step *s = &k->steps->items[i];
        if (s->kind == &seed_kinds[SEED_PACKAGE] && json_object_get(s->given, "base64"))
            keep(k, s);
    }
    if (k->under_way == 0)
        request_again(k->r, finished, k);
}

/* --- rows ------------------------------------------------------------------------------------- */

static int find(const struct seed *seed, struct request *r, const struct seed_step *s,
                struct batch_application *x, struct err *e)
{
    struct batch_account b;
    struct storage *st = seed->arm.storage;
    const struct seed_step *app = seed_step_in(s, SEED_APPLICATION);
    int rc = st_batch_account_by_name(st, &r->arena, app->above->name, &b, e);
    if (rc > 0)
        rc = st_batch_application_get(st, &r->arena, b.id, app->name, x, e);
    return rc == 0 ? err_set(e, ERR_INTERNAL, NULL, "The application does not exist any more.")
                   : rc;
}

int seed_package_then(const struct seed *seed, struct request *r, const struct seed_step *s,
                      struct err *e)
{
    struct batch_application x;
    int64_t id, activated_us;
    const char *activated = json_string_value(json_object_get(s->given, "activated")), *name;
    json_t *v;
    json_object_foreach((json_t *)s->given, name, v) {
        if (!seed_is_own(s->kind, name))
            return err_set(e, ERR_INVALID_PROPERTY, name,
                           "'%.60s' is not known here; a package takes base64 and activated.",
                           name);
    }
    if (check_application_name(s->name, true, e) < 0) {
        e->code = ERR_INVALID_PROPERTY; /* the code for an error of the seed */
        return -1;
    }
    if (seed_time_read(activated, "activated", r->now_us, &activated_us, e) < 0 ||
        find(seed, r, s, &x, e) < 0)
        return -1;
    const struct batch_package p = {.application_id = x.id,
                                    .name = s->name,
                                    .format = s->hash ? "zip" : NULL,
                                    .hash = s->hash,
                                    .size = s->size,
                                    .activated_us = s->hash ? activated_us : 0,
                                    .created_us = r->now_us,
                                    .updated_us = r->now_us};
    return st_batch_package_insert(seed->arm.storage, &p, &id, e);
}

int seed_application_last(const struct seed *seed, struct request *r, const struct seed_step *s,
                          struct err *e)
{
    struct batch_application x = {.id = 0};
    struct batch_package p = {.id = 0};
    struct storage *st = seed->arm.storage;
    const json_t *properties = json_object_get(s->given, "properties");
    const char *version = json_string_value(json_object_get(properties, "defaultVersion"));
    if (!version)
        return 0;
    if (find(seed, r, s, &x, e) < 0)
        return -1;
    int rc = st_batch_package_get(st, &r->arena, x.id, version, &p, e);
    if (rc < 0)
        return -1;
    if (rc == 0 || !p.hash)
        return err_set(e, ERR_INVALID_PROPERTY, "properties.defaultVersion",
                       "defaultVersion is '%.60s', but there is no active package of it.", version);
    x.default_version = p.name;
    return st_batch_application_update(st, &x, e);
}
