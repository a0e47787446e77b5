/* SPDX-License-Identifier: MIT
 *
 * `batchaid exec` and `batchaid ssh`: run a command, or a shell, in a running job.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/enter.h"
#include "daemon/cli/terminal.h"
#include "lib/arena.h"
#include "lib/shell.h"

/* The command line for the job's shell. One word is a shell command; several words are a program
 * and its arguments, and are quoted. */
static const char *command_of(const struct options *o, struct arena *a)
{
    const char *text = o->n_args > 1 ? o->args[1] : "";
    if (o->n_args > 2)
        text = shell_quoted(a, text);
    for (int i = 2; i < o->n_args; i++)
        text = arena_concat(a, text, " ", shell_quoted(a, o->args[i]));
    return text;
}

int enter_job(struct daemon_client *c, const struct entered *at, const char *line, struct err *e)
{
    struct terminal_link *l = NULL;
    bool raw = terminal_is_here();
    char *path = terminal_path(c, at->job);
    json_t *ask = json_pack("{s:s, s:s*, s:o*}", "command", line, "node", at->node, "index",
                            at->index < 0 ? NULL : json_integer(at->index));
    if (ask && raw)
        terminal_add_size(ask);
    int rc = ask ? terminal_link_open(c, path, ask, &l, e)
                 : err_set(e, ERR_CONFIG, NULL, "the command is not UTF-8");
    const struct terminal_io io = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, raw};
    if (rc == 0)
        rc = terminal_serve(l, &io);
    terminal_link_close(l);
    json_decref(ask);
    free(path);
    return rc;
}

static int enter(const struct options *o)
{
    struct daemon_client *c = NULL;
    struct entered at = {.node = o->node};
    struct arena a;
    struct err e;
    arena_init(&a);
    int rc = jobs_open(o, &c, &e);
    if (rc == 0)
        rc = jobs_find_index(c, o->args[0], &at.job, &at.index, &e);
    if (rc == 0)
        rc = enter_job(c, &at, command_of(o, &a), &e);
    json_decref(at.job);
    client_close(c);
    arena_free(&a);
    return rc < 0 ? cli_fail(TERMINAL_LOST, &e) : rc;
}

int cmd_exec(const struct options *o)
{
    return enter(o);
}

int cmd_ssh(const struct options *o)
{
    return enter(o);
}
