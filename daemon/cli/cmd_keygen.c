/* SPDX-License-Identifier: MIT
 *
 * `batchaid keygen`: makes the key pair for logins on the machines of the inventory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/cli/cli.h"
#include "daemon/cli/json_print.h"
#include "daemon/config/state.h"
#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/jsontext.h"
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

/* The path for the key. Caller frees; NULL: error. */
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

static void print_key(const char *path, const char *line)
{
    fputs(line, stdout);
    fflush(stdout); /* so that the key is printed before the text about it */
    fprintf(stderr,
            "batchaid: made %s and %s.pub\n"
            "The line above belongs into ~/.ssh/authorized_keys of the account to log in as, on "
            "each machine:\n"
            "  ssh-copy-id -f -i %s.pub USER@MACHINE\n"
            "Add to the entry of these machines in inventory of the configuration:\n"
            "  identity: %s\n",
            path, path, path, path);
}

/* Prints the key as JSON, without the newline of `line`. */
static void print_json(const char *path, const char *line)
{
    json_print_new(json_pack("{s:s, s:s+, s:s%}", "identity", path, "publicKeyFile", path, ".pub",
                             "publicKey", line, strcspn(line, "\n")));
}

/* Prints the key. The path is absolute; if JSON cannot contain that path, it is as given. */
static void show(const struct options *o, const char *path, const char *line)
{
    char *real = realpath(path, NULL);
    if (!o->json)
        print_key(real ? real : path, line);
    else
        print_json(real && jsontext_is_utf8(real, strlen(real)) ? real : path, line);
    free(real);
}

/* Checks before a file is made that JSON can contain the texts. */
static int check_json(const char *path, const char *comment, struct err *e)
{
    int rc = json_print_check("the name of the file", path, e);
    return rc < 0 ? -1 : json_print_check("the comment", comment, e);
}

int cmd_keygen(const struct options *o)
{
    struct err e;
    char *path = key_path(o, &e);
    if (!path)
        return cli_fail(EXIT_FAILED, &e);
    char *comment = o->comment ? xstrdup(o->comment) : default_comment();
    char *line = NULL;
    int rc = o->json ? check_json(path, comment, &e) : 0;
    if (rc == 0)
        rc = node_identity_create(path, comment, &line, &e);
    if (rc == 0)
        show(o, path, line);
    free(line);
    free(comment);
    free(path);
    return rc == 0 ? EXIT_DONE : cli_fail(EXIT_FAILED, &e);
}
