/* SPDX-License-Identifier: MIT
 *
 * The local link itself: an agent that does not start, requests that are pending or refused.
 */
#include "test/unit/nodeagent-proto/link/fixture.h"

LINK_TEST(test_missing_agent)
{
    /* The folder passes for executable, but cannot be executed. */
    const char *const no_agents[] = {"/nowhere/batchai-node", f->root};
    for (size_t i = 0; i < 2; i++) {
        snprintf(f->agent, sizeof f->agent, "%s", no_agents[i]);
        open_link(f);
        WAIT(f, f->down == 1);
        assert_says(f->why.msg, "cannot start the node agent", no_agents[i]);
        close_link(f);
    }
}

LINK_TEST(test_agent_that_cannot_start)
{
    struct err e;
    char *file = in_root(f, "file");
    assert_int_equal(fs_write_atomic(file, "", 0, 0644, &e), 0);
    char root[sizeof f->root];
    snprintf(root, sizeof root, "%s", f->root);
    snprintf(f->root, sizeof f->root, "%s", file);
    open_link(f);
    snprintf(f->root, sizeof f->root, "%s", root);
    f->log.level = LOG_LVL_ERROR + 1;
    ASKED(f, signal, .task = "x", .signal = SIGTERM);
    assert_int_equal(f->why.code, ERR_NODE_LOST);
    WAIT(f, f->down == 1);
    assert_says(f->why.msg, "exit code 1", "not a directory");
    ASKED(f, signal, .task = "x", .signal = SIGTERM); /* after down: an error, once */
    assert_int_equal(f->why.code, ERR_NODE_LOST);
    assert_int_equal(f->down, 1);
}

READY_TEST(test_close_answers_what_is_pending)
{
    int before = f->answers;
    start_with(f, "pending", "true", NULL, 0);
    node_tasks(f->link, on_tasks, f);
    assert_int_equal(f->answers, before);
    node_close(f->link, on_closed, f);
    f->link = NULL;
    assert_int_equal(f->answers, before + 2);
    assert_int_equal(f->why.code, ERR_UNAVAILABLE);
    WAIT(f, f->closed == 1);
    assert_int_equal(f->down, 0);
    /* The request was on its way; the task is carried out all the same. */
    WAIT(f, file_has(f, "tasks/pending.exit", "exited"));
}

LINK_TEST(test_close_while_it_is_opened)
{
    open_link(f);
    int before = f->answers;
    node_tasks(f->link, on_tasks, f);
    node_close(f->link, on_closed, f);
    f->link = NULL;
    assert_int_equal(f->answers, before + 1);
    assert_int_equal(f->why.code, ERR_UNAVAILABLE);
    WAIT(f, f->closed == 1);
    assert_int_equal(f->ready + f->down, 0);
}

READY_TEST(test_refused_requests)
{
    ASKED(f, append, .path = "/tmp/\xff", .text = "x");
    assert_int_equal(f->why.code, ERR_INVALID_PROPERTY);
    char *huge = xcalloc(1, 5 << 20);
    memset(huge, 'x', (5 << 20) - 1);
    ASKED(f, append, .path = f->root, .text = huge);
    assert_int_equal(f->why.code, ERR_BODY_TOO_LARGE);
    free(huge);
    start(f, "after", "true"); /* the link is as good as before */
    WAIT(f, f->n_ended == 1);
}
