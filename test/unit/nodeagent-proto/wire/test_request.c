/* SPDX-License-Identifier: MIT
 *
 * Requests: each is sent as it always was, read as it was sent, and refused with the words that say
 * what is wrong.
 */
#include "nodeagent-proto/wire/message.h"
#include "nodeagent-proto/wire/request.h"
#include "test/unit/support/arena_test.h"
#include "test/unit/support/tests.h"

#define AS "+j"

static const char *const two_paths[] = {"/n/a", "/n/b"};
static const struct task_spec a_task = {.id = "t-1",
                                        .command_line = "true",
                                        .cwd = "/n/wd",
                                        .stdout_path = "/n/out",
                                        .stderr_path = "/n/err",
                                        .step = "job"};

/* What agents of every version know: these texts never change. */
static const struct {
    struct node_request asked;
    const char *sent;
} known[] = {
#define SENT(name, text, ...)                                                                      \
    {                                                                                              \
        {.op = REQUEST_##name, .name = {__VA_ARGS__}}, text                                        \
    }
#define BARE(name)                                                                                 \
    {                                                                                              \
        {.op = REQUEST_##name}, "{}"                                                               \
    }
    SENT(hello, "{\"version\":1,\"ping_s\":60,\"epoch\":{\"term\":3,\"id\":\"e\"}}", .version = 1,
         .ping_s = 60, .epoch = {.term = 3, .id = "e"}),
    SENT(hello, "{\"version\":1,\"ping_s\":60}", .version = 1, .ping_s = 60),
    BARE(ping),
    SENT(mount_folder, "{\"source\":\"/s\",\"target\":\"/t\"}", .source = "/s", .target = "/t"),
    SENT(mount_folder, "{\"source\":\"/s\",\"target\":\"/t\",\"shared\":true}", .source = "/s",
         .target = "/t", .shared = true),
    SENT(mount_folder, "{\"source\":\"/s/x\",\"target\":\"/t\",\"shared\":true,\"within\":\"/s\"}",
         .source = "/s/x", .target = "/t", .shared = true, .within = "/s"),
    SENT(open_folder, "{\"path\":\"/s\"}", .path = "/s"),
    SENT(open_folder, "{\"path\":\"/s/x\",\"within\":\"/s\"}", .path = "/s/x", .within = "/s"),
    SENT(unmount, "{\"target\":\"/t\"}", .target = "/t"),
    SENT(make_dirs, "{\"paths\":[\"/n/a\",\"/n/b\"],\"as\":\"+j\"}", .paths = two_paths,
         .n_paths = 2, .as = AS),
    SENT(make_dirs, "{\"paths\":[]}", .paths = two_paths),
    SENT(remove_tree, "{\"path\":\"/n/x\"}", .path = "/n/x"),
    SENT(drop_unlinked, "{\"dir\":\"/d\",\"used\":\"/u\",\"links\":\"/l\"}", .dir = "/d",
         .used = "/u", .links = "/l"),
    SENT(append, "{\"path\":\"/f\",\"text\":\"x\",\"as\":\"+j\"}", .path = "/f", .text = "x",
         .as = AS),
    SENT(write_file, "{\"path\":\"/f\",\"text\":\"\",\"mode\":384}", .path = "/f", .text = "",
         .mode = 0600),
    SENT(write_bytes,
         "{\"path\":\"/f\",\"bytes\":\"AGE=\",\"offset\":0,\"last\":false,\"mode\":420,\"as\":"
         "\"+j\"}",
         .path = "/f", .bytes = "\0a", .n_bytes = 2, .mode = 0644, .as = AS),
    SENT(write_bytes,
         "{\"path\":\"/f\",\"bytes\":\"\",\"offset\":5000000000,\"last\":true,\"mode\":0}",
         .path = "/f", .bytes = "", .offset = 5000000000, .last = true),
    SENT(unpack, "{\"path\":\"/z\",\"target\":\"/t\"}", .path = "/z", .target = "/t"),
    SENT(unpack, "{\"target\":\"/t\"}", .target = "/t"),
    SENT(list_dir, "{\"base\":\"/b\",\"path\":\"\",\"as\":\"+j\"}", .base = "/b", .path = "",
         .as = AS),
    SENT(read_file, "{\"base\":\"/b\",\"path\":\"f\",\"offset\":0,\"max\":9,\"raw\":true}",
         .base = "/b", .path = "f", .max = 9, .raw = true),
    SENT(run,
         "{\"task\":{\"id\":\"t-1\",\"command_line\":\"true\",\"cwd\":\"/n/wd\",\"env\":[],"
         "\"stdout_path\":\"/n/out\",\"stderr_path\":\"/n/err\",\"step\":\"job\"}}",
         .task = &a_task),
    SENT(signal, "{\"task\":\"t-1\",\"signal\":15}", .task = "t-1", .signal = 15),
    BARE(tasks),
    SENT(forget, "{\"task\":\"t-1\"}", .task = "t-1"),
    BARE(health),
    SENT(mounting, "{\"host\":\"h\",\"port\":7422}", .host = "h", .port = 7422),
    BARE(usage),
    SENT(sample, "{\"gpus\":true}", .gpus = true),
    SENT(sample, "{}", .gpus = false),
    SENT(user_add, "{\"name\":\"u\",\"password\":\"p\"}", .name = "u", .password = "p"),
    SENT(user_add,
         "{\"name\":\"u\",\"ssh_public_key\":\"k\",\"private_key\":\"s\",\"uid\":7,\"gid\":8}",
         .name = "u", .ssh_public_key = "k", .private_key = "s", .uid = 7, .gid = 8),
    SENT(user_remove, "{\"name\":\"u\"}", .name = "u"),
    SENT(user_remove, "{}", .name = NULL),
    SENT(account_take,
         "{\"name\":\"j\",\"dir\":\"/n/jobs/j\",\"first\":70000,\"count\":9,\"room\":true}",
         .name = "j", .dir = "/n/jobs/j", .first = 70000, .count = 9, .room = true),
    SENT(account_take,
         "{\"name\":\"j\",\"dir\":\"/n/jobs/j\",\"also\":\"/o/jobs/j\",\"first\":4294967295,"
         "\"count\":0,\"uid\":1,\"gid\":2147483647}",
         .name = "j", .dir = "/n/jobs/j", .also = "/o/jobs/j", .first = UINT32_MAX, .uid = 1,
         .gid = INT32_MAX),
    SENT(account_key, "{\"name\":\"j\",\"private_key\":\"s\"}", .name = "j", .private_key = "s"),
    SENT(account_release, "{\"name\":\"j\"}", .name = "j"),
    SENT(account_release, "{}", .name = NULL),
    SENT(remote_open, "{\"job\":\"j\",\"as\":\"+j\"}", .run = "j", .as = AS),
    SENT(remote_close, "{\"job\":\"j\"}", .run = "j"),
    SENT(remote_close, "{}", .run = NULL),
    SENT(clean, "{\"take\":false}", .take = false),
    SENT(clean, "{\"take\":true}", .take = true),
    BARE(remove_root),
    BARE(reboot),
};

TEST(packs_as_ever)
{
    bool seen[N_REQUESTS] = {0};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        json_t *msg = request_pack(&known[i].asked);
        char *text = json_dumps(msg, JSON_COMPACT);
        assert_string_equal(text, known[i].sent);
        free(text);
        json_decref(msg);
        seen[known[i].asked.op] = true;
    }
    for (int op = 0; op < N_REQUESTS; op++)
        if (!seen[op])
            fail_msg("nothing is known of %s", request_form((enum request_op)op)->name);
}

/* What was read is packed again: so every member got to its place. */
TEST(reads_what_was_packed)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct arena a;
        struct err e;
        struct node_request got;
        arena_init(&a);
        memset(&got, 0x55, sizeof got);
        got.op = known[i].asked.op;
        json_auto_t *msg = json_loads(known[i].sent, 0, NULL);
        if (request_read(msg, &a, &got, &e) < 0)
            fail_msg("%s: %s", known[i].sent, e.msg);
        json_auto_t *again = request_pack(&got);
        assert_true(json_equal(msg, again));
        arena_free(&a);
    }
}

