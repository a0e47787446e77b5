/* SPDX-License-Identifier: MIT
 *
 * `batchaid user list`, `add`, `remove` and `reset`: lists and changes the users of a running
 * daemon. A password is only printed on standard output.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "daemon/cli/cli.h"
#include "daemon/cli/client.h"
#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/json_print.h"
#include "daemon/cli/table.h"
#include "lib/strbuf.h"

static const struct table_column columns[] = {
    {.name = "NAME"}, {.name = "KIND"}, {.name = "ROLES", .elide = true}, {.name = "OBJECT ID"}};

static const char *text_of(const json_t *o, const char *name)
{
    return json_string_value(json_object_get(o, name));
}

/* --- printing --------------------------------------------------------------------------------- */

/* Adds the roles of a user: "Reader at /subscriptions/..., ...". */
static void add_roles(struct table *t, const json_t *roles)
{
    struct strbuf b = STRBUF_INIT;
    size_t i;
    json_t *role;
    json_array_foreach(roles, i, role) {
        const char *name = text_of(role, "role"), *scope = text_of(role, "scope");
        strbuf_printf(&b, "%s%s at %s", i ? ", " : "", name ? name : "?", scope ? scope : "?");
    }
    table_add(t, TABLE_PLAIN, b.s);
    strbuf_free(&b);
}

static void print_table(const json_t *users)
{
    struct table t;
    size_t i;
    json_t *user;
    table_init(&t, columns, sizeof columns / sizeof columns[0]);
    json_array_foreach(users, i, user) {
        table_add(&t, TABLE_PLAIN, text_of(user, "name"));
        table_add(&t, TABLE_PLAIN, text_of(user, "kind"));
        add_roles(&t, json_object_get(user, "roles"));
        table_add(&t, TABLE_PLAIN, text_of(user, "objectId"));
    }
    struct table_screen screen = table_screen_of(stdout);
    table_print(&t, &screen, stdout);
    table_free(&t);
}

/* Prints the password alone on a line, for scripts. */
static void print_password(const json_t *user, const char *what)
{
    const char *name = text_of(user, "name"), *password = text_of(user, "password");
    const char *note = text_of(user, "note");
    printf("%s of %s (shown only once):\n%s\n", what, name ? name : "", password ? password : "");
    fflush(stdout);
    if (note)
        fprintf(stderr, "%s\n", note);
}

/* --- the commands ----------------------------------------------------------------------------- */

static int user_list(struct daemon_client *c, const struct options *o, struct err *e)
{
    json_t *reply = NULL;
    if (client_call_pages(c, "/batchaid/users", &reply, e) < 0)
        return -1;
    if (o->json)
        json_print(reply);
    else
        print_table(json_object_get(reply, "value"));
    json_decref(reply);
    return 0;
}

/* --- the scope of a role ---------------------------------------------------------------------- */

/* "/subscriptions/S/resourceGroups/G", from the name of a group or the path of a resource in it;
 * NULL: the scope is a subscription, or everything. Caller frees. */
static char *group_path(const char *scope, const char *subscription)
{
    static const char in_group[] = "/resourceGroups/";
    struct strbuf b = STRBUF_INIT;
    const char *at = strcasestr(scope, in_group);
    if (*scope != '/')
        strbuf_printf(&b, "/subscriptions/%s%s%s", subscription, in_group, scope);
    else if (at)
        strbuf_add(&b, scope,
                   (size_t)(at - scope) + strlen(in_group) + strcspn(at + strlen(in_group), "/"));
    return b.len ? strbuf_take(&b) : NULL;
}

/* Whether the list contains the resource `scope`, or a resource in it. */
static bool is_among(const json_t *resources, const char *scope)
{
    size_t i, n = strlen(scope);
    const json_t *resource;
    json_array_foreach(resources, i, resource) {
        const char *id = text_of(resource, "id");
        if (id && strncasecmp(id, scope, n) == 0 && (!id[n] || id[n] == '/'))
            return true;
    }
    return false;
}

