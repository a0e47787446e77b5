/* SPDX-License-Identifier: MIT
 *
 * `batchaid share-path`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/cli/cli.h"
#include "daemon/cli/client.h"
#include "daemon/cli/json_print.h"
#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/version.h"
#include "model/spec.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/scheduler.h"

static int check_names(const char *account, const char *share, struct err *e)
{
    if (!account_name_valid(account))
        return err_set(e, ERR_INVALID_NAME, NULL, "'%s' is not %s", account, account_name_rule);
    if (!share_name_valid(share))
        return err_set(e, ERR_INVALID_NAME, NULL, "'%s' is not %s", share, share_name_rule);
    return 0;
}

/* Informs the daemon if it runs; otherwise it finds the share at its next start. */
static int tell_daemon(const struct state *s, const struct options *o, struct err *e)
{
    struct daemon_client *c;
    json_t *reply = NULL;
    if (client_open(s, &c, e) < 0)
        return 0;
    json_t *body = json_pack("{s:s, s:s, s:s}", "account", o->args[0], "kind",
                             o->container ? "blobs" : "files", "name", o->args[1]);
    int rc = client_call(c, "POST", "/batchaid/storage/shares", body, &reply, e);
    json_decref(body);
    json_decref(reply);
    client_close(c);
    return rc;
}

int cmd_share_path(const struct options *o)
{
    struct state s;
    struct err e;
    struct arena a;
    if (check_names(o->args[0], o->args[1], &e) < 0)
        return cli_fail(EXIT_USAGE, &e);
    if (state_locate(o->state_dir, NULL, &s, &e) < 0)
        return cli_fail(EXIT_FAILED, &e);
    arena_init(&a);
    const struct mount_volume m = {.kind = o->container ? MOUNT_BLOBS : MOUNT_FILE_SHARE,
                                   .account = o->args[0],
                                   .share = o->args[1]};
    const char *path = fleet_share_path(s.storage, &a, &m);
    int rc = o->json ? json_print_check("the state directory", s.dir, &e) : 0;
    if (rc == 0)
        rc = state_make(&s, &e);
    if (rc == 0)
        rc = tell_daemon(&s, o, &e);
    if (rc == 0)
        rc = fs_mkdirs(path, 0755, &e);
    if (rc == 0 && o->json)
        json_print_new(json_pack("{s:s}", "path", path));
    else if (rc == 0)
        puts(path);
    arena_free(&a);
    state_free(&s);
    return rc == 0 ? EXIT_DONE : cli_fail(EXIT_FAILED, &e);
}

int cmd_version(const struct options *o)
{
    if (o->json)
        json_print_new(json_pack("{s:s}", "version", BATCHAID_VERSION));
    else
        printf("batchaid %s\n", BATCHAID_VERSION);
    return EXIT_DONE;
}
