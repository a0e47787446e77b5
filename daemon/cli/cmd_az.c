/* SPDX-License-Identifier: MIT
 *
 * `batchaid az`: runs the real az. A command of 2017 or 2018 is first changed into a command of
 * today; that line is printed on standard error, and az runs it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/cli/az.h"
#include "daemon/cli/az_old.h"
#include "daemon/cli/client.h"
#include "lib/fs.h"
#include "lib/jsontext.h"
#include "lib/shell.h"

/* Debian's az runs in the system's Python; other packages of az are below /opt. */
#define DEBIANS_AZ "/usr/lib/python3/dist-packages/azure/cli"

/* --- the daemon ------------------------------------------------------------------------------- */

/* A client that logs in when it is first needed, because most commands need no client. */
struct late_client {
    const struct options *options;
    struct daemon_client *client;
};

static int open_late(struct late_client *l, struct err *e)
{
    struct state s;
    if (l->client)
        return 0;
    if (state_locate(l->options->state_dir, NULL, &s, e) < 0)
        return -1;
    int rc = client_open(&s, &l->client, e);
    state_free(&s);
    return rc;
}

static int look(void *ctx, const char *path, long *status, json_t **out, struct err *e)
{
    struct late_client *l = ctx;
    return open_late(l, e) < 0 ? -1 : client_look(l->client, path, status, out, e);
}

static int send_call(void *ctx, const char *method, const char *path, const json_t *body,
                     json_t **out, struct err *e)
{
    struct late_client *l = ctx;
    return open_late(l, e) < 0 ? -1 : client_call(l->client, method, path, body, out, e);
}

/* --- messages for people ---------------------------------------------------------------------- */

/* Replaces members that must not be shown by "...". */
static void hide_secrets(json_t *v)
{
    static const char *const secret[] = {"accountKey", "password", "adminUserPassword", "secrets",
                                         "value"};
    const char *name;
    json_t *member;
    size_t i;
    for (i = 0; i < sizeof secret / sizeof secret[0]; i++)
        if (json_object_get(v, secret[i]))
            json_object_set_new(v, secret[i], json_string("..."));
    json_object_foreach(v, name, member)
        hide_secrets(member);
    json_array_foreach(v, i, member)
        hide_secrets(member);
}

static const char *shown_json(struct arena *a, const json_t *value)
{
    json_t *copy = json_deep_copy(value);
    hide_secrets(copy);
    const char *text = jsontext_in(a, copy);
    json_decref(copy);
    return text;
}

static void tell_line(const struct az_line *l)
{
    struct strbuf b = STRBUF_INIT;
    az_line_show(l, &b);
    fprintf(stderr, "batchaid: today: %s\n", b.s);
    strbuf_free(&b);
}

static void tell_notes(const struct az_change *c)
{
    for (const char *s = c->notes.s; s && *s; s = strchr(s, '\n') + 1)
        fprintf(stderr, "batchaid: %.*s\n", (int)strcspn(s, "\n"), s);
}

/* A copy of the line in which the option for the file is `-f VALUE`. */
static struct az_line with_file(const struct az_line *l, const char *value)
{
    struct az_line copy = *l;
    copy.options = arena_alloc(l->arena, (l->n + 1) * sizeof *copy.options);
    if (l->n > 0)
        memcpy(copy.options, l->options, l->n * sizeof *copy.options);
    az_line_drop(&copy, AZ_FILE_TODAY);
    az_line_put(&copy, "-f", value);
    return copy;
}

/* Whether az must get another file than the line names. */
static bool needs_file(const struct az_change *c)
{
    return c->file.changed || c->file.once;
}

static void tell(const struct az_change *c)
{
    struct arena *a = c->arena;
    for (size_t i = 0; i < c->n_made; i++)
        tell_line(&c->made[i].line);
    struct az_line line = c->line;
    if (c->request.method) {
        struct az_request shown = c->request;
        shown.body = json_deep_copy(c->request.body);
        hide_secrets(shown.body);
        line = az_request_line(&shown, &c->line, c->facts->subscription, false);
        json_decref(shown.body);
    } else if (needs_file(c)) {
        const char *text = shell_quoted(a, shown_json(a, c->file.tree));
        line = with_file(&line, arena_concat(a, "<(echo ", text, ")"));
    }
    tell_line(&line);
}

/* --- running ---------------------------------------------------------------------------------- */

