/* SPDX-License-Identifier: MIT
 *
 * A container of others: a line with its URL, one with the name of a blob, one with a marker, and
 * then a page of its list. What is sent has no more than the given URL and what is encoded; a page
 * is read or refused.
 */
#include "scheduler/fleet/transfer/blobs.h"
#include "test/fuzz/fuzz.h"

/* `text` begins with what of `url` comes before its query, without slashes at the end. */
static void claim_above(const char *text, const char *url)
{
    size_t n = strcspn(url, "?#");
    while (n > 0 && url[n - 1] == '/')
        n--;
    CLAIM(strncmp(text, url, n) == 0);
}

/* Nothing that a request's line could not have, as far as the container has none of it. */
static void claim_plain(const char *url, const char *container)
{
    static const char ends[] = " \r\n\t\"<>";
    CLAIM(strpbrk(container, ends) || !strpbrk(url, ends));
    CLAIM(strchr(container, '#') || !strchr(url, '#'));
}

static void read_page(struct arena *a, struct pieces *in)
{
    struct blob_page page;
    struct err e = {0};
    int rc = blob_page_read(a, in->p, (size_t)(in->end - in->p), &page, &e);
    tell("page", rc, e.msg);
    CLAIM(rc == 0 || e.msg[0]);
    for (size_t i = 0; rc == 0 && i < page.n; i++)
        CLAIM(page.blobs[i].name[0]);
    CLAIM(rc < 0 || !page.next || page.next[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pieces in = {(const char *)data, (const char *)data + size};
    char *container = next_line(&in), *blob = next_line(&in), *marker = next_line(&in);
    struct arena a;
    arena_init(&a);
    const char *urls[] = {blob_url(&a, container, blob),
                          blob_block_url(&a, container, blob, size % BLOB_BLOCKS_MAX),
                          blob_commit_url(&a, container, blob)};
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        claim_above(urls[i], container);
        claim_plain(urls[i], container);
    }
    claim_plain(blob_list_url(&a, container, blob, *marker ? marker : NULL), container);
    size_t n;
    char *body = blob_commit_body(size % 100, &n);
    CLAIM(strlen(body) == n);
    free(body);
    read_page(&a, &in);
    arena_free(&a);
    free(container);
    free(blob);
    free(marker);
    return 0;
}
