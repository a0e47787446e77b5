/* SPDX-License-Identifier: MIT
 *
 * Shared by the engine's parts and the tables; private to model/.
 */
#ifndef MODEL_SCHEMA_PRIV_H
#define MODEL_SCHEMA_PRIV_H

#include "model/schema.h"

#define PLACE_SIZE 160 /* the size of err.target */

/* The present place in a document. Each level is a variable on the stack and points to the level
 * above; the chain is converted to text only when needed. */
struct doc_place {
    const struct doc_place *up; /* NULL: the document itself */
    const char *name; /* the name in the request; NULL: the place is an item of an array */
    const char *canon;
    size_t index; /* the index of the array item */
};

/* Writes the place as a text: "properties.secrets[0].value"; "" for the document itself. */
void place_text(const struct doc_place *at, bool canonical, char out[PLACE_SIZE]);

static inline const char *field_canon(const struct field *f)
{
    return f->canon ? f->canon : f->name;
}

static inline bool field_known(const struct field *f, enum api_version v)
{
    return (f->versions == 0 || (f->versions & (unsigned)v)) && !(f->unless & (unsigned)v);
}

/* Moves every secret below `obj` to *secrets, under its path. Makes *secrets if it is NULL and
 * there is a secret. */
void schema_take_secrets(const struct schema *s, json_t *obj, const struct doc_place *at,
                         json_t **secrets);

/* Writes "path.child", or `child` alone if `path` is empty. Checks of several properties need this
 * for the error's target. */
void path_join(char out[PLACE_SIZE], const char *path, const char *child);

#endif
