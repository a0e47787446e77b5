/* SPDX-License-Identifier: MIT
 *
 * The table of old commands, and how a row changes a command. A command that names a workspace, an
 * experiment or a file with today's options (-w, -e, -f) is a command of today, because no old
 * command had these options; az gets it unchanged.
 */
#include "daemon/cli/az_old.h"

#include <stdlib.h>
#include <string.h>

#include "model/home.h"

#define TODAYS     "-w --workspace -e --experiment -f --config-file --file-name --ids"
#define FILE_NAMES "-f --config-file -c --config"
#define HELP       "-h --help"

/* Two misprints of the guides: groups of commands that az never had. */
static const struct {
    const char *from, *to;
} misprints[] = {{"batch ai", "batchai"}, {"cluster", "batchai cluster"}};

/* --- the table -------------------------------------------------------------------------------- */

/* clang-format off */
static const struct old_option cluster[] = {
    {"-n --name", NULL, "CLUSTER", NEEDED}, {NULL}};
static const struct old_option cluster_by_option[] = {
    {"-n --name -c --cluster", "-c", "CLUSTER", NEEDED}, {NULL}};
static const struct old_option cluster_create[] = {
    {"-n --name", NULL, "CLUSTER", NEEDED},
    {"-c --config", "-f", "FILE"},
    {"-s --vm-size", NULL, "VM-SIZE", NEEDED_OR_IN_FILE},
    {"--min", NULL, "NODES", NEEDED_OR_IN_FILE}, {"--max", NULL, "NODES", NEEDED_OR_IN_FILE},
    {"-l --location", "", "LOCATION"},
    {"--container-name", "--bfs-name", "CONTAINER"},
    {"--container-mount-path", "--bfs-mount-path", "PATH"},
    {"--nfs", "", "FILE-SERVER"},
    {"--nfs-resource-group", "", "GROUP"},
    {"--nfs-mount-path", "", "PATH"}, {NULL}};
static const struct old_option resize[] = {
    {"-n --name", NULL, "CLUSTER", NEEDED}, {"-t --target", NULL, "NODES", NEEDED}, {NULL}};
static const struct old_option auto_scale[] = {
    {"-n --name", NULL, "CLUSTER", NEEDED},
    {"--min", NULL, "NODES", NEEDED}, {"--max", NULL, "NODES", NEEDED}, {NULL}};
static const struct old_option job[] = {
    {"-n --name", NULL, "JOB", NEEDED}, {NULL}};
static const struct old_option job_by_option[] = {
    {"-n --name -j --job --job-name", "-j", "JOB", NEEDED}, {NULL}};
static const struct old_option job_create[] = {
    {"-n --name", NULL, "JOB", NEEDED},
    {"-r --cluster-name --cluster", "-c", "CLUSTER", NEEDED_OR_IN_FILE},
    {"-c --config", "-f", "FILE", NEEDED},
    {"--cluster-resource-group", "", "GROUP"},
    {"-l --location", "", "LOCATION"},
    {"--container-name", "--bfs-name", "CONTAINER"},
    {"--container-mount-path", "--bfs-mount-path", "PATH"},
    {"--nfs", "", "FILE-SERVER"},
    {"--nfs-resource-group", "", "GROUP"},
    {"--nfs-mount-path", "", "PATH"}, {NULL}};
static const struct old_option stream[] = {
    {"-j --job --job-name", "-j", "JOB", NEEDED},
    {"-n --name", "-f", "FILE", NEEDED}, {NULL}};
static const struct old_option server[] = {
    {"-n --name", NULL, "FILE-SERVER", NEEDED}, {NULL}};
static const struct old_option server_create[] = {
    {"-n --name", NULL, "FILE-SERVER", NEEDED},
    {"-c --config", "", "FILE"},
    {"-l --location", "", "LOCATION"},
    {"-s --vm-size", NULL, "VM-SIZE", NEEDED_OR_IN_FILE},
    {"--disk-count", NULL, "NUMBER", NEEDED_OR_IN_FILE},
    {"--disk-size", NULL, "GB", NEEDED_OR_IN_FILE},
    {"-p --password", NULL, "PASSWORD", NEEDED_OR_IN_FILE},
    {"-k --ssh-key", NULL, "KEY"},
    {"-u --admin-user-name --user-name", NULL, "USER"},
    {"--storage-sku", NULL, "SKU"},
    {"--caching-type", NULL, "TYPE"},
    {"--subnet", NULL, "ID"}, {NULL}};
