/* SPDX-License-Identifier: MIT
 *
 * The common form of the data planes' lists: <EnumerationResults>, with a prefix, a marker and a
 * number of items.
 */
#ifndef API_PLANE_STORAGE_LISTING_H
#define API_PLANE_STORAGE_LISTING_H

#include "api/http/page.h"
#include "api/plane/storage/data_plane.h"
#include "lib/strbuf.h"

/* A list: its page, and the request's query. */
struct storage_list {
    struct page *page;
    const char *element; /* the element around the items: "Shares" */
    bool is_tag;         /* an empty list is written as <Entries />, not as <Entries></Entries> */
    /* an attribute of the root element, in addition to the service's endpoint */
    const struct named_value *attribute;
    size_t n_attributes;
    const char *delimiter; /* as sent; NULL or "": none */
    const char *where;     /* the search expression; NULL: none */
    const char *prefix;    /* "": all */
    const char *marker;    /* the name of the last item of the previous page; NULL: first page */
    const char *sent;      /* marker as it was sent */
    bool has_max;          /* whether the client has sent maxresults */
};

/* Reads prefix, marker and maxresults, and begins the page; keys of its rows are names. The page
 * exists as long as the list. AZSTORAGE_QUERY_RANGE: maxresults is out of range; ERR_INVALID_QUERY:
 * the marker is not from this daemon. */
int storage_list_begin(struct request *r, const char *element, struct storage_list *out,
                       struct err *e) MUST_CHECK;
/* The name after which rows are read; "": from the first row. */
const char *storage_list_after(const struct storage_list *l);
/* Whether the request's parameter `include` has this word. */
bool listing_includes(struct request *r, const char *word);
/* Fails with ERR_INVALID_QUERY if `include` has a word that is not in `words` (NULL at the end). */
int listing_check_include(struct request *r, const char *const *words, struct err *e) MUST_CHECK;

void metadata_list(struct strbuf *b, const char *metadata);
/* Adds the element <Name>. `encodes`: percent-encodes a name that XML cannot contain. */
void listing_name(struct strbuf *b, const char *name, bool encodes);

#endif
