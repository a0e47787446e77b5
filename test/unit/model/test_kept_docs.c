/* SPDX-License-Identifier: MIT
 *
 * Documents that are kept open mean what their texts say, whatever was opened before them.
 */
#include "lib/arena.h"
#include "model/batch/spec.h"
#include "model/kept_docs.h"
#include "test/unit/support/arena_test.h"
#include "test/unit/support/tests.h"

static const char *id_of(struct kept_docs *k, struct arena *a, const char *doc)
{
    struct batch_task_spec spec;
    struct err e;
    assert_int_equal(batch_task_decode_kept(k, a, doc, &spec, &e), 0);
    assert_int_equal(spec.slots, 1);
    return spec.id;
}

TEST(test_a_text_is_read_once)
{
    struct kept_docs *k = kept_docs_new();
    struct err e;
    const json_t *first = kept_docs_open(k, "{\"id\":\"t1\"}", &e);
    FREED char *same = strdup("{\"id\":\"t1\"}");
    assert_ptr_equal(kept_docs_open(k, same, &e), first);
    kept_docs_free(k);
}

ARENA_TEST(test_many_texts_take_the_places_of_others)
{
    enum { MANY = 3000 };
    struct kept_docs *k = kept_docs_new();
    char doc[64], id[16];
    for (int i = 0; i < 2 * MANY; i++) {
        (void)snprintf(id, sizeof id, "t%d", i % MANY);
        (void)snprintf(doc, sizeof doc, "{\"id\":\"%s\"}", id);
        assert_string_equal(id_of(k, a, doc), id);
    }
    kept_docs_free(k);
}

TEST(test_long_texts_are_read_too)
{
    enum { LONG = 100000 };
    struct kept_docs *k = kept_docs_new();
    struct arena a;
    FREED char *doc = calloc(1, LONG + 64);
    arena_init(&a);
    for (char c = 'a'; c < 'd'; c++) {
        (void)snprintf(doc, LONG + 64, "{\"id\":\"%*c\"}", LONG, c);
        memset(doc + 7, c, LONG);
        const char *id = id_of(k, &a, doc);
        assert_true(strlen(id) == LONG && id[0] == c && id[LONG - 1] == c);
    }
    arena_free(&a);
    kept_docs_free(k);
}

ARENA_TEST(test_what_is_no_json_is_refused_and_forgotten)
{
    struct kept_docs *k = kept_docs_new();
    struct batch_task_spec spec;
    struct err e;
    assert_int_equal(batch_task_decode_kept(k, a, "{\"id\":", &spec, &e), -1);
    assert_int_equal(batch_task_decode_kept(k, a, NULL, &spec, &e), -1);
    assert_string_equal(id_of(k, a, "{\"id\":\"t1\"}"), "t1");
    assert_int_equal(batch_task_decode_kept(k, a, "{\"id\":", &spec, &e), -1);
    kept_docs_free(k);
}