static const struct old_option role[] = {
    {"--role", NULL, "ROLE"}, {"--assignee", NULL, "ID"}, {"--assignee-object-id", NULL, "ID"},
    {"--assignee-principal-type", NULL, "TYPE"}, {"--scope", NULL, "SCOPE"},
    {"-n --name", NULL, "GUID"},
    {"--description", NULL, "TEXT", MAY_BE_EMPTY},
    {"--condition", NULL, "TEXT", MAY_BE_EMPTY},
    {"--condition-version", NULL, "VERSION", MAY_BE_EMPTY}, {NULL}};
static const struct old_option secret[] = {
    {"--vault-name", NULL, "VAULT"}, {"-n --name", NULL, "SECRET"}, {"--value", NULL, "TEXT"},
    {"-f --file", NULL, "FILE"}, {"-e --encoding", NULL, "utf-8"},
    {"--disabled", NULL, "true", MAY_BE_EMPTY},
    {"--expires", NULL, "TIME"}, {"--not-before", NULL, "TIME"},
    {"--content-type --description", NULL, "TEXT", MAY_BE_EMPTY},
    {"--tags", NULL, "KEY=VALUE", MAY_BE_EMPTY}, {NULL}};

static const struct old_form forms[] = {
    {"batchai cluster create", "batchai cluster create", cluster_create,
     IN_WORKSPACE | MAKES_PLACE, &schema_cluster, az_old_create_cluster},
    {"batchai cluster show", "batchai cluster show", cluster, IN_WORKSPACE},
    {"batchai cluster delete", "batchai cluster delete", cluster, IN_WORKSPACE},
    {"batchai cluster resize", "batchai cluster resize", resize, IN_WORKSPACE},
    {"batchai cluster list", "batchai cluster list", NULL, IN_WORKSPACE | ANY_GROUP,
     NULL, az_old_list},
    {"batchai cluster list-nodes", "batchai cluster node list", cluster_by_option, IN_WORKSPACE},
    {"batchai cluster node list", "batchai cluster node list", cluster_by_option, IN_WORKSPACE},
    {"batchai cluster list-files", "batchai cluster file list", cluster_by_option, IN_WORKSPACE},
    {"batchai cluster auto-scale", NULL, auto_scale, IN_GROUP, NULL, az_old_auto_scale},
    {"batchai job create", "batchai job create", job_create,
     IN_WORKSPACE | IN_EXPERIMENT | MAKES_PLACE, &schema_job, az_old_create_job},
    {"batchai job show", "batchai job show", job, IN_WORKSPACE | IN_EXPERIMENT},
    {"batchai job delete", "batchai job delete", job, IN_WORKSPACE | IN_EXPERIMENT},
    {"batchai job terminate", "batchai job terminate", job, IN_WORKSPACE | IN_EXPERIMENT},
    {"batchai job wait", "batchai job wait", job, IN_WORKSPACE | IN_EXPERIMENT},
    {"batchai job list", "batchai job list", NULL, IN_WORKSPACE | IN_EXPERIMENT | ANY_GROUP,
     NULL, az_old_list},
    {"batchai job list-files", "batchai job file list", job_by_option, IN_WORKSPACE | IN_EXPERIMENT},
    {"batchai job file list", "batchai job file list", job_by_option, IN_WORKSPACE | IN_EXPERIMENT},
    {"batchai job list-nodes", "batchai job node list", job_by_option, IN_WORKSPACE | IN_EXPERIMENT},
    {"batchai job node list", "batchai job node list", job_by_option, IN_WORKSPACE | IN_EXPERIMENT},
    {"batchai job stream-file", "batchai job file stream", stream, IN_WORKSPACE | IN_EXPERIMENT},
    {"batchai job file stream", "batchai job file stream", stream, IN_WORKSPACE | IN_EXPERIMENT},
    {"batchai file-server create", NULL, server_create, IN_GROUP, &schema_file_server,
     az_old_create_server},
    {"batchai file-server show", NULL, server, IN_GROUP, NULL, az_old_show_server},
    {"batchai file-server delete", NULL, server, IN_GROUP, NULL, az_old_delete_server},
    {"batchai file-server list", "batchai file-server list", NULL, IN_WORKSPACE | ANY_GROUP,
     NULL, az_old_list},
    {"login", "account list", NULL, 0, NULL, az_old_login},
    {"role assignment create", NULL, role, 0, NULL, az_old_assign_role},
    {"keyvault secret set", NULL, secret, 0, NULL, az_old_set_secret},
};
/* clang-format on */

