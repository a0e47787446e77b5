/* SPDX-License-Identifier: MIT
 *
 * What all lists of the data planes have: <EnumerationResults>, with a prefix, a marker and a
 * number of items.
 */
#ifndef API_PLANE_STORAGE_LISTING_H
#define API_PLANE_STORAGE_LISTING_H

#include "api/plane/storage/data_plane.h"
#include "lib/strbuf.h"

#define LISTING_MAX 5000 /* items of a page */

struct listing_query {
    const char *prefix; /* "": all */
    const char *marker; /* the name of the last item before; NULL: from the first on */
    const char *sent;   /* marker as it was sent */
    long max;
    bool has_max; /* the client has said how many */
};

/* AZSTORAGE_QUERY_RANGE: maxresults; ERR_INVALID_QUERY: a marker that is none of ours. */
int listing_read(struct request *r, struct listing_query *out, struct err *e) MUST_CHECK;
/* Whether `include` lists this word. */
bool listing_includes(struct request *r, const char *word);
/* ERR_INVALID_QUERY: it lists one that is none of these, which end with NULL. */
int listing_check_include(struct request *r, const char *const *words, struct err *e) MUST_CHECK;

/* The root element up to the items. `name` NULL: it has no attribute but the service's endpoint. */
void listing_begin(struct strbuf *b, struct request *r, const char *name, const char *value,
                   const struct listing_query *q);
/* The same with any number of attributes. */
void listing_begin_with(struct strbuf *b, struct request *r, const struct named_value *attributes,
                        size_t n, const struct listing_query *q);
/* `last`: the name of the last item, if there are more; else NULL. */
void listing_end(struct strbuf *b, const struct listing_query *q, const char *last);
void metadata_list(struct strbuf *b, const char *metadata);
/* <Name Encoded="true">, for a name that XML cannot hold. */
void listing_encoded_name(struct strbuf *b, const char *name);

#endif
