/* SPDX-License-Identifier: MIT
 *
 * Writes docs/batch-coverage.md out of the tables of routes of Azure Batch's two planes. `make
 * docs-update` puts it in its place; a test fails while the page differs from what this prints.
 */
#include "api/arm/batch/batchrm.h"
#include "api/plane/batch/batch.h"
#include "test/tools/clients_seen.h"

/* Bits of versions are in their order. */
static const char *first_version(const struct service *s, unsigned versions)
{
    return s->version_name(versions & -versions);
}

static const char *last_version(const struct service *s, unsigned versions)
{
    while (versions & (versions - 1))
        versions &= versions - 1;
    return s->version_name(versions);
}

/* The scope and what is in front of the provider's name are the same in every row. */
static const char *short_path(const char *path)
{
    static const char provider[] = "/providers/Microsoft.Batch";
    const char *p = strstr(path, provider);
    return p ? p + sizeof provider - 1 : path;
}

static void print_plane(const struct service *s, const char *seen_file)
{
    size_t n;
    const struct route **rows = routes_sorted(s, &n);
    json_t *seen = clients_read(seen_file);
    printf("| operation | request | first version | last version | clients seen to use it |\n"
           "| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < n; i++) {
        printf("| %s | `%s %s` | %s | %s |", rows[i]->operation_id, rows[i]->method,
               short_path(rows[i]->path), first_version(s, rows[i]->versions),
               last_version(s, rows[i]->versions));
        clients_column(seen, s, rows[i]);
    }
    json_decref(seen);
    free(rows);
}

int main(void)
{
    printf(
        "# Coverage of Azure Batch\n\n"
        "`make docs-update` writes this page from the tables of routes. The versions from the\n"
        "first to the last of a row have it. The clients are those of [clients.md](clients.md):\n"
        "each took a pool, a job and its tasks, or an account, through their life (`make\n"
        "check-clients`). `all`: every client that speaks a version of the row.\n\n"
        "## Pools, jobs and tasks\n\nAt the account's own host.\n\n");
    print_plane(&batch_service, "test/clients/batch_operations.json");
    printf("\n## Accounts\n\nBelow `providers/Microsoft.Batch` of a resource group, a subscription "
           "or the tenant.\n\n");
    print_plane(&batchrm_service, "test/clients/batch_management_operations.json");
    return fflush(stdout) == 0 ? 0 : 1;
}
