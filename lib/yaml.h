/* SPDX-License-Identifier: MIT
 *
 * Reads YAML as a tree of JSON, and remembers the place of each value in the text. Texts from
 * untrusted senders are safe to read: parts that would take much time or memory (deep nesting, many
 * anchors, aliases of aliases) are refused. Also refused: a key that is given twice, a key that is
 * a list or mapping, a second document, a text with the character \u0000, bytes that are no text.
 * Tags are ignored, a key << is a key like any other, and an alias is a copy of the value that it
 * names. A byte order mark may tell that a text is UTF-16.
 */
#ifndef LIB_YAML_H
#define LIB_YAML_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/err.h"

struct yaml_rules {
    int depth_max; /* the deepest nesting of lists and mappings */
    /* True: every scalar becomes a text as written, quoted or not. False: unquoted scalars are read
     * by YAML's core schema: null, true, false, a decimal number, or a text. In both cases, an
     * empty value is null. */
    bool all_texts;
};

struct yaml_place {
    size_t line, column; /* from 1 */
};

struct yaml_doc {
    json_t *tree;                /* NULL: there is no document */
    struct yaml_doc_node *nodes; /* the places, in the order of the text */
    size_t n;
};

/* On failure: ERR_INVALID_CONTENT. Then `at` is the place of the error, and the error's target is
 * the path of the value, such as "log.level" or "inventory[0].hosts[2]", if it is known. Free *out
 * with yaml_doc_free(). */
int yaml_doc_read(const char *text, size_t n, const struct yaml_rules *rules, struct yaml_doc *out,
                  struct yaml_place *at, struct err *e) MUST_CHECK;
void yaml_doc_free(struct yaml_doc *doc);

/* Finds the place of a value: of a member the place of its key, of an item of a list the place of
 * the item, of a copy by an alias the place of the alias. The steps lead from the top of the tree;
 * each is the name of a member or the index of an item. Returns how many of the steps exist in the
 * tree; *out is the place of the last existing step. */
size_t yaml_doc_place(const struct yaml_doc *doc, const char *const *steps, size_t n,
                      struct yaml_place *out);

#endif