/* --- a command -------------------------------------------------------------------------------- */

static const struct old_form *find_form(const char *words)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(forms[i].words, words) == 0)
            return &forms[i];
    return NULL;
}

static bool repair_misprints(struct az_line *l)
{
    bool found = false;
    for (size_t i = 0; i < sizeof misprints / sizeof misprints[0]; i++)
        found = az_line_reword(l, misprints[i].from, misprints[i].to) || found;
    return found;
}

static int read_file(struct az_change *c, struct err *e)
{
    const struct az_option *o = az_line_find(&c->line, FILE_NAMES);
    if (az_line_find(&c->line, TODAYS)) /* there -c means a cluster, not a file */
        o = az_line_find(&c->line, AZ_FILE_TODAY);
    if (!c->form->file || !o || o->n == 0)
        return 0;
    return az_file_read(o->values[0], c->form->file, &c->file, &c->notes, e);
}

/* Refuses options that lack their values, and a line that lacks options. */
static int check_options(struct az_change *c, struct err *e)
{
    const char *missing = "";
    for (const struct old_option *o = c->form->options; o && o->names; o++) {
        const struct az_option *given = az_line_find(&c->line, o->names);
        const char *value = az_line_value(&c->line, o->names);
        if (given && o->need != MAY_BE_EMPTY && (!value || !*value))
            return err_set(e, ERR_CONFIG, NULL, "az %s: %s has no value; use: %s %s",
                           c->form->words, given->name, given->name, o->value);
        const char *name = arena_strndup(c->arena, o->names, strcspn(o->names, " "));
        if (!given && o->need == NEEDED)
            missing = arena_concat(c->arena, missing, ", ", name, " ", o->value);
    }
    return az_change_lacks(c, missing, e);
}

/* Refuses options that the request cannot express: otherwise they would be silently ignored. */
static int check_request(struct az_change *c, struct err *e)
{
    static const char common[] =
        AZ_GROUP " " AZ_SUBSCRIPTION " -o --output --query --debug --verbose "
                 "--only-show-errors -y --yes --no-wait";
    const char *names = common;
    for (const struct old_option *o = c->form->options; o && o->names; o++)
        names = arena_concat(c->arena, names, " ", o->names);
    for (size_t i = 0; i < c->line.n; i++) {
        struct az_line one = {.options = &c->line.options[i], .n = 1};
        if (!az_line_find(&one, names))
            return err_set(e, ERR_CONFIG, NULL,
                           "az %s does not take %s here, because batchaid carries out this command "
                           "itself; the options: %s",
                           c->form->words, one.options->name, names);
    }
    return 0;
}

static void rename_options(struct az_change *c)
{
    for (size_t i = 0; i < c->line.n; i++) {
        struct az_option *given = &c->line.options[i];
        struct az_line one = {.options = given, .n = 1};
        for (const struct old_option *o = c->form->options; o && o->names; o++)
            if (o->today && az_line_find(&one, o->names)) {
                given->name = o->today;
                break;
            }
    }
    size_t kept = 0;
    for (size_t i = 0; i < c->line.n; i++)
        if (*c->line.options[i].name)
            c->line.options[kept++] = c->line.options[i];
    c->line.n = kept;
}

/* --- where it is today ------------------------------------------------------------------------ */

static void add_made(struct az_change *c, const char *words, const char *path, json_t *body)
{
    struct az_made *m = &c->made[c->n_made++];
    *m = (struct az_made){.path = arena_concat(c->arena, path, "?api-version=", AZ_TODAY),
                          .body = body};
    az_line_of(c->arena, words, &m->line);
    if (az_line_find(&c->line, AZ_SUBSCRIPTION))
        az_line_put(&m->line, AZ_SUBSCRIPTION, c->subscription);
}

