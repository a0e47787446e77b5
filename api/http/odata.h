/* SPDX-License-Identifier: MIT
 *
 * $filter and $select of the versions that have them (2017-09-01-preview, 2018-03-01). They are
 * checked against the field table of the listed resource: an unknown property is a 400.
 *
 * $filter: path eq|ne|lt|le|gt|ge literal, startswith(path, 'text'), joined by and, or, not and
 * parentheses. A path is "name", "properties/vmSize" or, as SDKs flatten it, "vmSize". Texts
 * compare without regard to case, as names and enums do. $select: a comma-separated list of paths.
 */
#ifndef API_HTTP_ODATA_H
#define API_HTTP_ODATA_H

#include <jansson.h>

#include "lib/err.h"
#include "model/schema.h"

struct odata {
    const char *filter, *select; /* as sent; NULL: not given. Borrowed */
    const struct schema *schema;
    enum api_version version;
    size_t terms; /* comparisons in the filter; set by odata_check() */
};

/* ERR_INVALID_QUERY, with the place in the text, unless both are well-formed. */
int odata_check(struct odata *o, struct err *e) MUST_CHECK;
/* Whether a rendered item passes $filter. */
bool odata_matches(const struct odata *o, const json_t *item);
/* Reduces the item to the paths in $select. Steals `item`, returns a new reference. */
json_t *odata_pick(const struct odata *o, json_t *item);

#endif
