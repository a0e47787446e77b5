/* SPDX-License-Identifier: MIT
 *
 * Expressions about tags. Values are compared as texts, by their bytes. Pure.
 *
 * Conditions: "Project" = 'A' AND ("Status" <> 'Done' OR "Rank" >= '5'); a tag that the blob lacks
 * differs from every value, so only <> holds for it.
 * https://learn.microsoft.com/rest/api/storageservices/specifying-conditional-headers-for-blob-service-operations
 *
 * Searches: @container = 'photos' AND "Project" = 'A' AND "Rank" >= '5'; a blob without the tag is
 * not found. https://learn.microsoft.com/rest/api/storageservices/find-blobs-by-tags
 */
#ifndef API_PLANE_BLOB_TAG_WORDS_H
#define API_PLANE_BLOB_TAG_WORDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/err.h"

#define TAG_WORDS_DEPTH 16 /* most nested parentheses */
#define TAG_NAME_MAX    128
#define TAG_VALUE_MAX   256

/* `tags`: a JSON object of texts; NULL: no tags. 1: the condition holds; 0: it does not; -1: syntax
 * error, whose message is a phrase with the position. */
int tag_words_hold(const char *condition, const json_t *tags, struct err *e) MUST_CHECK;

/* A comparison holds if the tag is less than, equal to or greater than the value, as the three
 * flags allow. */
struct tag_comparison {
    char name[TAG_NAME_MAX + 1], value[TAG_VALUE_MAX + 1];
    bool less, equal, greater;
};

#define TAG_WHERE_MAX 20 /* comparisons: a blob has at most 10 tags, and a range has two ends */

/* The comparisons of a search; all of them must hold. */
struct tag_where {
    struct tag_comparison all[TAG_WHERE_MAX];
    size_t n; /* at least 1 */
    bool has_container;
    char container[TAG_VALUE_MAX + 1];
};

/* Reads the expression of a search. Errors as in tag_words_hold(). */
int tag_where_read(const char *expression, struct tag_where *out, struct err *e) MUST_CHECK;
bool tag_where_holds(const struct tag_where *w, const json_t *tags);
/* Whether the expression names this tag. */
bool tag_where_names(const struct tag_where *w, const char *name);

/* The range of the index of tag `name`, which is ordered by value and then by path, that contains
 * all possible matches: after (after_value, after_path) and before (to_value, to_path). Borrows
 * from `w`. */
struct tag_range {
    const char *name, *after_value, *after_path, *to_value, *to_path;
};
struct tag_range tag_where_range(const struct tag_where *w);

#endif
