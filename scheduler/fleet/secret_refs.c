/* SPDX-License-Identifier: MIT */
#include "scheduler/fleet/secret_refs.h"

bool refuse_secret_ref(struct arena *a, const char *what, const char *url, struct failure *why)
{
    *why = (struct failure){
        .code = FAIL_SECRET_REFERENCE_NOT_SUPPORTED,
        .message = arena_printf(a, "%s refers to the Key Vault secret %s, which cannot be read yet",
                                what, url),
        .step = "launch",
        .remedy = "give the value itself instead of a reference",
        .exit_code = -1};
    return true;
}

bool refuse_env_secret_refs(struct arena *a, const struct front_words *words, const struct kv *env,
                            size_t n, struct failure *why)
{
    for (size_t i = 0; i < n; i++)
        if (env[i].secret_ref)
            return refuse_secret_ref(a, arena_printf(a, "%s: %s", words->secrets, env[i].name),
                                     env[i].secret_ref, why);
    return false;
}

bool refuse_mount_secret_refs(struct arena *a, const struct front_words *words,
                              const struct mount_list *mounts, struct failure *why)
{
    for (size_t i = 0; i < mounts->n; i++) {
        const struct mount_volume *m = &mounts->items[i];
        if (m->secret_ref)
            return refuse_secret_ref(a, arena_printf(a, "%s: %s", words->mounts, m->relative_path),
                                     m->secret_ref, why);
    }
    return false;
}
