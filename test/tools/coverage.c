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

static void print_versions(unsigned known)
{
    int n = 0;
    if (known == 0 || (known & V_ALL) == V_ALL) {
        printf(" all |");
        return;
    }
    for (int i = 0; i < VERSIONS; i++)
        if (known & (unsigned)versions[i])
            printf("%s%s", n++ ? ", " : " ", api_version_name(versions[i]));
    printf(" |");
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
    printf("| operation | request, below `providers/Microsoft.BatchAI` of the scope | versions | "
           "clients |\n| --- | --- | --- | --- |\n");
    for (size_t i = 0; i < n; i++) {
        const char *reason = reason_of(rows[i]->operation_id);
        printf("| %s%s%s%s | `%s %s` (%s) |", rows[i]->operation_id, reason ? " (" : "",
               reason ? reason : "", reason ? ")" : "", rows[i]->method, short_path(rows[i]->path),
               scope_of(rows[i]->path));
        print_versions(rows[i]->versions);
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

/* Objects that have been printed: where, and with which versions. */
static struct printed {
    const struct schema *schema;
    const char *resource;
    char path[300];
    unsigned versions;
} printed[64];
static size_t n_printed;

/* The place where the object was printed with all of these versions, or NULL; then it is noted. */
static const struct printed *printed_at(const struct schema *s, const char *resource,
                                        const char *path, unsigned known)
{
    for (size_t i = 0; i < n_printed; i++)
        if (printed[i].schema == s && (known & ~printed[i].versions) == 0)
            return &printed[i];
    if (n_printed == sizeof printed / sizeof printed[0])
        abort();
    printed[n_printed].schema = s;
    printed[n_printed].resource = resource;
    printed[n_printed].versions = known;
    snprintf(printed[n_printed++].path, sizeof printed[0].path, "%s", path);
    return NULL;
}

/* `within`: the versions that know what the table is in. An object that is in the tables already
 * is not printed again. */
static void print_fields(const char *resource, const struct schema *s, const char *above,
                         unsigned within)
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
        bool has_rows = f->sub && (f->kind == FIELD_OBJECT || f->kind == FIELD_ARRAY);
        bool named = has_rows && f->sub->n_fields > 1;
        const struct printed *elsewhere = named ? printed_at(f->sub, resource, path, known) : NULL;
        if (elsewhere)
            printf(", as %s.%s", elsewhere->resource, elsewhere->path);
        printf(" |");
        if (known == within)
            printf(" |");
        else
            print_versions(known);
        printf("\n");
        if (has_rows && !elsewhere)
            print_fields(resource, f->sub, path, known);
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
        if (tables[i].versions != V_ALL)
            printf("In 2018-05-01 only.\n\n");
        printf("| property | what it is | versions |\n| --- | --- | --- |\n");
        print_fields(tables[i].schema->name, tables[i].schema, "", tables[i].versions);
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
        "`make docs-update` writes this page from the tables of routes and properties. The\n"
        "clients are those of [clients.md](clients.md): each took a cluster and a job through\n"
        "their life (`make check-clients`). Versions: 2017-09-01-preview, 2018-03-01, 2018-05-01;\n"
        "`all` in their column: the three; in the clients' column: every client that speaks a\n"
        "version of the row.\n\n"
        "The versions without workspaces keep their resources in the workspace `migrated` of the\n"
        "resource group, and jobs in its experiment `migrated`. Clients of 2018-05-01 use them\n"
        "there; the old versions do not see other workspaces.\n\n"
        "## Operations\n\n");
    print_routes();
    printf("\n## Taken, kept and shown, but without effect\n\n"
           "| property | reason |\n| --- | --- |\n");
    print_ineffective();
    printf("\n## Reserved variables\n\n"
           "In `environmentVariables` of jobs, in all versions: [jobs.md](jobs.md).\n\n"
           "| name | value | meaning |\n| --- | --- | --- |\n");
    print_wishes();
    printf("\n## Properties\n\n`as PLACE`: the object has the properties that are listed there, in "
           "its "
           "own versions.\nWithout versions: those of the object around it.\n");
    print_resources();
    return fflush(stdout) == 0 ? 0 : 1;
}
