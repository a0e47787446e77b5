/* SPDX-License-Identifier: MIT
 *
 * `batchaid keygen`: makes the key pair for logins on the machines of the inventory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/cli/cli.h"
#include "daemon/config/state.h"
#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/link/identity.h"

static char *default_comment(void)
{
    char host[256] = "";
    struct strbuf b = STRBUF_INIT;
    if (gethostname(host, sizeof host - 1) < 0 || !*host)
        host[0] = '\0';
    strbuf_printf(&b, "batchaid%s%s", *host ? "@" : "", host);
    return strbuf_take(&b);
}

/* Caller frees; NULL: err. */
static char *key_path(const struct options *o, struct err *e)
{
    struct state s = {.dir = NULL};
    if (o->n_args > 0)
        return xstrdup(o->args[0]);
    char *path = NULL;
    if (state_locate(o->state_dir, NULL, &s, e) == 0 && state_make(&s, e) == 0)
        path = fs_join(s.dir, "id_ed25519");
    state_free(&s);
    return path;
}

static void explain(const char *path)
{
    char *real = realpath(path, NULL);
    const char *whole = real ? real : path;
    fprintf(stderr,
            "batchaid: made %s and %s.pub\n"
            "The line above belongs into ~/.ssh/authorized_keys of the account to log in as, on "
            "each machine:\n"
            "  ssh-copy-id -f -i %s.pub USER@MACHINE\n"
            "In the configuration, the entry of these machines in inventory says:\n"
            "  identity: %s\n",
            whole, whole, whole, whole);
    free(real);
}

int cmd_keygen(const struct options *o)
{
    struct err e;
    char *path = key_path(o, &e);
    if (!path)
        return cli_fail(EXIT_FAILED, &e);
    char *comment = o->comment ? xstrdup(o->comment) : default_comment();
    char *line = NULL;
    int rc = node_identity_create(path, comment, &line, &e);
    if (rc == 0) {
        fputs(line, stdout);
        fflush(stdout); /* so that the key is printed before the text about it */
        explain(path);
    }
    free(line);
    free(comment);
    free(path);
    return rc == 0 ? EXIT_DONE : cli_fail(EXIT_FAILED, &e);
}
