/* SPDX-License-Identifier: MIT
 *
 * Writes docs/api-coverage.md out of the route table and the field tables. `make docs-update` puts
 * it in its place; a test fails while the page differs from what this prints.
 */
#include "api/arm/batchai/batchai.h"
#include "model/schema.h"
#include "model/wishes.h"
#include "test/tools/clients_seen.h"

static const enum api_version versions[] = {V_2017_09_01_PREVIEW, V_2018_03_01, V_2018_05_01};
enum { VERSIONS = sizeof versions / sizeof versions[0] };

/* What is taken and shown, but does nothing here. */
static const struct {
    const char *what, *reason;
} without_effect[] = {
    {"virtualMachineConfiguration", "nodes are machines that exist already, with their own system"},
    {"subnet", "nodes stay in the network they are in"},
    {"performanceCountersSettings", "there is no Application Insights to send counters to"},
    {"setupTask.runElevated", "a setup task has the rights of the node's agent, no more"},
    {"outputDirectories.type", "a label: nothing in the service's documents acts on it"},
    {"experimentName (2017-09-01-preview, 2018-03-01)", "a label of the user's own"},
    {"sshConfiguration.publicIPsToAllow", "file servers open no port"},
    {"usages' ActiveJobs limit (2018-03-01)", "jobs have no quota: the limit shown is the type's"},
};

/* Routes that no document has. */
static const struct {
    const char *operation_id, *reason;
} beyond[] = {
    {"OperationResults", "what Azure-AsyncOperation points at"},
    {"OperationStatuses", "what Location points at"},
    {"Jobs_ListOutputFilesNext", "SDKs follow nextLink with GET, also after a POST"},
};

static const char *reason_of(const char *operation_id)
{
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++)
        if (strcmp(beyond[i].operation_id, operation_id) == 0)
            return beyond[i].reason;
    return NULL;
}

/* `last` is one more column, or NULL. */
static void version_head(const char *first, const char *second, const char *last)
{
    printf("| %s | %s |", first, second);
    for (int i = 0; i < VERSIONS; i++)
        printf(" %s |", api_version_name(versions[i]));
    if (last)
        printf(" %s |", last);
    printf("\n| --- | --- |");
    for (int i = 0; i < VERSIONS + (last != NULL); i++)
        printf(" --- |");
    printf("\n");
}

static void version_marks(unsigned known)
{
    for (int i = 0; i < VERSIONS; i++)
        printf(" %s |", known == 0 || (known & (unsigned)versions[i]) ? "yes" : "-");
}

/* "{subscription}" and what is in front of it are the same in every row. */
static const char *short_path(const char *path)
{
    const char *p = strstr(path, "/providers/Microsoft.BatchAI");
    return p ? p + strlen("/providers/Microsoft.BatchAI") : path;
}

static const char *scope_of(const char *path)
{
    if (strstr(path, "{group}"))
        return "group";
    return strstr(path, "{subscription}") ? "subscription" : "tenant";
}

static void print_routes(void)
{
    size_t n;
    const struct route **rows = routes_sorted(&batchai_service, &n);
    json_t *seen = clients_read("test/clients/operations.json");
    version_head("operation", "request, below `providers/Microsoft.BatchAI` of the scope",
                 "clients seen to use it");
    for (size_t i = 0; i < n; i++) {
        const char *reason = reason_of(rows[i]->operation_id);
        printf("| %s%s%s%s | `%s %s` (%s) |", rows[i]->operation_id, reason ? " (" : "",
               reason ? reason : "", reason ? ")" : "", rows[i]->method, short_path(rows[i]->path),
               scope_of(rows[i]->path));
        version_marks(rows[i]->versions);
        clients_column(seen, &batchai_service, rows[i]);
    }
    json_decref(seen);
    free(rows);
}

static const char *kind_text(const struct field *f)
{
    static const char *const names[] = {
        [FIELD_STRING] = "string",   [FIELD_INT] = "integer",   [FIELD_BOOL] = "boolean",
        [FIELD_ENUM] = "enum",       [FIELD_OBJECT] = "object", [FIELD_ARRAY] = "list",
        [FIELD_STRINGS] = "strings", [FIELD_MAP] = "map",       [FIELD_DURATION] = "duration",
        [FIELD_TIME] = "time",
    };
    return names[f->kind];
}

