/* SPDX-License-Identifier: MIT
 *
 * The resources of `batchaid demo`: a storage account with blobs, and a Batch account with a pool
 * of fake nodes and a job with a task in each state. The printed values come from the daemon's
 * dump.
 */
#include "daemon/cli/demo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/cli/json_print.h"
#include "daemon/cli/table.h"
#include "lib/arena.h"
#include "lib/shell.h"
#include "lib/strbuf.h"

const char *const demo_rules[] = {
    "{\"match\": {\"name\": \"nightly/prepare\"}, \"stdout\": [\"3 files\"]}",
    "{\"match\": {\"name\": \"nightly/train\"}, \"exitCode\": 1,"
    " \"stderr\": [\"no space left on device\"]}",
    "{\"match\": {\"name\": \"nightly/report\"}, \"duration\": \"PT1H\"}", NULL};

const char demo_seed[] =
    "groups:\n"
    "  demo:\n"
    "    location: eastus\n"
    "    storageAccounts:\n"
    "      demostore:\n"
    "        location: eastus\n"
    "        kind: StorageV2\n"
    "        sku: {name: Standard_LRS}\n"
    "        properties: {allowBlobPublicAccess: true}\n"
    "        containers:\n"
    "          models:\n"
    "            properties: {publicAccess: Container}\n"
    "            blobs:\n"
    "              readme.txt: \"Two models, of two nights.\\n\"\n"
    "              night-1/model.txt: \"accuracy 0.91\\n\"\n"
    "              night-2/model.txt: \"accuracy 0.93\\n\"\n"
    "    batchAccounts:\n"
    "      demobatch:\n"
    "        location: eastus\n"
    "        pools:\n"
    "          workers:\n"
    "            vmSize: FAKE_D2\n"
    "            targetDedicatedNodes: 2\n"
    "            virtualMachineConfiguration:\n"
    "              nodeAgentSKUId: batch.node.ubuntu 22.04\n"
    "              imageReference:\n"
    "                {publisher: canonical, offer: 0001-com-ubuntu-server-jammy, sku: 22_04-lts}\n"
    "        jobs:\n"
    "          nightly:\n"
    "            poolInfo: {poolId: workers}\n"
    "            tasks:\n"
    "              prepare: {commandLine: ./prepare.sh}\n"
    "              train: {commandLine: python3 train.py}\n"
    "              report: {commandLine: ./report.sh}\n";

/* --- the content ------------------------------------------------------------------------------ */

static void add(json_t *rows, const char *kind, const char *name, const char *state)
{
    json_array_append_new(rows,
                          json_pack("{s:s, s:s, s:s}", "kind", kind, "name", name, "state", state));
}

static void add_storage(json_t *rows, const json_t *accounts)
{
    const char *account, *container, *blob;
    json_t *a, *c, *b;
    struct arena texts;
    arena_init(&texts);
    json_object_foreach((json_t *)accounts, account, a) {
        add(rows, "storage account", account, "");
        json_object_foreach(json_object_get(a, "containers"), container, c)
            json_object_foreach(json_object_get(c, "blobs"), blob, b) {
                const char *text = json_string_value(json_object_get(b, "text"));
                const char *content = json_is_string(b) ? json_string_value(b) : text;
                add(rows, "blob", arena_concat(&texts, container, "/", blob),
                    arena_printf(&texts, "%zu bytes", content ? strlen(content) : 0));
            }
    }
    arena_free(&texts);
}

/* The state of a task as text: "completed, exit code 1". */
static const char *state_of(struct arena *a, const json_t *o)
{
    const json_t *state = json_object_get(o, "state"), *code = json_object_get(state, "exitCode");
    const char *name = json_string_value(json_object_get(state, "state"));
    if (!code)
        return name ? name : "active";
    return arena_printf(a, "%s, exit code %lld", name ? name : "active",
                        (long long)json_integer_value(code));
}

static void add_batch(json_t *rows, const json_t *accounts)
{
    const char *account, *pool, *job, *task;
    json_t *a, *p, *j, *t;
    struct arena texts;
    arena_init(&texts);
    json_object_foreach((json_t *)accounts, account, a) {
        add(rows, "Batch account", account, "");
        json_object_foreach(json_object_get(a, "pools"), pool, p)
            add(rows, "pool", pool,
                arena_printf(
                    &texts, "%lld fake nodes",
                    (long long)json_integer_value(json_object_get(p, "targetDedicatedNodes"))));
        json_object_foreach(json_object_get(a, "jobs"), job, j) {
            add(rows, "job", job, state_of(&texts, j));
            json_object_foreach(json_object_get(j, "tasks"), task, t)
                add(rows, "task", arena_concat(&texts, job, "/", task), state_of(&texts, t));
        }
    }
    arena_free(&texts);
}