/* Appends the path with each segment escaped, because a scope may contain any character. */
static void add_escaped(struct daemon_client *c, const char *path, struct strbuf *out)
{
    char *parts = xstrdup(path), *rest = NULL;
    for (char *part = strtok_r(parts, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
        char *escaped = client_escape(c, part);
        strbuf_concat(out, "/", escaped);
        free(escaped);
    }
    free(parts);
}

/* 1: the scope exists; 0: it does not; -1: error. */
static int scope_is_there(struct daemon_client *c, const char *scope, const char *group,
                          struct err *e)
{
    long status = 0;
    json_t *reply = NULL;
    struct strbuf path = STRBUF_INIT;
    bool is_group = *scope != '/' || strlen(scope) == strlen(group);
    add_escaped(c, group, &path);
    strbuf_concat(&path, is_group ? "" : "/resources", "?api-version=2021-04-01");
    int rc = client_look(c, path.s, &status, &reply, e);
    if (rc == 0)
        rc = status == 200 && (is_group || is_among(json_object_get(reply, "value"), scope));
    json_decref(reply);
    strbuf_free(&path);
    return rc;
}

static bool says_yes(const char *question)
{
    char answer[8] = "";
    printf("%s [y/N] ", question);
    fflush(stdout);
    return fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y');
}

/* Warns if the scope does not exist, because a role at a misspelt scope has no effect. On a
 * terminal the user must confirm; in a script the warning is enough, because the script may create
 * the group later. */
static int confirm_scope(struct daemon_client *c, const struct options *o, struct err *e)
{
    struct state s;
    struct endpoint at;
    if (!o->scope || state_locate(o->state_dir, NULL, &s, e) < 0)
        return o->scope ? -1 : 0;
    int rc = endpoint_read(&s, &at, e);
    state_free(&s);
    if (rc < 0)
        return -1;
    char *group = group_path(o->scope, at.subscription_id);
    endpoint_free(&at);
    int found = group ? scope_is_there(c, o->scope, group, e) : 1;
    free(group);
    if (found != 0)
        return found < 0 ? -1 : 0;
    fprintf(stderr, "batchaid: '%s' does not exist%s; the role takes effect when it is created\n",
            o->scope, *o->scope == '/' ? "" : " as a resource group");
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !says_yes("Add the user all the same?"))
        return err_set(e, ERR_CONFIG, NULL, "user add: the user was not added");
    return 0;
}

static int user_add(struct daemon_client *c, const struct options *o, struct err *e)
{
    json_t *reply = NULL;
    if (confirm_scope(c, o, e) < 0)
        return -1;
    json_t *body =
        json_pack("{s:s, s:s*, s:s*}", "name", o->args[0], "role", o->role, "scope", o->scope);
    if (!body)
        return err_set(e, ERR_CONFIG, NULL, "the name, the role or the scope is not UTF-8");
    int rc = client_call(c, "POST", "/batchaid/users", body, &reply, e);
    json_decref(body);
    if (rc == 0 && o->json)
        json_print(reply);
    else if (rc == 0)
        print_password(reply, "password");
    json_decref(reply);
    return rc;
}

/* Appends /batchaid/users/NAME and `tail`. Caller frees the text. */
static void user_path(struct daemon_client *c, const char *name, const char *tail,
                      struct strbuf *out)
{
    char *segment = client_escape(c, name);
    strbuf_printf(out, "/batchaid/users/%s%s", segment, tail);
    free(segment);
}

static int user_remove(struct daemon_client *c, const struct options *o, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    json_t *reply = NULL;
    user_path(c, o->args[0], "", &path);
    int rc = client_call(c, "DELETE", path.s, NULL, &reply, e);
    if (rc == 0)
        printf("%s is removed\n", o->args[0]);
    json_decref(reply);
    strbuf_free(&path);
    return rc;
}

static int user_reset(struct daemon_client *c, const struct options *o, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    json_t *reply = NULL;
    user_path(c, o->args[0], "/reset", &path);
    int rc = client_call(c, "POST", path.s, NULL, &reply, e);
    if (rc == 0 && o->json)
        json_print(reply);
    else if (rc == 0)
        print_password(reply, "new password");
    json_decref(reply);
    strbuf_free(&path);
    return rc;
}

static const struct user_verb {
    const char *name;
    int options; /* OPT_ bits, in addition to --state-dir */
    int n_names;
    int (*run)(struct daemon_client *c, const struct options *o, struct err *e);
} verbs[] = {
    {"list", OPT_JSON, 0, user_list},
    {"add", OPT_JSON | OPT_ROLE, 1, user_add},
    {"remove", 0, 1, user_remove},
    {"reset", OPT_JSON, 1, user_reset},
};
enum { N_VERBS = sizeof verbs / sizeof verbs[0] };

static int check_usage(const struct user_verb *v, const struct options *o, struct err *e)
{
    if (o->json && !(v->options & OPT_JSON))
        return err_set(e, ERR_CONFIG, NULL, "user %s: it does not take --json", v->name);
    if ((o->role || o->scope) && !(v->options & OPT_ROLE))
        return err_set(e, ERR_CONFIG, NULL, "user %s: it does not take --%s", v->name,
                       o->role ? "role" : "scope");
    if (o->n_args != v->n_names)
        return err_set(e, ERR_CONFIG, NULL, "user %s: it takes %s; use: batchaid user %s%s",
                       v->name, v->n_names ? "one name" : "no name", v->name,
                       v->n_names ? " NAME" : "");
    return 0;
}

int cmd_user(const struct options *o)
{
    struct options rest = *o;
    struct err e;
    const char *name = o->n_args > 0 ? o->args[0] : verbs[0].name;
    const struct user_verb *v = NULL;
    for (size_t i = 0; i < N_VERBS && !v; i++)
        if (strcmp(verbs[i].name, name) == 0)
            v = &verbs[i];
    if (!v) {
        err_set(&e, ERR_CONFIG, NULL,
                "there is no command 'user %.100s'; use: batchaid user [list|add|remove|reset] "
                "[NAME]",
                name);
        return cli_fail(EXIT_USAGE, &e);
    }
    if (o->n_args > 0) {
        rest.args++;
        rest.n_args--;
    }
    return check_usage(v, &rest, &e) < 0 ? cli_fail(EXIT_USAGE, &e) : jobs_here(&rest, v->run);
}
