/* SPDX-License-Identifier: MIT
 *
 * `batchaid env`: settings for clients on this machine, or (--endpoint, --user) on another one;
 * with the name of a Batch account, also the settings for its clients.
 */
#include <sodium.h>
#include <stdio.h>

#include "daemon/cli/cli.h"
#include "daemon/cli/env_batch.h"
#include "daemon/cli/environment.h"
#include "daemon/cli/remote.h"
#include "lib/shell.h"

static int local_lines(const struct state *s, struct strbuf *out, struct err *e)
{
    struct environment env;
    if (environment_build(s, &env, e) < 0)
        return -1;
    for (size_t i = 0; i < env.n; i++)
        shell_export(out, env.vars[i].name, env.vars[i].value);
    environment_free(&env);
    return 0;
}

static void say_what_next(const char *user)
{
    fprintf(stderr,
            user
                ? "batchaid: env: paste these lines into a shell of that machine, and log in: "
                  "az login --username \"$AZURE_USERNAME\"\n"
                : "batchaid: env: these lines have the secret of the daemon's own principal, which "
                  "may do everything; with --user NAME they have none. Paste them into a shell of "
                  "that machine, and log in: az login --service-principal -u \"$AZURE_CLIENT_ID\" "
                  "-p \"$AZURE_CLIENT_SECRET\" --tenant \"$AZURE_TENANT_ID\"\n");
}

int cmd_env(const struct options *o)
{
    struct state s;
    struct err e;
    struct strbuf lines = STRBUF_INIT;
    bool remote = o->endpoint || o->user;
    if (state_locate(o->state_dir, NULL, &s, &e) < 0)
        return cli_fail(EXIT_FAILED, &e);
    int rc =
        remote ? remote_lines(&s, o->endpoint, o->user, &lines, &e) : local_lines(&s, &lines, &e);
    if (rc == 0 && o->n_args > 0)
        rc = env_batch_lines(&s, o->args[0], o->endpoint, !o->user, &lines, &e);
    state_free(&s);
    if (rc == 0)
        fputs(lines.s, stdout);
    if (lines.s)
        sodium_memzero(lines.s, lines.len);
    strbuf_free(&lines);
    if (rc < 0)
        return cli_fail(EXIT_FAILED, &e);
    if (remote)
        say_what_next(o->user);
    return EXIT_DONE;
}