static json_t *resources(const json_t *dump)
{
    json_t *rows = json_array();
    const json_t *group = json_object_get(json_object_get(dump, "groups"), "demo");
    add(rows, "resource group", "demo", "");
    add_storage(rows, json_object_get(group, "storageAccounts"));
    add_batch(rows, json_object_get(group, "batchAccounts"));
    return rows;
}

/* --- lines to try ----------------------------------------------------------------------------- */

static void add_line(json_t *lines, const char *what, char *line)
{
    json_array_append_new(lines, json_pack("{s:s, s:s}", "what", what, "command", line));
}

static json_t *lines_to_try(const struct environment *env, const char *dir)
{
    json_t *lines = json_array();
    struct arena a;
    arena_init(&a);
    const char *url = environment_get(env, "BATCHAID_ENDPOINT");
    const char *host = url + strlen("https://"), *place = shell_quoted(&a, dir);
    const char *curl = arena_concat(&a, "curl -s --cacert ",
                                    shell_quoted(&a, environment_get(env, "SSL_CERT_FILE")), " ");
    const char *ask =
        arena_concat(&a, curl, "-H ",
                     shell_quoted(&a, arena_concat(&a, "x-batchaid-testing-key: ",
                                                   environment_get(env, "BATCHAID_TESTING_KEY"))),
                     " -H 'Content-Type: application/json' ", url, "/batchaid");
    add_line(
        lines, "read a blob",
        arena_concat(&a, curl, "https://demostore.blob.core.", host, "/models/night-2/model.txt"));
    add_line(lines, "let the next download of a blob fail",
             arena_concat(&a, ask,
                          "/testing/faults -d '{\"match\": {\"operation\": \"Blob_Download\"}, "
                          "\"reply\": {\"status\": 503}}'"));
    add_line(lines, "ask why a task failed",
             arena_concat(&a, "batchaid explain --state-dir ", place, " nightly/train"));
    add_line(lines, "let an hour pass, after which the task report ends",
             arena_concat(&a, ask, "/clock -d '{\"advance\": \"PT1H\"}'"));
    add_line(lines, "print everything, in the form of `batchaid seed`",
             arena_concat(&a, "batchaid dump --state-dir ", place, " demo"));
    arena_free(&a);
    return lines;
}

/* --- printing --------------------------------------------------------------------------------- */

static void print_table(const json_t *rows)
{
    static const struct table_column columns[] = {
        {.name = "KIND"}, {.name = "NAME"}, {.name = "STATE"}};
    static const char *const members[] = {"kind", "name", "state"};
    struct table t;
    size_t i;
    json_t *row;
    table_init(&t, columns, 3);
    json_array_foreach(rows, i, row)
        for (size_t k = 0; k < 3; k++)
            table_add(&t, TABLE_PLAIN, json_string_value(json_object_get(row, members[k])));
    struct table_screen screen = table_screen_of(stdout);
    table_print(&t, &screen, stdout);
    table_free(&t);
}

void demo_show(const struct environment *env, const char *dir, const json_t *dump, bool json)
{
    json_t *rows = resources(dump), *lines = lines_to_try(env, dir), *line;
    const char *url = environment_get(env, "BATCHAID_ENDPOINT");
    size_t i;
    if (json) {
        json_t *all = json_pack("{s:s, s:s, s:s, s:s, s:O, s:O}", "endpoint", url, "stateDirectory",
                                dir, "caBundle", environment_get(env, "SSL_CERT_FILE"),
                                "testingKey", environment_get(env, "BATCHAID_TESTING_KEY"),
                                "resources", rows, "commands", lines);
        json_print_new(all);
    } else {
        printf("A cloud for tests is at %s\n\n", url);
        print_table(rows);
        printf("\nTry in another shell:\n");
        json_array_foreach(lines, i, line)
            printf("\n  # %s\n  %s\n", json_string_value(json_object_get(line, "what")),
                   json_string_value(json_object_get(line, "command")));
        printf("\nCtrl-C ends it and removes everything.\n");
    }
    fflush(stdout);
    json_decref(rows);
    json_decref(lines);
}
