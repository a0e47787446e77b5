/* SPDX-License-Identifier: MIT
 *
 * Conditions on tags: a line, and then the tags as a JSON object. A condition holds or does not, or
 * is none for all tags alike.
 */
#include <jansson.h>

#include "api/plane/blob/tag_words.h"
#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pieces in = {(const char *)data, (const char *)data + size};
    char *condition = next_line(&in);
    json_t *tags = json_loadb(in.p, (size_t)(in.end - in.p), 0, NULL);
    struct err e = {0}, other = {0};
    int holds = tag_words_hold(condition, tags, &e);
    int bare = tag_words_hold(condition, NULL, &other);
    tell("condition", holds < 0 ? -1 : 0, e.msg);
    CLAIM(holds >= -1 && holds <= 1 && (holds >= 0 || e.msg[0]));
    CLAIM((holds < 0) == (bare < 0));
    CLAIM(holds >= 0 || strcmp(e.msg, other.msg) == 0);
    json_decref(tags);
    free(condition);
    return 0;
}
