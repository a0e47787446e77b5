/* SPDX-License-Identifier: MIT
 *
 * $filter and $select, which the api-versions 2017-09-01-preview and 2018-03-01 have. They are
 * checked against the field table of the listed resource: an unknown property is a 400.
 *
 * $filter: model/filter.h. A path is "name", "properties/vmSize" or, because SDKs omit
 * "properties/", "vmSize". Texts are compared without regard to case, like names and enums.
 * $select: a comma-separated list of paths.
 */
#ifndef API_HTTP_ODATA_H
#define API_HTTP_ODATA_H

#include <jansson.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "model/filter.h"
#include "model/schema.h"

struct odata {
    const char *filter, *select; /* as sent; borrowed; NULL: not given */
    const struct schema *schema;
    enum api_version version;
    struct arena *arena; /* borrowed; the parsed filter is in it */
    /* Set by odata_check(): */
    const struct filter *tree; /* NULL: no filter */
    size_t terms;              /* how many comparisons the filter has */
};

/* Parses both. ERR_INVALID_QUERY, with the position in the text: one of them is not valid. */
int odata_check(struct odata *o, struct err *e) MUST_CHECK;
/* Whether an item (JSON) passes $filter. */
bool odata_matches(const struct odata *o, const json_t *item);
/* Like odata_matches(), for an item with tags: tries each tag as the properties tagName and
 * tagValue, which it sets in `item`. True: the item passes with one of the tags. */
bool odata_matches_tags(const struct odata *o, json_t *item, const json_t *tags);
/* Reduces the item to the paths in $select. Takes over the reference to `item` and returns a new
 * reference. */
json_t *odata_pick(const struct odata *o, json_t *item);

#endif
