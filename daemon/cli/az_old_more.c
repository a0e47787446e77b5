/* SPDX-License-Identifier: MIT
 *
 * Other az commands of the guides: a login, which has happened already, and two commands that are
 * broken in Debian's az.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/access/roles.h"
#include "daemon/cli/az_change.h"
#include "lib/base64.h"
#include "lib/fs.h"
#include "lib/guid.h"
#include "lib/timefmt.h"

#define ROLES        "/providers/Microsoft.Authorization"
#define CONTENT_TYPE "--content-type --description"
#define SECRET_FILE  "-f --file"
#define ENCODING     "-e --encoding"
#define US_PER_S     1000000
/* The largest secret, in bytes; for an encoded file, bytes before the encoding. */
#define SECRET_MAX 25600

/* `batchaid az` is always logged in, so `az login` becomes `az account list`, which prints the
 * same. */
int az_old_login(struct az_change *c, struct err *e)
{
    (void)e;
    for (size_t i = 0; i < c->line.n; i++)
        c->unchanged =
            c->unchanged || !az_line_find(&(struct az_line){.options = &c->line.options[i], .n = 1},
                                          "-o --output --query --use-device-code");
    az_line_drop(&c->line, "--use-device-code");
    return 0;
}

/* --- roles ------------------------------------------------------------------------------------ */

/* Finds a role by its name, its GUID, or its whole id. */
static int find_role(struct az_change *c, const char *given, const char **out, struct err *e)
{
    const char *slash = strrchr(given, '/');
    const struct role *role = role_by_name(given);
    if (!role)
        role = role_by_guid(slash ? slash + 1 : given);
    if (!role)
        return err_set(e, ERR_CONFIG, NULL,
                       "az %s: '%s' is not a role; the roles: az role definition list, or "
                       "https://aka.ms/built-in-roles",
                       c->form->words, given);
    *out = arena_concat(c->arena, az_change_scope(c, NULL), ROLES, "/roleDefinitions/", role->guid);
    return 0;
}

/* Finds the object id of a principal. The id of an application is replaced by the id of its
 * principal; any other id is taken as an object id. */
static int find_principal(struct az_change *c, const char *given, const char **out, struct err *e)
{
    long status = 0;
    json_t *reply = NULL;
    *out = given;
    if (!guid_valid(given))
        return err_set(e, ERR_CONFIG, NULL,
                       "az %s: '%s' is not a valid --assignee here; use the id of an application "
                       "or of an object (batchaid user)",
                       c->form->words, given);
    const char *path =
        arena_concat(c->arena, "/v1.0/servicePrincipals?$filter=appId%20eq%20%27", given, "%27");
    if (az_daemon_look(c->facts->daemon, path, &status, &reply, e) < 0)
        return -1;
    const char *id = json_string_value(
        json_object_get(json_array_get(json_object_get(reply, "value"), 0), "id"));
    if (id)
        *out = arena_strdup(c->arena, id);
    json_decref(reply);
    return 0;
}

static json_t *properties_of_role(const struct az_change *c, const char *role,
                                  const char *principal)
{
    const struct az_line *l = &c->line;
    const char *condition = az_line_value(l, "--condition");
    const char *version = az_line_value(l, "--condition-version");
    if (!version && condition)
        version = "2.0"; /* az's default */
    return json_pack("{s:s, s:s, s:s*, s:s*, s:s*, s:s*}", "roleDefinitionId", role, "principalId",
                     principal, "principalType", az_line_value(l, "--assignee-principal-type"),
                     "description", az_line_value(l, "--description"), "condition", condition,
                     "conditionVersion", version);
}

int az_old_assign_role(struct az_change *c, struct err *e)
{
    const char *scope = az_line_value(&c->line, "--scope"), *role = NULL, *principal = NULL;
    const char *group = az_line_value(&c->line, AZ_GROUP);
    const char *given_role = az_line_value(&c->line, "--role");
    const char *assignee = az_line_value(&c->line, "--assignee --assignee-object-id");
    const char *given_name = az_line_value(&c->line, "-n --name");
    char name[GUID_SIZE];
    bool empty = group && !*group;
    if (!c->facts->debian || !given_role || !assignee) {
        c->unchanged = !empty;
        az_line_drop(&c->line, empty ? AZ_GROUP : "");
        return 0;
    }
    if (find_role(c, given_role, &role, e) < 0 || find_principal(c, assignee, &principal, e) < 0)
        return -1;
    scope = scope ? az_change_escaped(c, scope, true) : az_change_scope(c, empty ? NULL : group);
    guid_new(name);
    c->request = (struct az_request){
        .method = "PUT",
        .path = arena_concat(c->arena, scope, ROLES, "/roleAssignments/",
                             given_name ? az_change_escaped(c, given_name, false) : name,
                             "?api-version=2022-04-01"),
        .body = json_pack("{s:o}", "properties", properties_of_role(c, role, principal))};
    return 0;
}

/* --- secrets ---------------------------------------------------------------------------------- */

/* Adds the time of an option, in seconds since 1970. */
static int add_time(struct az_change *c, json_t *attributes, const char *name, const char *option,
                    struct err *e)
{
    const char *text = az_line_value(&c->line, option);
    int64_t us;
    if (!text)
        return 0;
    if (timefmt_parse(text, &us) < 0)
        return err_set(e, ERR_CONFIG, NULL,
                       "az %s: '%s' of %s is not valid; it must be a time, as 2030-12-31T23:59:59Z",
                       c->form->words, text, option);
    json_object_set_new(attributes, name, json_integer(us / US_PER_S));
    return 0;
}

