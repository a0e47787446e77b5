/* SPDX-License-Identifier: MIT
 *
 * Reads the state and the files of a step of a seed, and replaces SEED_SUBSCRIPTION in them by the
 * id of the subscription. These functions have a file of their own, because the files that call
 * them may not call one another.
 */
#include <stdlib.h>

#include "api/testing/seed/steps.h"
#include "lib/jsontext.h"

const json_t *seed_state_of(struct request *r, const struct seed_step *s)
{
    const json_t *state = json_object_get(s->given, "state");
    if (!state)
        return NULL;
    char *text = jsontext(state);
    const char *with = seed_filled(&r->arena, text, s->subscription);
    free(text);
    return request_own(r, json_loads(with, JSON_DECODE_ANY, NULL));
}

const json_t *seed_files_of(struct request *r, const struct seed_step *s, const json_t *files)
{
    const char *path;
    if (!json_is_object(files)) /* seed_files_check() reports other types */
        return files;
    json_t *all = json_object(), *v;
    json_object_foreach((json_t *)files, path, v) {
        json_object_set(all, seed_filled(&r->arena, path, s->subscription), v);
    }
    return request_own(r, all);
}
