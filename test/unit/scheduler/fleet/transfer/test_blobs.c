/* SPDX-License-Identifier: MIT
 *
 * URLs of blobs of others, of their blocks, and lists of them.
 */
#include <stdlib.h>
#include <string.h>

#include "scheduler/fleet/transfer/blobs.h"
#include "test/unit/support/arena_test.h"

ARENA_TEST(test_urls)
{
    static const struct {
        const char *container, *blob, *url, *block, *commit;
    } rows[] = {
        {"https://h/c?sig=x", "a/b c", "https://h/c/a/b%20c?sig=x",
         "https://h/c/a/b%20c?sig=x&comp=block&blockid=MDAwMDA3",
         "https://h/c/a/b%20c?sig=x&comp=blocklist"},
        {"https://h/c//#f", "?&#%", "https://h/c/%3F%26%23%25",
         "https://h/c/%3F%26%23%25?comp=block&blockid=MDAwMDA3",
         "https://h/c/%3F%26%23%25?comp=blocklist"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_string_equal(blob_url(a, rows[i].container, rows[i].blob), rows[i].url);
        assert_string_equal(blob_block_url(a, rows[i].container, rows[i].blob, 7), rows[i].block);
        assert_string_equal(blob_commit_url(a, rows[i].container, rows[i].blob), rows[i].commit);
    }
}

ARENA_TEST(test_ids_of_blocks_have_one_length)
{
    size_t last = 0;
    for (size_t n = 1; n <= BLOB_BLOCKS_MAX; n *= 7) {
        size_t len = strlen(blob_block_url(a, "u", "b", n));
        assert_true(last == 0 || len == last);
        last = len;
    }
}

TEST(test_what_is_committed)
{
    size_t n;
    char *body = blob_commit_body(2, &n);
    assert_string_equal(body, "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>"
                              "<Latest>MDAwMDAw</Latest><Latest>MDAwMDAx</Latest></BlockList>");
    assert_int_equal(n, strlen(body));
    free(body);
}

TEST(test_pages_of_lists)
{
    static const struct {
        const char *xml;
        int rc;
        size_t n;
        const char *first, *next;
        bool has_bytes;
    } rows[] = {
        {"<E><Blobs><Blob><Name>a&amp;b</Name></Blob><Blob><Name>c</Name></Blob></Blobs>"
         "<NextMarker>m</NextMarker></E>",
         0, 2, "a&b", "m", false},
        {"<E><Blobs><Blob><Name>d/</Name><Properties><Content-Length>10</Content-Length>"
         "</Properties></Blob></Blobs></E>",
         0, 1, "d/", NULL, true},
        {"<E><Blobs><Blob><Properties><Content-Length>0</Content-Length></Properties>"
         "<Name>d/</Name></Blob></Blobs></E>",
         0, 1, "d/", NULL, false},
        {"<E><Blobs><Blob><Name Encoded=\"true\">%EF%BF%BE a%2fb%00%</Name></Blob></Blobs></E>", 0,
         1, "\xef\xbf\xbe a/b%00%", NULL, false},
        {"<E><Blobs><Blob><Name>%2f</Name></Blob><Blob/></Blobs></E>", 0, 1, "%2f", NULL, false},
        {"<E><Blobs><BlobPrefix><Name>d/</Name></BlobPrefix></Blobs><NextMarker/></E>", 0, 0, NULL,
         NULL, false},
        {"<!DOCTYPE E []><E/>", -1, 0, NULL, NULL, false},
        {"<E><Blobs>", -1, 0, NULL, NULL, false},
        {"", -1, 0, NULL, NULL, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena a;
        struct blob_page page;
        struct err e;
        arena_init(&a);
        int rc = blob_page_read(&a, rows[i].xml, strlen(rows[i].xml), &page, &e);
        assert_int_equal(rc, rows[i].rc);
        assert_true(rc < 0 || page.n == rows[i].n);
        assert_true(rc < 0 || page.nameless == (strstr(rows[i].xml, "<Blob/>") ? 1 : 0));
        if (rows[i].first)
            assert_string_equal(page.blobs[0].name, rows[i].first);
        assert_true(rc < 0 || page.n == 0 || page.blobs[0].has_bytes == rows[i].has_bytes);
        assert_true(rc < 0 || !page.next == !rows[i].next);
        if (rows[i].next)
            assert_string_equal(page.next, rows[i].next);
        arena_free(&a);
    }
}