static int add_attributes(struct az_change *c, json_t *body, struct err *e)
{
    const char *disabled = az_line_value(&c->line, "--disabled");
    json_t *attributes = json_object();
    json_object_set_new(body, "attributes", attributes);
    if (disabled && strcasecmp(disabled, "true") != 0 && strcasecmp(disabled, "false") != 0)
        return err_set(e, ERR_CONFIG, NULL,
                       "az %s: '%s' of --disabled is not valid; it must be true or false",
                       c->form->words, disabled);
    if (az_line_find(&c->line, "--disabled"))
        json_object_set_new(attributes, "enabled",
                            json_boolean(disabled && strcasecmp(disabled, "false") == 0));
    if (add_time(c, attributes, "nbf", "--not-before", e) < 0 ||
        add_time(c, attributes, "exp", "--expires", e) < 0)
        return -1;
    if (json_object_size(attributes) == 0)
        json_object_del(body, "attributes");
    return 0;
}

/* Adds the tags: each is KEY=VALUE or KEY. */
static void add_tags(struct az_change *c, json_t *body)
{
    const struct az_option *o = az_line_find(&c->line, "--tags");
    if (!o)
        return;
    json_t *tags = json_object();
    json_object_set_new(body, "tags", tags);
    for (size_t i = 0; i < o->n; i++) {
        const char *text = o->values[i];
        size_t n = strcspn(text, "=");
        if (n > 0)
            json_object_set_new(tags, arena_strndup(c->arena, text, n),
                                json_string(text[n] ? text + n + 1 : ""));
    }
}

/* Accepts only UTF-8 text without NUL as a secret. */
static int take_text(struct az_change *c, const char *text, size_t n, const char **out,
                     struct err *e)
{
    json_t *read = json_stringn(text, n);
    bool is_text = read && !memchr(text, '\0', n);
    json_decref(read);
    *out = arena_strndup(c->arena, text, is_text ? n : 0);
    return is_text
               ? 0
               : err_set(e, ERR_CONFIG, NULL,
                         "it is not text in UTF-8; --file with --encoding base64 takes any file");
}

/* Reads a value of the form "@PATH", or "@-" for standard input: the text without the newlines at
 * its end. */
static int read_at(struct az_change *c, const char *path, const char **out, struct err *e)
{
    char *text;
    size_t n;
    if (fs_read(strcmp(path, "-") == 0 ? "/dev/stdin" : path, SECRET_MAX, &text, &n, e) < 0)
        return -1;
    while (n > 0 && text[n - 1] == '\n')
        n--;
    int rc = take_text(c, text, n, out, e);
    free(text);
    return rc;
}

/* Reads the whole file of --file in the encoding of --encoding. az stores the encoding as a tag. */
static int read_secret_file(struct az_change *c, const char *path, const char **out, struct err *e)
{
    const char *encoding = az_line_value(&c->line, ENCODING);
    bool is_coded = encoding && strcasecmp(encoding, "base64") == 0;
    char *text;
    size_t n;
    int rc = 0;
    if (encoding && !is_coded && strcasecmp(encoding, "utf-8") != 0)
        return err_set(e, ERR_CONFIG, NULL,
                       "'%s' of --encoding is not known here; it may be utf-8 or base64", encoding);
    if (fs_read(path, SECRET_MAX, &text, &n, e) < 0)
        return -1;
    if (is_coded) {
        char *coded = base64_encode(text, n);
        *out = arena_strdup(c->arena, coded);
        free(coded);
    } else {
        rc = take_text(c, text, n, out, e);
    }
    free(text);
    return rc;
}

/* Gets the secret's text from --value or --file. */
static int secret_text(struct az_change *c, const char **out, struct err *e)
{
    const char *value = az_line_value(&c->line, "--value");
    const char *file = az_line_value(&c->line, SECRET_FILE);
    *out = value;
    int rc = file            ? read_secret_file(c, file, out, e)
             : *value == '@' ? read_at(c, value + 1, out, e)
                             : 0;
    return rc < 0 ? err_prefix(e, "az %s: the secret cannot be read", c->form->words) : 0;
}

static void note_encoding(struct az_change *c, json_t *body)
{
    const char *encoding = az_line_value(&c->line, ENCODING);
    json_t *tags = json_object_get(body, "tags");
    if (!az_line_find(&c->line, SECRET_FILE))
        return;
    if (!tags)
        json_object_set_new(body, "tags", tags = json_object());
    json_object_set_new(tags, "file-encoding", json_string(encoding ? encoding : "utf-8"));
}

int az_old_set_secret(struct az_change *c, struct err *e)
{
    const char *vault = az_line_value(&c->line, "--vault-name");
    const char *name = az_line_value(&c->line, "-n --name");
    const char *value = az_line_value(&c->line, "--value");
    const char *file = az_line_value(&c->line, SECRET_FILE);
    c->unchanged = !c->facts->debian || !vault || !name || !value == !file;
    if (c->unchanged)
        return 0;
    if (secret_text(c, &value, e) < 0)
        return -1;
    c->request = (struct az_request){
        .method = "PUT",
        .path = arena_concat(c->arena, "https://", vault, c->facts->vault_suffix, "/secrets/",
                             az_change_escaped(c, name, false), "?api-version=7.4"),
        .resource = "https://vault.azure.net",
        .body = json_pack("{s:s, s:s*}", "value", value, "contentType",
                          az_line_value(&c->line, CONTENT_TYPE))};
    add_tags(c, c->request.body);
    note_encoding(c, c->request.body);
    return add_attributes(c, c->request.body, e);
}