TEST(finds_names)
{
    enum request_op op;
    for (int i = 0; i < N_REQUESTS; i++) {
        assert_true(request_find(request_form((enum request_op)i)->name, &op));
        assert_int_equal(op, i);
    }
    assert_false(request_find("fly", &op));
    assert_false(request_find("", &op));
}

TEST(a_missing_text_and_one_that_is_not_utf8_cannot_be_packed)
{
    assert_null(request_pack(REQUEST(append, .path = "/f")));
    assert_null(request_pack(REQUEST(append, .path = "/f", .text = "\xff")));
    assert_null(request_pack(REQUEST(append, .path = "/f", .text = "x", .as = "\xff")));
    assert_null(request_pack(REQUEST(make_dirs, .paths = (const char *[]){"\xff"}, .n_paths = 1)));
    assert_null(request_pack(REQUEST(run, .task = &(struct task_spec){.id = "\xff"})));
}

static const struct {
    enum request_op op;
    const char *sent;
    enum err_code code;
    const char *target, *msg;
} wrong[] = {
    {REQUEST_hello, "{}", ERR_PROTOCOL, "version", "the request has no number 'version'"},
    {REQUEST_hello, "{\"version\":2,\"epoch\":7}", ERR_NOT_SUPPORTED, "version",
     "the agent speaks version 1 of the node protocol, not 2"},
    {REQUEST_hello, "{\"version\":1,\"epoch\":7}", ERR_PROTOCOL, "term",
     "an epoch has no valid number 'term'"},
    {REQUEST_unmount, "{}", ERR_PROTOCOL, "target", "the request has no text 'target'"},
    {REQUEST_unmount, "{\"target\":null}", ERR_PROTOCOL, "target",
     "the request has no text 'target'"},
    {REQUEST_unmount, "{\"target\":\"x\"}", ERR_INVALID_PATH, "target",
     "target 'x' is not an absolute path of the node"},
    {REQUEST_make_dirs, "{}", ERR_PROTOCOL, "paths", "the request has no list 'paths'"},
    {REQUEST_make_dirs, "{\"paths\":[\"/a\",\"b\"]}", ERR_INVALID_PATH, "paths",
     "paths[1] 'b' is not an absolute path of the node"},
    {REQUEST_make_dirs, "{\"paths\":[7]}", ERR_INVALID_PATH, "paths",
     "paths[0] '' is not an absolute path of the node"},
    {REQUEST_make_dirs, "{\"paths\":[],\"as\":7}", ERR_PROTOCOL, "as",
     "the request has no text 'as'"},
    {REQUEST_write_file, "{\"path\":\"/f\",\"text\":\"\",\"mode\":4096}", ERR_INVALID_PROPERTY,
     "mode", "mode 010000 is out of range; it must be from 0 to 07777"},
    {REQUEST_write_file, "{\"path\":\"/f\",\"text\":\"\",\"mode\":3000000000}", ERR_PROTOCOL,
     "mode", "the number 3000000000 is too large for 'mode'"},
    {REQUEST_write_bytes, "{\"path\":\"/f\",\"bytes\":\"?\",\"offset\":0,\"mode\":0}",
     ERR_INVALID_PROPERTY, "bytes", "the bytes are not base64, or their offset is negative"},
    {REQUEST_write_bytes, "{\"path\":\"/f\",\"bytes\":\"\",\"offset\":-1,\"mode\":0}",
     ERR_INVALID_PROPERTY, "bytes", "the bytes are not base64, or their offset is negative"},
    {REQUEST_read_file, "{\"base\":\"/\",\"path\":\"\",\"offset\":-1,\"max\":1}",
     ERR_INVALID_PROPERTY, "offset",
     "1 bytes from offset -1 cannot be read: at most 1048576 bytes from offset 0 or above"},
    {REQUEST_read_file, "{\"base\":\"/\",\"path\":\"\",\"offset\":0,\"max\":1048577}",
     ERR_INVALID_PROPERTY, "offset",
     "1048577 bytes from offset 0 cannot be read: at most 1048576 bytes from offset 0 or above"},
    {REQUEST_run, "{\"task\":{}}", ERR_PROTOCOL, "",
     "the task cannot be read: Object item not found: id"},
    {REQUEST_signal, "{\"task\":\"t\",\"signal\":\"9\"}", ERR_PROTOCOL, "signal",
     "the request has no number 'signal'"},
    {REQUEST_user_add, "{\"name\":\"u\",\"uid\":7}", ERR_PROTOCOL, "gid",
     "the request has no number 'gid'"},
    {REQUEST_user_add, "{\"name\":\"u\",\"uid\":0,\"gid\":0}", ERR_INVALID_PROPERTY, "uid",
     "uid 0 and gid 0 are not valid; each must be from 1 to 2147483647"},
    {REQUEST_user_remove, "{\"name\":null}", ERR_PROTOCOL, "name",
     "the request has no text 'name'"},
    {REQUEST_account_take, "{\"name\":\"j\",\"dir\":\"/d\",\"first\":-1,\"count\":2}",
     ERR_INVALID_PROPERTY, "first",
     "2 numbers from -1 on are not a valid range of account numbers"},
    {REQUEST_remote_open, "{\"job\":\"..\"}", ERR_INVALID_PROPERTY, "job",
     "'..' cannot be a job's name"},
    {REQUEST_remote_close, "{\"job\":\"a/b\"}", ERR_INVALID_PROPERTY, "job",
     "'a/b' cannot be a job's name"},
};

