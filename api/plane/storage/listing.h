/* SPDX-License-Identifier: MIT
 *
 * What all lists of the data planes have: <EnumerationResults>, with a prefix, a marker and a
 * number of items.
 */
#ifndef API_PLANE_STORAGE_LISTING_H
#define API_PLANE_STORAGE_LISTING_H

#include "api/http/page.h"
#include "api/plane/storage/data_plane.h"
#include "lib/strbuf.h"

/* A list: its page, of the form <EnumerationResults>, and what the request says of it. */
struct storage_list {
    struct page *page;
    const char *element;                 /* that is around the items: "Shares" */
    bool is_tag;                         /* an empty list is <Entries />, not <Entries></Entries> */
    const struct named_value *attribute; /* of the root, besides the service's endpoint */
    size_t n_attributes;
    const char *delimiter; /* as sent; NULL or "": none */
    const char *prefix;    /* "": all */
    const char *marker;    /* the name of the last item before; NULL: from the first on */
    const char *sent;      /* marker as it was sent */
    bool has_max;          /* the client has said how many */
};

/* Reads prefix, marker and maxresults, and begins the page, whose keys are names. Lives as long as
 * the list. AZSTORAGE_QUERY_RANGE: maxresults; ERR_INVALID_QUERY: a marker that is none of ours. */
int storage_list_begin(struct request *r, const char *element, struct storage_list *out,
                       struct err *e) MUST_CHECK;
/* The name behind which storage reads: "": from the first on. */
const char *storage_list_after(const struct storage_list *l);
/* Whether `include` lists this word. */
bool listing_includes(struct request *r, const char *word);
/* ERR_INVALID_QUERY: it lists one that is none of these, which end with NULL. */
int listing_check_include(struct request *r, const char *const *words, struct err *e) MUST_CHECK;

void metadata_list(struct strbuf *b, const char *metadata);
/* <Name>, encoded if XML cannot hold it and `encodes`. */
void listing_name(struct strbuf *b, const char *name, bool encodes);

#endif
