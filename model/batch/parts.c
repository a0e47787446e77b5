/* SPDX-License-Identifier: MIT
 *
 * Finds parts of stored documents, and the secrets that belong to a part.
 */
#include "model/batch/parts.h"

#include <stdlib.h>
#include <string.h>

#include "lib/jsontext.h"

json_t *batch_part(const json_t *doc, const char *path)
{
    const json_t *at = doc;
    while (at && *path) {
        size_t n = strcspn(path, ".");
        at = json_object_getn(at, path, n);
        path += path[n] ? n + 1 : n;
    }
    return (json_t *)(uintptr_t)at;
}

const char *batch_part_secrets(struct arena *a, const char *secrets, const char *path)
{
    json_t *all = secrets ? json_loads(secrets, 0, NULL) : NULL, *part = json_object(), *value;
    size_t n = strlen(path);
    const char *name;
    json_object_foreach(all, name, value) {
        if (strncmp(name, path, n) == 0 && name[n] == '.')
            json_object_set(part, name + n + 1, value);
    }
    const char *text = json_object_size(part) > 0 ? jsontext_in(a, part) : NULL;
    json_decref(part);
    json_decref(all);
    return text;
}