static void print_values(const struct field *f)
{
    for (const struct enum_name *v = f->values; v && v->name; v++)
        printf("%s%s", v == f->values ? ": " : ", ", v->name);
}

static void print_notes(const struct field *f)
{
    static const struct {
        unsigned flag;
        const char *text;
    } notes[] = {
        {FIELD_REQUIRED, ", required"},           {FIELD_READONLY, ", read-only"},
        {FIELD_SECRET, ", secret: never shown"},  {FIELD_MUTABLE, ", can be changed"},
        {FIELD_INPUT_ONLY, ", taken, not shown"}, {FIELD_DISCARD, ", taken, not kept"},
    };
    printf("%s", kind_text(f));
    print_values(f);
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
        if (f->flags & notes[i].flag)
            printf("%s", notes[i].text);
    if (f->fallback && f->kind != FIELD_OBJECT)
        printf(", default `%s`", f->fallback);
}

/* `within`: the versions that know what the table is in. */
static void print_fields(const struct schema *s, const char *above, unsigned within)
{
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct field *f = &s->fields[i];
        unsigned known = (f->versions ? f->versions : V_ALL) & within;
        char path[300];
        if (!known)
            continue;
        snprintf(path, sizeof path, "%s%s%s", above, *above ? "." : "", f->name);
        printf("| %s | ", path);
        print_notes(f);
        printf(" |");
        version_marks(known);
        printf("\n");
        if (f->sub && (f->kind == FIELD_OBJECT || f->kind == FIELD_ARRAY))
            print_fields(f->sub, path, known);
    }
}

static void print_resources(void)
{
    static const struct {
        const struct schema *schema;
        unsigned versions;
    } tables[] = {
        {&schema_workspace, V_2018_05_01},
        {&schema_experiment, V_2018_05_01},
        {&schema_cluster, V_ALL},
        {&schema_file_server, V_ALL},
        {&schema_job, V_ALL},
        {&schema_file, V_ALL},
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        printf("\n### %s\n\n", tables[i].schema->name);
        version_head("property", "what it is", NULL);
        print_fields(tables[i].schema, "", tables[i].versions);
    }
}

static void print_ineffective(void)
{
    for (size_t i = 0; i < sizeof without_effect / sizeof without_effect[0]; i++)
        printf("| %s | %s |\n", without_effect[i].what, without_effect[i].reason);
}

static void print_wishes(void)
{
    const struct wish_row *row;
    for (size_t i = 0; (row = wish_row(i)); i++)
        printf("| `%s` | %s | %s |\n", row->name, row->right, row->help);
}

int main(void)
{
    printf(
        "# API coverage\n\n"
        "`make docs-update` writes this page from the route table (`api/arm/batchai/service.c`) "
        "and "
        "the field\n"
        "tables (`model/schema/`). The clients are those of `docs/clients.md`; each took a cluster "
        "and a\n"
        "job through their life (`make check-clients`).\n\n"
        "The versions without workspaces keep their resources in the workspace `migrated` of the\n"
        "resource group, and jobs in its experiment `migrated` (`model/home.h`). From 2018-05-01 "
        "on,\n"
        "clients see and use them there; the old versions do not see other workspaces.\n\n"
        "## Operations\n\n");
    print_routes();
    printf("\n## Taken, kept and shown, but without effect\n\n"
           "| property | reason |\n| --- | --- |\n");
    print_ineffective();
    printf("\n## Reserved variables\n\n"
           "Jobs ask by them, in `environmentVariables`, for what no property is there for\n"
           "([jobs.md](jobs.md)). In all versions.\n\n"
           "| name | value | meaning |\n| --- | --- | --- |\n");
    print_wishes();
    printf("\n## Properties\n");
    print_resources();
    return fflush(stdout) == 0 ? 0 : 1;
}