static int make_workspace(struct az_change *c, const char *group, const char *path, struct err *e)
{
    const char *location;
    if (az_change_location(c, group, &location, e) < 0)
        return -1;
    add_made(c, "batchai workspace create", path, json_pack("{s:s}", "location", location));
    struct az_line *l = &c->made[c->n_made - 1].line;
    az_line_put(l, "-g", group);
    az_line_put(l, "-n", HOME_WORKSPACE);
    az_line_put(l, "-l", location);
    return 0;
}

static int make_experiment(struct az_change *c, const char *group, const char *workspace,
                           struct err *e)
{
    bool there;
    const char *path = arena_concat(c->arena, workspace, "/experiments/" HOME_EXPERIMENT);
    if (az_change_has_experiment(c, group, &there, e) < 0)
        return -1;
    if (there)
        return 0;
    add_made(c, "batchai experiment create", path, NULL);
    struct az_line *l = &c->made[c->n_made - 1].line;
    az_line_put(l, "-g", group);
    az_line_put(l, "-w", HOME_WORKSPACE);
    az_line_put(l, "-n", HOME_EXPERIMENT);
    return 0;
}

static int place_today(struct az_change *c, struct err *e)
{
    const char *group, *others;
    bool there;
    if (!(c->form->place & IN_WORKSPACE))
        return 0;
    if (az_change_group(c, &group, e) < 0 || az_change_has_place(c, group, &there, &others, e) < 0)
        return -1;
    const char *path = arena_concat(c->arena, az_change_scope(c, group), AZ_PROVIDER,
                                    "/workspaces/" HOME_WORKSPACE);
    bool makes = (c->form->place & MAKES_PLACE) != 0;
    if (!there && !makes)
        return az_change_no_place(c, group, others, e);
    if (!there && make_workspace(c, group, path, e) < 0)
        return -1;
    az_line_put(&c->line, "-w", HOME_WORKSPACE);
    if (!(c->form->place & IN_EXPERIMENT))
        return 0;
    az_line_put(&c->line, "-e", HOME_EXPERIMENT);
    return makes ? make_experiment(c, group, path, e) : 0;
}

/* --- the change ------------------------------------------------------------------------------- */

static int change(struct az_change *c, struct err *e)
{
    if (check_options(c, e) < 0 || az_change_subscription(c, e) < 0 ||
        (c->form->change && c->form->change(c, e) < 0))
        return -1;
    if (c->request.method)
        return check_request(c, e);
    if (c->unchanged)
        return 0;
    if (place_today(c, e) < 0)
        return -1;
    rename_options(c);
    if (c->form->today)
        az_line_reword(&c->line, c->form->words, c->form->today);
    return 0;
}

int az_old_change(const struct az_facts *facts, struct arena *a, char *const *args, size_t n,
                  struct az_change *out, bool *old, struct err *e)
{
    *out = (struct az_change){.arena = a, .facts = facts, .subscription = facts->subscription};
    az_line_read(a, args, n, &out->line);
    *old = repair_misprints(&out->line);
    out->form = find_form(az_line_words(&out->line));
    if (!out->form)
        return 0;
    const char *today = out->form->today;
    if (az_line_find(&out->line, HELP)) {
        if (today && strcmp(today, out->form->words) != 0)
            *old = az_line_reword(&out->line, out->form->words, today);
        return 0;
    }
    if (read_file(out, e) < 0)
        return -1;
    /* `az keyvault secret` has -f and -e, too */
    bool batchai = strncmp(out->form->words, "batchai ", 8) == 0;
    if (batchai && az_line_find(&out->line, TODAYS)) {
        *old = *old || out->file.changed;
        return 0;
    }
    if (change(out, e) < 0)
        return -1;
    *old = *old || !out->unchanged;
    return 0;
}

void az_old_free(struct az_change *c)
{
    az_file_free(&c->file);
    for (size_t i = 0; i < c->n_made; i++)
        json_decref(c->made[i].body);
    json_decref(c->request.body);
    strbuf_free(&c->notes);
}
