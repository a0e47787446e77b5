/* SPDX-License-Identifier: MIT
 *
 * The rows of Key Vaults and their contents; see rows.h.
 */
#include "storage/columns.h"

DOMAIN(seconds, 0, INT64_C(253402300799), 0); /* like `instant`, but in seconds */

#define MAYBE_SECONDS(name, member) COLUMN(ID, name, member, &seconds) /* 0: null */

#define ROW struct vault
static const struct st_column vault_columns[] = {
    OWN_ID("id", id),
    ID("group_id", group_id),
    TEXT("subscription", subscription),
    TEXT("group_name", group),
    TEXT("name", name),
    TEXT("location", location),
    TEXT("tags", tags),
    TEXT("doc", doc),
    INT64("retention_us", retention_us, duration),
    INT64("created_us", created_us, instant),
    INT64("updated_us", updated_us, instant),
    TEXT("created_by", created_by),
    INT64("deleted_us", deleted_us, instant),
    INT64("purge_us", purge_us, instant),
};
#undef ROW
ROW_OF(vault_row, struct vault, vault, "vault", "v");

#define ROW struct secret
static const struct st_column secret_columns[] = {
    OWN_ID("id", id),
    INT64("vault_id", vault_id, id),
    TEXT("name", name),
    INT64("deleted_us", deleted_us, instant),
    INT64("purge_us", purge_us, instant),
};
#undef ROW
ROW_OF(secret_row, struct secret, secret, "secret", "k");

#define ROW struct secret_version
static const struct st_column secret_version_columns[] = {
    OWN_ID("id", id),
    INT64("secret_id", secret_id, id),
    TEXT("version", version),
    BOOL("enabled", enabled),
    MAYBE_SECONDS("not_before_s", not_before_s),
    MAYBE_SECONDS("expires_s", expires_s),
    TEXT("content_type", content_type),
    TEXT("tags", tags),
    INT64("created_us", created_us, instant),
    INT64("updated_us", updated_us, instant),
    FROM_TEXT("k.name", name),
    FROM_INT64("k.deleted_us", deleted_us, instant),
    FROM_INT64("k.purge_us", purge_us, instant),
    SECRET("value"),
};
#undef ROW
ROW_OF(secret_version_row, struct secret_version, secret_version, "secret_version", "kv");

#define ROW struct run_secret
static const struct st_column run_secret_columns[] = {
    INT64("run_id", run_id, id),
    INT("attempt", attempt, count),
    TEXT("url", url),
    SECRET("value"),
};
#undef ROW
ROW_OF(run_secret_row, struct run_secret, run_secret, "run_secret", "us");
