/* SPDX-License-Identifier: MIT
 *
 * A command on an exec channel of the session: its input, its output and its exit code.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent-proto/link/ssh/ssh_priv.h"

void ssh_command_set(struct ssh_command *c, struct strbuf *line, const char *in, size_t n_in)
{
    assert(!c->channel); /* the previous command has ended */
    ssh_command_free(c);
    c->stage = CMD_OPEN;
    c->line = *line;
    *line = (struct strbuf)STRBUF_INIT;
    c->in = in;
    c->n_in = n_in;
    c->exit_code = -1;
}

void ssh_command_free(struct ssh_command *c)
{
    strbuf_free(&c->line);
    strbuf_free(&c->out);
    strbuf_free(&c->errors);
    *c = (struct ssh_command){.stage = CMD_IDLE};
}

const char *ssh_command_said(struct ssh_command *c)
{
    char *s = c->errors.s, *end;
    if (!s)
        return "it printed no error";
    while (c->errors.len > 0 && strchr("\r\n ", s[c->errors.len - 1]))
        s[--c->errors.len] = '\0';
    end = strrchr(s, '\n');
    return *s ? (end ? end + 1 : s) : "it printed no error";
}

/* Reads the available output. 0: success; -1: failed. */
static int collect(struct ssh *l, int stream, struct strbuf *to)
{
    char buf[8192];
    ssize_t n;
    while ((n = libssh2_channel_read_ex(l->cmd.channel, stream, buf, sizeof buf)) > 0)
        if (to->len < SSH_ERRORS_MAX)
            strbuf_add(to, buf, (size_t)n);
    return n == 0 || n == LIBSSH2_ERROR_EAGAIN ? 0 : -1;
}

/* Whether the command ended early and does not read its input any more. Then the command's error
 * message is reported, because it explains more than the error of the write. */
static bool remote_gone(ssize_t rc)
{
    return rc == LIBSSH2_ERROR_CHANNEL_CLOSED || rc == LIBSSH2_ERROR_CHANNEL_EOF_SENT;
}

static enum ssh_step feed(struct ssh *l)
{
    struct ssh_command *c = &l->cmd;
    ssize_t n = 1;
    while (!c->in_ended && c->at < c->n_in) {
        if (ssh_unsent(l) > SSH_ROOM)
            return SSH_WAIT;
        n = libssh2_channel_write(c->channel, c->in + c->at, c->n_in - c->at);
        if (n == LIBSSH2_ERROR_EAGAIN || n == 0)
            return SSH_WAIT;
        if (remote_gone(n))
            break;
        if (n < 0)
            return ssh_fail_lib(l, (int)n, "sending");
        c->at += (size_t)n;
        ssh_progress(l);
    }
    if (!c->in_ended && !remote_gone(n)) {
        int rc = libssh2_channel_send_eof(c->channel);
        if (rc == LIBSSH2_ERROR_EAGAIN)
            return SSH_WAIT;
        if (rc < 0)
            return ssh_fail_lib(l, rc, "ending the input of a command");
    }
    c->in_ended = true;
    return SSH_NEXT;
}

static enum ssh_step talk(struct ssh *l)
{
    struct ssh_command *c = &l->cmd;
    if (!libssh2_channel_eof(c->channel)) {
        enum ssh_step s = feed(l);
        if (s == SSH_FAILED)
            return s;
    }
    if (collect(l, 0, &c->out) < 0 || collect(l, SSH_EXTENDED_DATA_STDERR, &c->errors) < 0)
        return ssh_fail_lib(l, libssh2_session_last_errno(l->session), "reading");
    return libssh2_channel_eof(c->channel) ? SSH_NEXT : SSH_WAIT;
}

/* Interprets the result of a libssh2 call; on EAGAIN the call must be repeated. */
static enum ssh_step outcome(struct ssh *l, int rc, const char *what)
{
    if (rc == LIBSSH2_ERROR_EAGAIN)
        return SSH_WAIT;
    return rc < 0 ? ssh_fail_lib(l, rc, what) : SSH_NEXT;
}

static enum ssh_step open_channel(struct ssh *l)
{
    l->cmd.channel = libssh2_channel_open_session(l->session);
    if (l->cmd.channel)
        return SSH_NEXT;
    int rc = libssh2_session_last_errno(l->session);
    return outcome(l, rc ? rc : LIBSSH2_ERROR_CHANNEL_FAILURE, "opening a channel");
}

static enum ssh_step wait_closed(struct ssh *l)
{
    struct ssh_command *c = &l->cmd;
    int rc = libssh2_channel_close(c->channel);
    if (rc == 0)
        rc = libssh2_channel_wait_closed(c->channel);
    if (rc == 0)
        c->exit_code = libssh2_channel_get_exit_status(c->channel);
    return outcome(l, rc, "ending a command");
}

static enum ssh_step free_channel(struct ssh *l)
{
    int rc = libssh2_channel_free(l->cmd.channel);
    if (rc == 0)
        l->cmd.channel = NULL;
    return outcome(l, rc, "closing a channel");
}

static enum ssh_step exec_line(struct ssh *l)
{
    int rc = libssh2_channel_exec(l->cmd.channel, l->cmd.line.s);
    return outcome(l, rc, "asking for a command");
}

static enum ssh_step until(struct ssh *l, enum command_stage last)
{
    static enum ssh_step (*const stages[])(struct ssh *) = {
        [CMD_OPEN] = open_channel,       [CMD_EXEC] = exec_line,    [CMD_TALK] = talk,
        [CMD_WAIT_CLOSED] = wait_closed, [CMD_FREE] = free_channel,
    };
    static_assert(sizeof stages / sizeof stages[0] == CMD_FREE + 1, "a step a stage");
    assert(l->cmd.stage != CMD_IDLE);
    while (l->cmd.stage <= last) {
        enum ssh_step s = stages[l->cmd.stage](l);
        if (s != SSH_NEXT)
            return s;
        l->cmd.stage++;
    }
    return SSH_NEXT;
}

enum ssh_step ssh_command_begin(struct ssh *l)
{
    return until(l, CMD_EXEC);
}

enum ssh_step ssh_command_run(struct ssh *l)
{
    return until(l, CMD_FREE);
}