TEST(refuses_what_is_missing_or_wrong)
{
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct arena a;
        struct err e;
        struct node_request got = {.op = wrong[i].op};
        arena_init(&a);
        json_auto_t *msg = json_loads(wrong[i].sent, 0, NULL);
        assert_int_equal(request_read(msg, &a, &got, &e), -1);
        assert_string_equal(e.msg, wrong[i].msg);
        assert_int_equal(e.code, wrong[i].code);
        assert_string_equal(e.target, wrong[i].target);
        arena_free(&a);
    }
}

/* What nobody knows is ignored, and a bool that is not true is false. */
ARENA_TEST(takes_the_rest_as_it_is)
{
    struct err e;
    struct node_request got = {.op = REQUEST_clean};
    json_auto_t *msg = json_loads("{\"take\":\"yes\",\"names\":[1]}", 0, NULL);
    assert_int_equal(request_read(msg, a, &got, &e), 0);
    assert_false(got.clean.take);
}

/* Members of replies are judged by their rows: a number that its member cannot hold is not cut. */
TEST(refuses_replies_with_a_bad_member)
{
#define STATUS "\"id\":\"t\",\"started_us\":1,\"ended_us\":2,\"signal\":0"
    static const struct {
        const char *text, *target;
    } rows[] = {
        {"{" STATUS ",\"state\":\"exited\",\"exit_code\":-1,\"why\":null}", NULL},
        {"{" STATUS ",\"state\":\"exited\",\"exit_code\":4294967296}", "exit_code"},
        {"{" STATUS ",\"state\":\"exited\",\"exit_code\":\"0\"}", "exit_code"},
        {"{" STATUS ",\"state\":\"asleep\",\"exit_code\":0}", "state"},
        {"{" STATUS ",\"state\":\"exited\",\"exit_code\":0,\"why\":1}", "why"},
        {"{\"state\":\"exited\",\"exit_code\":0}", "id"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct task_status s;
        struct err e = {0};
        json_auto_t *j = json_loads(rows[i].text, 0, NULL);
        assert_non_null(j);
        assert_int_equal(message_task_status_read(j, &s, &e), rows[i].target ? -1 : 0);
        assert_string_equal(e.target, rows[i].target ? rows[i].target : "");
    }
}
