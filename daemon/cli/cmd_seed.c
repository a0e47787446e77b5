/* SPDX-License-Identifier: MIT
 *
 * `batchaid seed FILE` and `batchaid dump`: loads a state from a file, and writes the state as a
 * file, for a daemon that was started with --testing (docs/testing.md).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/cli/cli.h"
#include "daemon/cli/client.h"
#include "daemon/cli/json_print.h"
#include "lib/strbuf.h"

#define SEED_MS 600000L /* time limit for a large seed */

static void add_query(struct daemon_client *c, struct strbuf *path, const char *name,
                      const char *value)
{
    if (!value)
        return;
    char *escaped = client_escape(c, value);
    strbuf_concat(path, strchr(path->s, '?') ? "&" : "?", name, "=", escaped);
    free(escaped);
}

/* Reads the whole file; name "-": standard input. */
static int read_file(const char *name, struct strbuf *out, struct err *e)
{
    FILE *f = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
    size_t n;
    if (!f)
        return err_errno(e, ERR_IO, "%s", name);
    do {
        n = fread(strbuf_room(out, BUFSIZ), 1, BUFSIZ, f);
        out->len += n;
    } while (n > 0);
    int rc = ferror(f) ? err_errno(e, ERR_IO, "%s", name) : 0;
    if (f != stdin)
        fclose(f);
    if (rc == 0 && out->s && memchr(out->s, '\0', out->len))
        rc = err_set(e, ERR_CONFIG, NULL, "%s: it is not a text file", name);
    strbuf_puts(out, ""); /* an empty file is a text too */
    return rc;
}

static int seed(struct daemon_client *c, const struct options *o, struct err *e)
{
    struct strbuf text = STRBUF_INIT, path = STRBUF_INIT;
    json_t *reply = NULL;
    strbuf_puts(&path, "/batchaid/testing/seed");
    add_query(c, &path, "subscription", o->subscription);
    int rc = read_file(o->args[0], &text, e);
    if (rc == 0 && (rc = client_send(c, path.s, "application/yaml", text.s, &reply, e)) < 0)
        err_prefix(e, "%s", o->args[0]);
    if (rc == 0 && o->json)
        json_print(reply);
    else if (rc == 0)
        printf("%lld resources in %lld resource groups\n",
               (long long)json_integer_value(json_object_get(reply, "resources")),
               (long long)json_integer_value(json_object_get(reply, "resourceGroups")));
    json_decref(reply);
    strbuf_free(&text);
    strbuf_free(&path);
    return rc;
}

static int dump(struct daemon_client *c, const struct options *o, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    json_t *reply = NULL;
    strbuf_puts(&path, "/batchaid/testing/dump");
    add_query(c, &path, "subscription", o->subscription);
    add_query(c, &path, "resourceGroup", o->n_args > 0 ? o->args[0] : NULL);
    int rc = client_call(c, "GET", path.s, NULL, &reply, e);
    if (rc == 0)
        json_print(reply);
    json_decref(reply);
    strbuf_free(&path);
    return rc;
}

static int run(const struct options *o,
               int (*what)(struct daemon_client *c, const struct options *o, struct err *e))
{
    struct state s;
    struct daemon_client *c = NULL;
    struct err e;
    if (state_locate(o->state_dir, NULL, &s, &e) < 0)
        return cli_fail(EXIT_FAILED, &e);
    int rc = client_open_testing(&s, &c, &e);
    if (rc == 0) {
        client_limit(c, SEED_MS);
        rc = what(c, o, &e);
    }
    client_close(c);
    state_free(&s);
    if (rc < 0)
        return cli_fail(e.code == ERR_ENDED_DAEMON ? EXIT_LEFT_OUT : EXIT_FAILED, &e);
    return EXIT_DONE;
}

int cmd_seed(const struct options *o)
{
    return run(o, seed);
}

int cmd_dump(const struct options *o)
{
    return run(o, dump);
}
