/* SPDX-License-Identifier: MIT
 *
 * Frames: whatever comes in, and however it is split, the decoder says message, more or error.
 */
#include "nodeagent-proto/wire/codec.h"
#include "nodeagent-proto/wire/message.h"
#include "test/unit/support/says.h"
#include "test/unit/support/tests.h"

static void encode(struct strbuf *out, const char *text)
{
    json_auto_t *j = json_loads(text, 0, NULL);
    struct err e;
    assert_non_null(j);
    assert_int_equal(frame_encode(j, out, &e), 0);
}

static void expect(struct frame_decoder *d, const char *text)
{
    json_auto_t *want = json_loads(text, 0, NULL), *got = NULL;
    struct err e;
    assert_int_equal(frame_decoder_next(d, &got, &e), 1);
    assert_true(json_equal(want, got));
}

static void expect_more(struct frame_decoder *d)
{
    json_t *got;
    struct err e;
    assert_int_equal(frame_decoder_next(d, &got, &e), 0);
    assert_null(got);
}

static void expect_broken(struct frame_decoder *d, const char *words)
{
    json_t *got;
    struct err e;
    assert_int_equal(frame_decoder_next(d, &got, &e), -1);
    assert_int_equal(e.code, ERR_PROTOCOL);
    assert_says(e.msg, words);
    /* For good: a fine frame after it does not bring the stream back in step. */
    struct strbuf b = STRBUF_INIT;
    encode(&b, "{}");
    frame_decoder_feed(d, b.s, b.len);
    assert_int_equal(frame_decoder_next(d, &got, &e), -1);
    strbuf_free(&b);
    frame_decoder_free(d);
}

TEST(test_round_trip_in_every_split)
{
    const char *one = "{\"id\":1,\"op\":\"hello\"}", *two = "{\"text\":\"\\u00e4\\n\"}",
               *three = "{}";
    struct strbuf b = STRBUF_INIT;
    encode(&b, one);
    encode(&b, two);
    encode(&b, three);
    for (size_t cut = 0; cut <= b.len; cut++) {
        struct frame_decoder d;
        frame_decoder_init(&d);
        struct strbuf whole = STRBUF_INIT;
        json_t *j;
        struct err e;
        size_t from[] = {0, cut}, to[] = {cut, b.len};
        for (int part = 0; part < 2; part++) {
            frame_decoder_feed(&d, b.s + from[part], to[part] - from[part]);
            while (frame_decoder_next(&d, &j, &e) > 0) {
                assert_int_equal(frame_encode(j, &whole, &e), 0);
                json_decref(j);
            }
        }
        assert_int_equal(whole.len, b.len);
        assert_memory_equal(whole.s, b.s, b.len);
        strbuf_free(&whole);
        frame_decoder_free(&d);
    }
    strbuf_free(&b);
}

TEST(test_byte_by_byte)
{
    struct frame_decoder d;
    struct strbuf b = STRBUF_INIT;
    frame_decoder_init(&d);
    encode(&b, "{\"a\":[1,2,3]}");
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < b.len; i++) {
            expect_more(&d);
            frame_decoder_feed(&d, b.s + i, 1);
        }
        expect(&d, "{\"a\":[1,2,3]}");
    }
    expect_more(&d);
    strbuf_free(&b);
    frame_decoder_free(&d);
}

