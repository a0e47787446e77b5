/* SPDX-License-Identifier: MIT
 *
 * Messages of remote commands: each kind there and back, and what is refused.
 */
#include "nodeagent-proto/wire/message.h"
#include "nodeagent-proto/wire/remote.h"
#include "test/unit/support/tests.h"

static void expect_same(const struct remote_msg *m)
{
    struct remote_msg got;
    struct err e;
    json_auto_t *j = remote_pack(m);
    assert_non_null(j);
    assert_int_equal(message_kind(j), MESSAGE_EVENT);
    assert_int_equal(remote_read(j, m->bytes, m->n_bytes, &got, &e), 0);
    assert_int_equal(got.kind, m->kind);
    assert_string_equal(got.session, m->session);
    assert_int_equal(got.to_near, m->to_near);
    assert_int_equal(got.rank, m->rank);
    assert_int_equal(got.n, m->n);
    assert_int_equal(got.answer, m->answer);
    assert_int_equal(got.channel, m->channel);
    assert_int_equal(got.n_bytes, m->n_bytes);
    assert_int_equal(got.exit_code, m->exit_code);
    assert_int_equal(got.signal, m->signal);
    assert_true(!m->run || strcmp(m->run, got.run) == 0);
    assert_true(!m->host || strcmp(m->host, got.host) == 0);
    assert_true(!m->why || strcmp(m->why, got.why) == 0);
}

TEST(test_there_and_back)
{
    const struct remote_msg all[] = {
        {.kind = REMOTE_OPEN, .session = "a1", .host = "node-7"},
        {.kind = REMOTE_LOST, .session = "a1", .to_near = true, .why = "no such node"},
        {.kind = REMOTE_RESUME, .session = "a1", .rank = 3, .n = 7, .answer = true},
        {.kind = REMOTE_ACK, .session = "a1", .run = "guid-1", .n = 8},
        {.kind = REMOTE_DATA,
         .session = "a1",
         .n = 9,
         .channel = REMOTE_STDERR,
         .bytes = "x\0y",
         .n_bytes = 3},
        {.kind = REMOTE_EXIT, .session = "a1", .to_near = true, .n = 10, .exit_code = 3},
        {.kind = REMOTE_EXIT, .session = "a1", .to_near = true, .n = 10, .signal = 9},
        {.kind = REMOTE_GONE, .session = "a1", .rank = 1},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        expect_same(&all[i]);
}

static int read_text(const char *text, const char *bytes, size_t n)
{
    struct remote_msg got;
    struct err e;
    json_auto_t *j = json_loads(text, 0, NULL);
    assert_non_null(j);
    int rc = remote_read(j, bytes, n, &got, &e);
    assert_true(rc == 0 || (e.code == ERR_PROTOCOL && e.msg[0]));
    return rc;
}

TEST(test_what_is_refused)
{
    static const char *const bad[] = {
        "{}",
        "{\"kind\":\"close\",\"session\":\"a\",\"rank\":0}",
        "{\"kind\":\"gone\",\"session\":\"a\"}",
        "{\"kind\":\"gone\",\"session\":\"\",\"rank\":0}",
        "{\"kind\":\"gone\",\"session\":\"A/..\",\"rank\":0}",
        "{\"kind\":\"gone\",\"session\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"rank\":0}",
        "{\"kind\":\"gone\",\"session\":\"a\",\"rank\":-1}",
        "{\"kind\":\"gone\",\"session\":\"a\",\"rank\":1000001}",
        "{\"kind\":\"gone\",\"session\":\"a\",\"rank\":0,\"job\":\"../x\"}",
        "{\"kind\":\"ack\",\"session\":\"a\",\"rank\":0}",
        "{\"kind\":\"ack\",\"session\":\"a\",\"rank\":0,\"n\":9007199254740993}",
        "{\"kind\":\"data\",\"session\":\"a\",\"rank\":0,\"n\":0}",
        "{\"kind\":\"data\",\"session\":\"a\",\"rank\":0,\"n\":0,\"channel\":5}",
        "{\"kind\":\"exit\",\"session\":\"a\",\"rank\":0,\"n\":0,\"exit_code\":256,\"signal\":0}",
        "{\"kind\":\"exit\",\"session\":\"a\",\"rank\":0,\"n\":0,\"exit_code\":1}",
        "{\"kind\":\"open\",\"session\":\"a\",\"rank\":0}",
    };
    static const char data[] =
        "{\"kind\":\"data\",\"session\":\"a\",\"rank\":0,\"n\":0,\"channel\":1}";
    static const char gone[] = "{\"kind\":\"gone\",\"session\":\"a\",\"rank\":0}";
    static char bytes[REMOTE_BYTES_MAX + 1];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(read_text(bad[i], NULL, 0), -1);
    assert_int_equal(read_text(gone, NULL, 0), 0);
    assert_int_equal(read_text(gone, bytes, 1), -1);
    assert_int_equal(read_text(data, bytes, REMOTE_BYTES_MAX), 0);
    assert_int_equal(read_text(data, bytes, REMOTE_BYTES_MAX + 1), -1);
}

TEST(test_texts_have_a_bound_and_are_utf8)
{
    char host[REMOTE_TEXT_MAX + 2];
    struct remote_msg m = {.kind = REMOTE_OPEN, .session = "a", .host = host}, got;
    struct err e;
    memset(host, 'h', sizeof host);
    host[REMOTE_TEXT_MAX + 1] = '\0';
    json_t *j = remote_pack(&m);
    assert_int_equal(remote_read(j, NULL, 0, &got, &e), -1);
    json_decref(j);
    host[REMOTE_TEXT_MAX] = '\0';
    expect_same(&m);
    m.host = "\xff";
    assert_null(remote_pack(&m));
}
