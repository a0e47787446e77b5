/* SPDX-License-Identifier: MIT
 *
 * The small commands: `batchaid env`, `share-path`, `check-config`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/cli.h"
#include "daemon/config.h"
#include "daemon/environment.h"
#include "lib/arena.h"
#include "lib/fs.h"
#include "scheduler/scheduler.h"

/* Single quotes keep everything but themselves. */
static void print_export(const char *name, const char *value)
{
    printf("export %s='", name);
    for (; *value; value++)
        if (*value == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*value);
    puts("'");
}

int cmd_env(const struct options *o)
{
    struct state s;
    struct environment env;
    struct err e;
    if (state_locate(o->state_dir, NULL, &s, &e) < 0)
        return cli_fail(EXIT_FAILED, &e);
    int rc = environment_build(&s, &env, &e);
    state_free(&s);
    if (rc < 0)
        return cli_fail(EXIT_FAILED, &e);
    for (size_t i = 0; i < env.n; i++)
        print_export(env.vars[i].name, env.vars[i].value);
    environment_free(&env);
    return EXIT_DONE;
}

#define LOWER_ALNUM "abcdefghijklmnopqrstuvwxyz0123456789"

static int check_account(const char *name, struct err *e)
{
    size_t n = strlen(name);
    if (n >= 3 && n <= 24 && !name[strspn(name, LOWER_ALNUM)])
        return 0;
    return err_set(e, ERR_INVALID_NAME, NULL,
                   "'%s' is no storage account name; it has 3 to 24 lower-case letters and digits",
                   name);
}

static int check_share(const char *name, struct err *e)
{
    size_t n = strlen(name);
    if (n >= 3 && n <= 63 && !name[strspn(name, LOWER_ALNUM "-")] && name[0] != '-' &&
        name[n - 1] != '-' && !strstr(name, "--"))
        return 0;
    return err_set(e, ERR_INVALID_NAME, NULL,
                   "'%s' is no share name; it has 3 to 63 lower-case letters, digits and single "
                   "dashes, none of them at its ends",
                   name);
}

int cmd_share_path(const struct options *o)
{
    struct state s;
    struct err e;
    struct arena a;
    if (check_account(o->args[0], &e) < 0 || check_share(o->args[1], &e) < 0)
        return cli_fail(EXIT_USAGE, &e);
    if (state_locate(o->state_dir, NULL, &s, &e) < 0)
        return cli_fail(EXIT_FAILED, &e);
    arena_init(&a);
    const struct mount_volume m = {
        .kind = MOUNT_AZURE_FILE_SHARE, .account = o->args[0], .share = o->args[1]};
    const char *path = sched_share_path(s.storage, &a, &m);
    /* The state directory is closed to others whoever makes it first. */
    int rc = fs_mkdirs(s.dir, 0700, &e);
    if (rc == 0)
        rc = fs_mkdirs(path, 0755, &e);
    if (rc == 0)
        puts(path);
    arena_free(&a);
    state_free(&s);
    return rc == 0 ? EXIT_DONE : cli_fail(EXIT_FAILED, &e);
}

int cmd_check_config(const struct options *o)
{
    struct config c;
    struct err e;
    if (config_load(o->args[0], &c, &e) < 0)
        return cli_fail(EXIT_FAILED, &e);
    config_free(&c);
    printf("%s: ok\n", o->args[0]);
    return EXIT_DONE;
}
