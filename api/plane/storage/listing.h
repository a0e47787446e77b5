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

/* A list: its page, in the form <EnumerationResults>, and its query. */
struct storage_list {
    struct page *page;
    const char *element; /* the element around the items: "Shares" */
    bool is_tag;         /* an empty list is <Entries />, not <Entries></Entries> */
    /* an attribute of the root element, in addition to the service's endpoint */
    const struct named_value *attribute;
    size_t n_attributes;
    const char *delimiter; /* as sent; NULL or "": none */
    const char *where;     /* the expression that is searched for; NULL: none */
    const char *prefix;    /* "": all */
    const char *marker;    /* the name of the last item of the previous page; NULL: first page */
    const char *sent;      /* marker as it was sent */
    bool has_max;          /* the client has sent maxresults */
};

/* Reads prefix, marker and maxresults, and begins the page; its keys are names. The page lives as
 * long as the list. AZSTORAGE_QUERY_RANGE: maxresults; ERR_INVALID_QUERY: not a marker of this
 * daemon. */
int storage_list_begin(struct request *r, const char *element, struct storage_list *out,
                       struct err *e) MUST_CHECK;
/* The name after which storage reads: "": from the first on. */
const char *storage_list_after(const struct storage_list *l);
/* Whether `include` lists this word. */
bool listing_includes(struct request *r, const char *word);
/* ERR_INVALID_QUERY: `include` has a word that is not in `words` (NULL at the end). */
int listing_check_include(struct request *r, const char *const *words, struct err *e) MUST_CHECK;

void metadata_list(struct strbuf *b, const char *metadata);
/* <Name>; encodes a name that XML cannot hold if `encodes`. */
void listing_name(struct strbuf *b, const char *name, bool encodes);

#endif
