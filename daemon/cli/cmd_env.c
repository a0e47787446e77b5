/* SPDX-License-Identifier: MIT
 *
 * `batchaid env`: prints settings for clients on this machine, or (--endpoint, --user) on another
 * machine; if a Batch account is named, also settings for clients of that account.
 */
#include <sodium.h>
#include <stdio.h>

#include "daemon/cli/cli.h"
#include "daemon/cli/env_batch.h"
#include "daemon/cli/environment.h"
#include "daemon/cli/json_print.h"
#include "daemon/cli/remote.h"
#include "lib/shell.h"

static void print_lines(const struct strbuf *lines, const struct environment *env)
{
    struct strbuf own = STRBUF_INIT;
    for (size_t i = 0; i < env->n; i++)
        shell_export(&own, env->vars[i].name, env->vars[i].value);
    printf("%s%s", lines->len ? lines->s : "", own.len ? own.s : "");
    if (own.s)
        sodium_memzero(own.s, own.len);
    strbuf_free(&own);
}

/* {"NAME": "value", ...} */
static int print_json(const struct environment *env, struct err *e)
{
    json_t *out = json_object();
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < env->n; i++) {
        rc = json_print_check(env->vars[i].name, env->vars[i].value, e);
        if (rc == 0)
            json_object_set_new(out, env->vars[i].name, json_string(env->vars[i].value));
    }
    if (rc == 0)
        json_print(out);
    json_decref(out);
    return rc;
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

/* Fills `lines` with a shell program for another machine, or else `env` with variables. */
static int collect(const struct state *s, const struct options *o, struct strbuf *lines,
                   struct environment *env, struct err *e)
{
    int rc = o->endpoint || o->user ? remote_lines(s, o->endpoint, o->user, lines, e)
                                    : environment_build(s, env, e);
    if (rc == 0 && o->n_args > 0)
        rc = env_batch_add(s, o->args[0], o->endpoint, !o->user, env, e);
    return rc;
}

int cmd_env(const struct options *o)
{
    struct state s;
    struct err e;
    struct strbuf lines = STRBUF_INIT;
    struct environment env = {.n = 0};
    bool remote = o->endpoint || o->user;
    if (remote && o->json) {
        err_set(
            &e, ERR_CONFIG, NULL,
            "env: --json cannot be combined with --endpoint and --user, which print commands for "
            "a shell of another machine");
        return cli_fail(EXIT_USAGE, &e);
    }
    if (state_locate(o->state_dir, NULL, &s, &e) < 0)
        return cli_fail(EXIT_FAILED, &e);
    int rc = collect(&s, o, &lines, &env, &e);
    state_free(&s);
    if (rc == 0 && o->json)
        rc = print_json(&env, &e);
    else if (rc == 0)
        print_lines(&lines, &env);
    if (lines.s)
        sodium_memzero(lines.s, lines.len);
    strbuf_free(&lines);
    environment_free(&env);
    if (rc < 0)
        return cli_fail(EXIT_FAILED, &e);
    if (remote)
        say_what_next(o->user);
    return EXIT_DONE;
}
