/* SPDX-License-Identifier: MIT
 *
 * Log lines, as text and as JSON: one line an event, whatever the values hold.
 */
#include <jansson.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/log_kept.h"
#include "test/unit/support/says.h"
#include "test/unit/support/tests.h"

struct pipe_log {
    struct log log;
    int read_end;
    char line[4096];
};

static int setup(void **state)
{
    struct pipe_log *p = calloc(1, sizeof *p);
    int fds[2];
    if (pipe(fds) < 0) {
        free(p);
        return -1;
    }
    p->read_end = fds[0];
    p->log = (struct log){.fd = fds[1], .level = LOG_LVL_INFO, .format = LOG_FMT_TEXT};
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct pipe_log *p = *state;
    close(p->read_end);
    close(p->log.fd);
    free(p);
    return 0;
}

/* What was written, without the time stamp and the final newline; one write, so one read. */
static const char *said(struct pipe_log *p)
{
    ssize_t n = read(p->read_end, p->line, sizeof p->line - 1);
    assert_true(n > 0 && p->line[n - 1] == '\n');
    p->line[n - 1] = '\0';
    assert_null(strchr(p->line, '\n'));
    return p->log.format == LOG_FMT_TEXT ? strchr(p->line, ' ') + 1 : p->line;
}

#define LOG_TEST(name) TEST_IN(name, struct pipe_log *p, *state, setup, teardown)

LOG_TEST(text)
{
    LOG_INFO(&p->log, "job.started", LF_STR("job", "train"), LF_STR("none", NULL),
             LF_INT("ms", -3));
    assert_string_equal(said(p), "info job.started job=train ms=-3");
    assert_int_equal(p->line[10], 'T');
    assert_int_equal(p->line[23], 'Z');
    LOG_ERROR(&p->log, "x.y", LF_STR("a", "two words"), LF_STR("b", ""), LF_STR("c", "k=v"));
    assert_string_equal(said(p), "error x.y a=\"two words\" b=\"\" c=\"k=v\"");
}

LOG_TEST(text_cannot_be_forged)
{
    LOG_WARN(&p->log, "x.y", LF_STR("a", "1\n2026 error fake\r\x1b[31m\x7f\"\\"));
    assert_string_equal(said(p), "warn x.y a=\"1\\n2026 error fake\\x0d\\x1b[31m\\x7f\\\"\\\\\"");
}

/* Neither bytes that a reader of UTF-8 stops at, nor what a terminal takes for a command. */
LOG_TEST(text_is_utf8)
{
    LOG_INFO(&p->log, "x.y", LF_STR("a", "\xc3\xa4"), LF_STR("b", "a\xff\xc3\xa4\xc3"));
    assert_string_equal(said(p), "info x.y a=\xc3\xa4 b=\"a\\xff\xc3\xa4\\xc3\"");
    LOG_INFO(&p->log, "x.y",
             LF_STR("a", "\xc2\x9b"
                         "31m"));
    assert_string_equal(said(p), "info x.y a=\"\\xc2\\x9b31m\"");
}

LOG_TEST(json)
{
    p->log.format = LOG_FMT_JSON;
    LOG_INFO(&p->log, "x.y", LF_STR("a", "1\n\x1b\"\\"), LF_INT("n", 1LL << 40), LF_STR("z", NULL),
             LF_STR("bytes", "a\xff\xc3\xa4\xc3"));
    json_auto_t *o = json_loads(said(p), 0, NULL);
    assert_non_null(o);
    assert_string_equal(json_string_value(json_object_get(o, "level")), "info");
    assert_string_equal(json_string_value(json_object_get(o, "event")), "x.y");
    assert_string_equal(json_string_value(json_object_get(o, "a")), "1\n\x1b\"\\");
    assert_int_equal(json_integer_value(json_object_get(o, "n")), 1LL << 40);
    assert_null(json_object_get(o, "z"));
    assert_string_equal(json_string_value(json_object_get(o, "bytes")),
                        "a\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd");
    assert_int_equal(strlen(json_string_value(json_object_get(o, "time"))), 24);
}

LOG_TEST(levels)
{
    LOG_DEBUG(&p->log, "too.quiet", LF_INT("n", 1));
    LOG_INFO(&p->log, "just.right", LF_INT("n", 2));
    assert_string_equal(said(p), "info just.right n=2");
    p->log.level = LOG_LVL_ERROR;
    LOG_WARN(&p->log, "too.quiet", LF_INT("n", 3));
    LOG_ERROR(&p->log, "loud", LF_INT("n", 4));
    assert_string_equal(said(p), "error loud n=4");
    LOG_ERROR(NULL, "nobody.listens", LF_INT("n", 5));
}

struct log_seen {
    char subjects[256];
    int n;
};

static void note(void *ctx, const struct log_kept_line *l)
{
    struct log_seen *s = ctx;
    s->n++;
    snprintf(s->subjects, sizeof s->subjects, "%s", l->subject);
    assert_says(l->text, l->event);
    assert_int_equal(l->text[strlen(l->text) - 1], '\n');
}

/* Those about nodes and machines alone, and the last of them. */
LOG_TEST(lines_are_kept)
{
    enum { MOST = 4096, MANY = 100 };
    struct log_seen s = {.n = 0};
    char name[16]; /* which the next line takes again */
    p->log.kept = log_kept_create(MOST);
    LOG_INFO(&p->log, "job.ended", LF_STR("job", "j"));
    LOG_DEBUG(&p->log, "too.quiet", LF_STR("node", "n"));
    LOG_INFO(&p->log, "no.node", LF_STR("node", NULL), LF_INT("machine", 3));
    log_kept_read(p->log.kept, note, &s);
    assert_int_equal(s.n, 0);
    LOG_INFO(&p->log, "node.idle", LF_STR("pool", "p"), LF_STR("node", "n1"));
    LOG_INFO(&p->log, "machine.back", LF_STR("machine", "m"));
    log_kept_read(p->log.kept, note, &s);
    assert_int_equal(s.n, 2);
    assert_string_equal(s.subjects, "m");
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "n%d", i);
        LOG_INFO(&p->log, "node.is_idle", LF_STR("node", name));
    }
    s.n = 0;
    log_kept_read(p->log.kept, note, &s);
    assert_in_range(s.n, 10, MOST / 60);
    assert_string_equal(s.subjects, "n99");
    log_kept_destroy(p->log.kept);
    p->log.kept = NULL;
    log_kept_read(NULL, note, &s);
    log_kept_destroy(NULL);
}
