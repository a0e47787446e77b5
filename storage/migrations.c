/* SPDX-License-Identifier: MIT
 *
 * The list of migrations. It is in a separate file, because the tests put another list in its place
 * (ld --wrap, which does not reach calls within a file; test/fixtures/next_migration.c).
 */
#include "storage/storage_priv.h"

static const struct st_migration migrations[] = {
#include "migrations.inc"
};

const struct st_migration *st_migrations(int *n)
{
    *n = (int)(sizeof migrations / sizeof migrations[0]);
    return migrations;
}
