/* SPDX-License-Identifier: MIT
 *
 * $filter and $select of the versions that have them (2017-09-01-preview, 2018-03-01). They are
 * checked against the field table of the listed resource: an unknown property is a 400.
 *
 * $filter: model/filter.h. A path is "name", "properties/vmSize" or, as SDKs flatten it, "vmSize".
 * Texts compare without regard to case, as names and enums do. $select: a comma-separated list of
 * paths.
 */
#ifndef API_HTTP_ODATA_H
#define API_HTTP_ODATA_H

#include <jansson.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "model/filter.h"
#include "model/schema.h"

struct odata {
    const char *filter, *select; /* as sent; NULL: not given. Borrowed */
    const struct schema *schema;
    enum api_version version;
    struct arena *arena; /* borrowed; holds the parsed filter */
    /* Set by odata_check(): */
    const struct filter *tree; /* NULL: no filter */
    size_t terms;              /* how many comparisons the filter has */
};

/* ERR_INVALID_QUERY, with the place in the text, unless both are well-formed. */
int odata_check(struct odata *o, struct err *e) MUST_CHECK;
/* Whether a rendered item passes $filter. */
bool odata_matches(const struct odata *o, const json_t *item);
/* Like odata_matches(), for an item with tags: whether it passes with one of the tags as tagName
 * and tagValue. Sets these two in `item`. */
bool odata_matches_tags(const struct odata *o, json_t *item, const json_t *tags);
/* Reduces the item to the paths in $select. Steals `item`, returns a new reference. */
json_t *odata_pick(const struct odata *o, json_t *item);

#endif