TEST(test_wrong_lengths)
{
    const struct {
        const char *bytes;
        size_t n;
        const char *words;
    } cases[] = {
        {"\0\0\0\0", 4, "claims 0 bytes"},
        {"\0\x40\0\x01", 4, "claims 4194305 bytes"},
        {"\xff\xff\xff\xff", 4, "claims 4294967295 bytes"},
        {"GET / HTTP/1.1", 9, "does not speak"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct frame_decoder d;
        frame_decoder_init(&d);
        frame_decoder_feed(&d, cases[i].bytes, cases[i].n);
        expect_broken(&d, cases[i].words);
    }
}

TEST(test_wrong_contents)
{
    const struct {
        const char *text, *words;
    } cases[] = {
        {"nonsense", "is not JSON"},
        {"{\"a\":1} trailing", "is not JSON"},
        {"{\"a\":1,\"a\":2}", "is not JSON"},
        {"{\"a\":\"\xff\xfe\"}", "is not JSON"},
        {"{\"a\":\"\\u0000\"}", "is not JSON"},
        {"[1,2]", "not an object"},
        {"{\"a\":", "is not JSON"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct frame_decoder d;
        char head[4] = {0, 0, 0, (char)strlen(cases[i].text)};
        frame_decoder_init(&d);
        frame_decoder_feed(&d, head, 4);
        frame_decoder_feed(&d, cases[i].text, strlen(cases[i].text));
        expect_broken(&d, cases[i].words);
    }
}

TEST(test_garbage)
{
    unsigned seed = 1; /* fixed: a failure must come again */
    for (int round = 0; round < 2000; round++) {
        struct frame_decoder d;
        char bytes[64];
        json_t *j;
        struct err e;
        int rc;
        frame_decoder_init(&d);
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (char)(rand_r(&seed) >> 7);
        if (round % 2) /* a length that makes sense, then garbage */
            memcpy(bytes, "\0\0\0\x10", 4);
        frame_decoder_feed(&d, bytes, sizeof bytes);
        while ((rc = frame_decoder_next(&d, &j, &e)) > 0)
            json_decref(j);
        assert_true(rc == 0 || rc == -1);
        frame_decoder_free(&d);
    }
}

TEST(test_largest_and_too_large)
{
    const size_t around = strlen("{\"t\":\"\"}");
    FREED char *text = calloc(1, FRAME_MAX + 1);
    struct strbuf b = STRBUF_INIT;
    struct err e;
    memset(text, 'x', FRAME_MAX - around + 1);
    json_t *j = json_pack("{s:s}", "t", text);
    assert_int_equal(frame_encode(j, &b, &e), -1);
    assert_int_equal(e.code, ERR_BODY_TOO_LARGE);
    assert_int_equal(b.len, 0);
    json_decref(j);
    text[FRAME_MAX - around] = '\0';
    j = json_pack("{s:s}", "t", text);
    assert_int_equal(frame_encode(j, &b, &e), 0);
    assert_int_equal(b.len, FRAME_MAX + FRAME_HEADER);
    struct frame_decoder d;
    frame_decoder_init(&d);
    frame_decoder_feed(&d, b.s, b.len);
    json_t *got;
    assert_int_equal(frame_decoder_next(&d, &got, &e), 1);
    assert_true(json_equal(j, got));
    json_decref(got);
    json_decref(j);
    frame_decoder_free(&d);
    strbuf_free(&b);
}

TEST(test_spec_and_status)
{
    struct kv env[] = {{.name = "A", .value = "1"},
                       {.name = "KEY", .value = "s=e", .is_secret = true}};
    struct task_spec in = {.id = "job.1_x-2",
                           .command_line = "echo $A",
                           .cwd = "/w",
                           .env = env,
                           .n_env = 2,
                           .stdout_path = "/o",
                           .stderr_path = "/e",
                           .step = "job"};
    struct task_spec out;
    struct arena a;
    struct err e;
    arena_init(&a);
    json_t *j = message_task_spec(&in);
    assert_int_equal(message_task_spec_read(j, &a, &out, &e), 0);
    assert_string_equal(out.id, in.id);
    assert_string_equal(out.command_line, in.command_line);
    assert_int_equal(out.n_env, 2);
    assert_string_equal(out.env[1].value, "s=e");
    assert_null(out.log_path);
    json_object_set_new(j, "cwd", json_string("relative"));
    assert_int_equal(message_task_spec_read(j, &a, &out, &e), -1);
    assert_says(e.msg, "relative");
    json_decref(j);
    arena_free(&a);

    struct task_status s = {.id = "t", .state = TASK_LOST, .exit_code = -1, .why = "gone"}, back;
    j = message_task_status(&s);
    assert_int_equal(message_task_status_read(j, &back, &e), 0);
    assert_int_equal(back.state, TASK_LOST);
    assert_string_equal(back.why, "gone");
    assert_null(back.stderr_tail);
    json_object_set_new(j, "state", json_string("asleep"));
    assert_int_equal(message_task_status_read(j, &back, &e), -1);
    json_decref(j);
}

/* In every split: the bytes are there with their message, and the next message is as good. */
TEST(test_bytes_go_with_a_message)
{
    struct strbuf b = STRBUF_INIT;
    struct err e;
    json_auto_t *msg = json_pack("{s:i}", "id", 1), *other = json_pack("{s:i}", "id", 2);
    const char bytes[] = "\0\xff binary\n";
    assert_int_equal(frame_encode_with(msg, bytes, sizeof bytes, &b, &e), 0);
    assert_int_equal(frame_body_size(b.s), b.len - FRAME_HEADER);
    assert_int_equal(frame_encode(other, &b, &e), 0);
    for (size_t cut = 0; cut <= b.len; cut++) {
        struct frame_decoder d;
        json_t *got[2];
        size_t n = 0, n_bytes = 0;
        frame_decoder_init(&d);
        for (int half = 0; half < 2; half++) {
            json_t *m;
            frame_decoder_feed(&d, half ? b.s + cut : b.s, half ? b.len - cut : cut);
            while (frame_decoder_next(&d, &m, &e) == 1) {
                const char *with = frame_decoder_bytes(&d, &n_bytes);
                assert_int_equal(n_bytes, n == 0 ? sizeof bytes : 0);
                if (n == 0)
                    assert_memory_equal(with, bytes, sizeof bytes);
                assert_true(n < 2);
                got[n++] = m;
            }
        }
        assert_int_equal(n, 2);
        assert_true(json_equal(got[0], msg) && json_equal(got[1], other));
        json_decref(got[0]);
        json_decref(got[1]);
        frame_decoder_free(&d);
    }
    strbuf_free(&b);
}

TEST(test_bytes_that_are_not_there)
{
    static const char frames[][14] = {"\x80\0\0\x03{}", "\x80\0\0\x06\0\0\0\x07{}",
                                      "\x80\0\0\x08\xff\xff\xff\xff{} x"};
    static const size_t n[] = {7, 10, 12};
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        struct frame_decoder d;
        struct err e;
        json_t *msg;
        frame_decoder_init(&d);
        frame_decoder_feed(&d, frames[i], n[i]);
        assert_int_equal(frame_decoder_next(&d, &msg, &e), -1);
        assert_says(e.msg, "bytes of JSON");
        frame_decoder_free(&d);
    }
}

TEST(test_names_of_errors)
{
    /* As they have been on the wire since version 1. */
    static const struct {
        enum err_code code;
        const char *name;
    } rows[] = {
        {ERR_INVALID_PROPERTY, "InvalidParameter"},    {ERR_CONFLICT, "Conflict"},
        {ERR_FILE_NOT_FOUND, "FileNotFound"},          {ERR_UNAVAILABLE, "ServiceUnavailable"},
        {ERR_NOT_SUPPORTED, "FeatureNotSupported"},    {ERR_PROTOCOL, "NodeProtocolError"},
        {ERR_BODY_TOO_LARGE, "RequestEntityTooLarge"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err e = {.code = rows[i].code, .msg = "text"}, back;
        json_auto_t *j = message_err(&e);
        assert_string_equal(json_string_value(json_object_get(j, "code")), rows[i].name);
        message_err_read(j, &back);
        assert_int_equal(back.code, rows[i].code);
    }
    assert_string_equal(wire_code_name(ERR_CONFIG), "NodeFailure");
    assert_int_equal(wire_code_find("Unheard"), ERR_NODE);
}

TEST(test_a_refusal_without_a_reason_says_so)
{
    static const char *const texts[] = {"{}", "{\"message\": \"\"}", "{\"message\": 7}", "[]"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct err e;
        json_t *j = json_loads(texts[i], 0, NULL);
        message_err_read(j, &e);
        assert_int_equal(e.code, ERR_NODE);
        assert_string_equal(e.msg, "the agent gave no reason");
        json_decref(j);
    }
    struct err e;
    json_t *j = json_loads("{\"code\": 7, \"message\": \"no such file\"}", 0, NULL);
    message_err_read(j, &e);
    assert_string_equal(e.msg, "no such file");
    json_decref(j);
}

TEST(test_ids)
{
    char longest[TASK_ID_MAX + 2];
    memset(longest, 'a', sizeof longest);
    longest[TASK_ID_MAX + 1] = '\0';
    assert_false(task_id_valid(longest));
    longest[TASK_ID_MAX] = '\0';
    assert_true(task_id_valid(longest));
    assert_true(task_id_valid("A-z_0.9"));
    assert_false(task_id_valid(""));
    assert_false(task_id_valid("a/b"));
    assert_false(task_id_valid("a b"));
}
