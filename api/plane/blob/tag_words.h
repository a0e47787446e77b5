/* SPDX-License-Identifier: MIT
 *
 * Conditions on tags: "Project" = 'A' AND ("Status" <> 'Done' OR "Rank" >= '5'). Values compare as
 * texts, by their bytes; a tag that a blob does not have is none of any value. Pure.
 * https://learn.microsoft.com/rest/api/storageservices/specifying-conditional-headers-for-blob-service-operations
 */
#ifndef API_PLANE_BLOB_TAG_WORDS_H
#define API_PLANE_BLOB_TAG_WORDS_H

#include <jansson.h>

#include "lib/err.h"

#define TAG_WORDS_DEPTH 16 /* of parentheses */

/* `tags`: an object of texts; NULL: no tags. 1: the condition holds, 0: it does not, -1: a syntax
 * error, and the message is a phrase with its place. */
int tag_words_hold(const char *condition, const json_t *tags, struct err *e) MUST_CHECK;

#endif
