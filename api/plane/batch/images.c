/* SPDX-License-Identifier: MIT
 *
 * Lists images in two forms, depending on the api-version: one entry per image, or one entry per
 * node agent with its images. The next page begins after the index of the last image. On the loop's
 * thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/plane/batch/batch.h"
#include "api/plane/batch/list.h"
#include "api/plane/batch/routes.h"
#include "lib/jsontext.h"
#include "model/batch/images.h"

/* The key of an image in a list: its index. */
#define PLACE_SIZE 24

static json_t *reference(const struct batch_image *i)
{
    return json_pack("{s:s, s:s, s:s, s:s}", "publisher", i->publisher, "offer", i->offer, "sku",
                     i->sku, "version", "latest");
}

static json_t *capabilities(const struct batch_image *image)
{
    json_t *list = image->capabilities ? json_array() : NULL;
    for (const char *p = list ? image->capabilities : ""; *p; p += *p == ',') {
        size_t n = strcspn(p, ",");
        json_array_append_new(list, json_stringn(p, n));
        p += n;
    }
    return list;
}

static const char *os_of(const struct batch_image *i)
{
    return i->windows ? "windows" : "linux";
}

static const char *verification_of(const struct batch_image *i)
{
    return i->verified ? "verified" : "unverified";
}

static json_t *render_image(const struct batch_image *i)
{
    return json_pack("{s:s, s:o, s:s, s:o*, s:o*, s:s}", "nodeAgentSKUId", i->agent,
                     "imageReference", reference(i), "osType", os_of(i), "capabilities",
                     capabilities(i), "batchSupportEndOfLife", jsontext_optional(i->end),
                     "verificationType", verification_of(i));
}

/* Renders the node agent of images[i], with this and all later images that it supports. */
static json_t *render_agent(const struct batch_image *images, size_t n, size_t i)
{
    const char *agent = images[i].agent;
    json_t *references = json_array();
    for (size_t k = i; k < n && strcmp(images[k].agent, agent) == 0; k++)
        json_array_append_new(references, reference(&images[k]));
    return json_pack("{s:s, s:o, s:s}", "id", agent, "verifiedImageReferences", references,
                     "osType", os_of(&images[i]));
}

enum { BY_OS, BY_VERIFICATION, BY_AGENT, FILTERS };
static const struct batch_filter filters[FILTERS] = {
    [BY_OS] = {"osType", BATCH_BY_TEXT, FILTER_EQUAL, NULL},
    [BY_VERIFICATION] = {"verificationType", BATCH_BY_TEXT, FILTER_EQUAL, NULL},
    [BY_AGENT] = {"nodeAgentSKUId", BATCH_BY_TEXT, FILTER_ANY_OP, NULL},
};

static bool is_wanted(const void *ctx, const struct filter_term *t)
{
    const struct batch_image *i = ctx;
    const char *const values[FILTERS] = {os_of(i), verification_of(i), i->agent};
    return filter_text_is(t, values[t->property]);
}

/* Lists images; `by_agent`: one entry per node agent. */
static struct replied *list(struct request *r, const struct batch_list_kind *kind, bool by_agent)
{
    struct batch_list l;
    struct err e;
    size_t n;
    const struct batch_image *images = batch_images(&n);
    if (batch_list_begin(r, kind, &l, &e) < 0)
        return reply_err(r, &e);
    for (size_t i = strtoul(l.page->after, NULL, 10); i < n; i++) {
        char place[PLACE_SIZE];
        if ((by_agent && i > 0 && strcmp(images[i - 1].agent, images[i].agent) == 0) ||
            (l.filter && !filter_holds(l.filter, is_wanted, &images[i])))
            continue;
        snprintf(place, sizeof place, "%zu", i + 1);
        page_add(l.page, place, by_agent ? render_agent(images, n, i) : render_image(&images[i]));
    }
    return page_reply(l.page);
}

struct replied *images_list(struct request *r)
{
    static const struct batch_list_kind kind = {
        .fragment = "supportedimages", .filters = filters, .n_filters = FILTERS};
    return list(r, &kind, false);
}

struct replied *images_list_agents(struct request *r)
{
    static const struct batch_list_kind kind = {
        .fragment = "nodeagentskus", .filters = filters, .n_filters = 1};
    return list(r, &kind, true);
}
