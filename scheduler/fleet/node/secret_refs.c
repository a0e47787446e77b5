/* SPDX-License-Identifier: MIT
 *
 * Resolves each reference in a spec: first from the values that the storage keeps for this attempt,
 * then by the front, whose answer the storage keeps too. The values are in the arena; the owner of
 * the spec wipes them.
 */
#include "scheduler/fleet/node/secret_refs.h"

#include <string.h>

#include "storage/storage.h"

static bool keeps(const struct secret_reader *r)
{
    return r->run && !r->only_look;
}

static struct run_secret kept(const struct secret_reader *r, const char *url)
{
    return (struct run_secret){.run_id = r->run->id, .attempt = r->run->attempt, .url = url};
}

/* The value that this attempt of the run has got already, otherwise the front's value. */
static int find_value(const struct secret_reader *r, const char *url, struct secret_answer *out,
                      struct err *e)
{
    *out = (struct secret_answer){0};
    if (keeps(r)) {
        const struct run_secret had = kept(r, url);
        int rc = st_run_secret_get(r->st, r->a, &had, &out->value, e);
        if (rc != 0)
            return rc < 0 ? -1 : 0;
    }
    const struct secret_wish wish = {.url = url, .pool_id = r->pool_id, .run = r->run};
    if (FRONT_ASK(r->front, read_secret, r->st, r->a, &wish, out, e) < 0)
        return -1;
    if (!out->value || !keeps(r))
        return 0;
    const struct run_secret got = kept(r, url);
    /* a full disk must not end a run: after a restart the vault is asked once more */
    struct err lost;
    int rc = st_run_secret_put(r->st, &got, out->value, &lost);
    (void)rc;
    return 0;
}

/* Reads the secret at `url`; `what` names the setting that refers to it. */
static bool read_value(const struct secret_reader *r, const char *what, const char *url,
                       const char **value, struct failure *why)
{
    struct secret_answer got;
    struct err e = {0};
    if (find_value(r, url, &got, &e) < 0)
        got = (struct secret_answer){.cause = arena_strdup(r->a, e.msg)};
    if (got.value && r->only_look)
        explicit_bzero((char *)(uintptr_t)got.value, strlen(got.value));
    else if (got.value)
        *value = got.value;
    if (got.value)
        return true;
    *why =
        (struct failure){.code = FAIL_SECRET_NOT_READ,
                         .message = arena_printf(
                             r->a, "%s refers to the Key Vault secret %s, which cannot be read: %s",
                             what, url, got.cause ? got.cause : "no vaults are read for it"),
                         .step = "launch",
                         .remedy = got.remedy,
                         .exit_code = -1};
    return false;
}

static bool read_env(const struct secret_reader *r, struct kv *env, size_t n, struct failure *why)
{
    for (size_t i = 0; i < n; i++)
        if (env[i].secret_ref &&
            !read_value(r, arena_printf(r->a, "%s: %s", r->front->words->secrets, env[i].name),
                        env[i].secret_ref, &env[i].value, why))
            return false;
    return true;
}

static bool read_mounts(const struct secret_reader *r, const struct mount_list *mounts,
                        struct failure *why)
{
    for (size_t i = 0; i < mounts->n; i++) {
        struct mount_volume *m = &mounts->items[i];
        if (m->secret_ref &&
            !read_value(r, arena_printf(r->a, "%s: %s", r->front->words->mounts, m->relative_path),
                        m->secret_ref, &m->key, why))
            return false;
    }
    return true;
}

static bool read_registry(const struct secret_reader *r, struct container_spec *c,
                          struct failure *why)
{
    if (!c || !c->secret_ref)
        return true;
    const char *what = front_text(r->front->words, r->a, "{container}: the registry's password");
    return read_value(r, what, c->secret_ref, &c->password, why);
}

bool secret_refs_of_run(const struct secret_reader *r, struct run_spec *spec, struct failure *why)
{
    return read_registry(r, spec->container, why) && read_mounts(r, &spec->mounts, why) &&
           read_env(r, spec->env, spec->n_env, why);
}

bool secret_refs_of_pool(const struct secret_reader *r, struct node_setup_spec *spec,
                         struct failure *why)
{
    struct setup_task_spec *t = spec->setup_task;
    return read_mounts(r, &spec->mounts, why) && (!t || read_env(r, t->env, t->n_env, why));
}
