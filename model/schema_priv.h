/* SPDX-License-Identifier: MIT
 *
 * Shared by the engine's parts and the tables; private to model/.
 */
#ifndef MODEL_SCHEMA_PRIV_H
#define MODEL_SCHEMA_PRIV_H

#include "model/schema.h"

#define PLACE_SIZE 160 /* as err.target */

/* The present place in a document: a chain of stack frames, converted to text only when needed. */
struct doc_place {
    const struct doc_place *up; /* NULL: the document itself */
    const char *name;           /* on the wire; NULL: an array item */
    const char *canon;
    size_t index; /* of the array item */
};

/* "properties.secrets[0].value"; "" for the document itself. */
void place_text(const struct doc_place *at, bool canonical, char out[PLACE_SIZE]);

static inline const char *field_canon(const struct field *f)
{
    return f->canon ? f->canon : f->name;
}

static inline bool field_known(const struct field *f, enum api_version v)
{
    return (f->versions == 0 || (f->versions & (unsigned)v)) && !(f->unless & (unsigned)v);
}

/* Removes every secret below `obj` and stores it in *secrets (made on demand) under its path. */
void schema_take_secrets(const struct schema *s, json_t *obj, const struct doc_place *at,
                         json_t **secrets);

/* path "." child, or the child alone if path is "": targets of cross-field rules. */
void path_join(char out[PLACE_SIZE], const char *path, const char *child);

#endif