/* Returns a descriptor of a nameless file in memory, which az inherits; -1 and *e on an error. */
static int open_text(const char *text, size_t len, struct err *e)
{
    int fd = memfd_create("file", 0);
    if (fd >= 0 && fs_write_all(fd, text, len) == 0 && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    err_errno(e, ERR_IO, "cannot keep a file of %zu bytes in memory", len);
    if (fd >= 0)
        close(fd);
    return -1;
}

static int open_json(const json_t *value, struct err *e)
{
    char *text = jsontext(value);
    int fd = open_text(text, strlen(text), e);
    free(text);
    return fd;
}

/* `args` ends with NULL. */
static int exec_args(const char *const *args, struct err *e)
{
    /* execvp() takes writable strings for historical reasons, but does not change them. */
    execvp("az", (char *const *)args);
    return az_cannot_start(errno, e);
}

static int exec_az(const struct az_line *l, struct err *e)
{
    return exec_args(az_line_args(l), e);
}

/* Runs a command of today with exactly the words that the user typed. */
static int exec_typed(const struct options *o, struct arena *a, struct err *e)
{
    size_t n = (size_t)o->n_args;
    const char **args = arena_alloc(a, (n + 2) * sizeof *args);
    args[0] = "az";
    for (size_t i = 0; i < n; i++)
        args[i + 1] = o->args[i];
    args[n + 1] = NULL;
    return exec_args(args, e);
}

static int exec_with_file(const struct az_change *c, struct err *e)
{
    int fd = c->file.changed ? open_json(c->file.tree, e) : open_text(c->file.text, c->file.len, e);
    if (fd < 0)
        return -1;
    struct az_line line = with_file(&c->line, arena_printf(c->arena, "/dev/fd/%d", fd));
    return exec_az(&line, e);
}

static int make_places(struct az_change *c, struct err *e)
{
    for (size_t i = 0; i < c->n_made; i++) {
        const struct az_made *m = &c->made[i];
        const struct az_daemon *d = c->facts->daemon;
        json_t *reply = NULL;
        if (d->send(d->ctx, "PUT", m->path, m->body, &reply, e) < 0)
            return -1;
        json_decref(reply);
    }
    return 0;
}

static int run_request(struct az_change *c, struct err *e)
{
    if (!az_request_needs_az(&c->request, &c->line))
        return az_request_run(&c->request, &c->line, c->facts->daemon, e);
    struct az_line line = az_request_line(&c->request, &c->line, c->facts->subscription, true);
    int fd = c->request.body ? open_json(c->request.body, e) : STDIN_FILENO;
    if (fd < 0)
        return -1;
    if (fd != STDIN_FILENO && dup2(fd, STDIN_FILENO) < 0)
        return err_errno(e, ERR_IO, "cannot give az its input");
    return exec_az(&line, e);
}

static int run(struct az_change *c, bool old, const struct options *o, struct err *e)
{
    tell_notes(c);
    if (old)
        tell(c);
    if (make_places(c, e) < 0)
        return -1;
    if (c->request.method)
        return run_request(c, e);
    if (needs_file(c))
        return exec_with_file(c, e);
    return old ? exec_az(&c->line, e) : exec_typed(o, c->arena, e);
}

/* --- the command ------------------------------------------------------------------------------ */

/* A default of `az configure`, from its environment variable or file; caller frees. */
static char *default_of(const struct environment *env, const char *variable, const char *key)
{
    const char *text = getenv(variable);
    return text && *text ? xstrdup(text) : az_setting(env, "defaults", key);
}

static int change_and_run(const struct options *o, const struct environment *env, struct err *e)
{
    struct late_client client = {.options = o};
    const struct az_daemon daemon = {look, send_call, &client};
    char *subscription = az_subscription(env);
    char *group = default_of(env, "AZURE_DEFAULTS_GROUP", "group");
    char *location = default_of(env, "AZURE_DEFAULTS_LOCATION", "location");
    struct arena a;
    arena_init(&a);
    const struct az_facts facts = {
        .subscription = subscription,
        .group = group,
        .location = location,
        .vault_suffix = arena_concat(
            &a, ".vault.", environment_get(env, "BATCHAID_ENDPOINT") + strlen("https://")),
        .debian = access(DEBIANS_AZ, F_OK) == 0 && access("/usr/bin/az", X_OK) == 0,
        .daemon = &daemon};
    struct az_change c;
    bool old = false;
    int rc = az_old_change(&facts, &a, o->args, (size_t)o->n_args, &c, &old, e);
    /* A request that the daemon gets directly needs no login of az. */
    if (rc == 0 && (!c.request.method || az_request_needs_az(&c.request, &c.line)))
        rc = az_ensure_login(env, NULL, e);
    if (rc == 0)
        rc = run(&c, old, o, e);
    az_old_free(&c);
    client_close(client.client);
    arena_free(&a);
    free(subscription);
    free(group);
    free(location);
    return rc;
}

int cmd_az(const struct options *o)
{
    struct environment env;
    struct err e;
    if (az_enter(o, &env, &e) < 0)
        return cli_fail(EXIT_FAILED, &e);
    int rc = change_and_run(o, &env, &e);
    environment_free(&env);
    if (rc == 0)
        return EXIT_DONE;
    return cli_fail(e.code == ERR_CONFIG ? EXIT_USAGE : EXIT_FAILED, &e);
}
