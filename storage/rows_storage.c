/* SPDX-License-Identifier: MIT
 *
 * The rows of storage accounts and their contents; see rows.h.
 */
#include "storage/columns.h"

#define ROW struct storage_account
static const struct st_column account_columns[] = {
    OWN_ID("id", id),
    INT64("group_id", group_id, id),
    TEXT("name", name),
    TEXT("location", scope.location),
    TEXT("sku", sku),
    TEXT("kind", kind),
    TEXT("tags", tags),
    TEXT("doc", doc),
    TEXT("blob_service", blob_service),
    TEXT("file_service", file_service),
    TEXT("created_by", created_by),
    INT("prov_state", prov_state, prov_state),
    INT64("created_us", created_us, instant),
    INT64("updated_us", updated_us, instant),
    INT64("key1_us", key1_us, instant),
    INT64("key2_us", key2_us, instant),
    BOOL("implicit", implicit),
    FROM_TEXT("g.subscription", scope.subscription),
    FROM_TEXT("g.name", scope.group),
    SECRET("keys"),
};
#undef ROW
ROW_OF(account_row, struct storage_account, account, "storage_account", "s");

#define ROW struct share
static const struct st_column share_columns[] = {
    OWN_ID("id", id),
    ID("account_id", account_id),
    TEXT("account", account),
    TEXT("name", name),
    INT("kind", kind, share_kind),
    INT("state", state, share_state),
    INT("quota", quota, share_quota),
    TEXT("metadata", metadata),
    TEXT("acl", acl),
    INT("public_access", public_access, public_access),
    TEXT("access_tier", access_tier),
    INT("lease_state", lease_state, lease_state),
    TEXT("lease_id", lease_id),
    INT("lease_duration_s", lease_duration_s, lease_duration),
    INT64("lease_until_us", lease_until_us, instant),
    INT64("etag", etag, etag),
    INT64("created_us", created_us, instant),
    INT64("updated_us", updated_us, instant),
    INT64("deleted_us", deleted_us, instant),
    TEXT("subscription", subscription),
};
#undef ROW
ROW_OF(share_row, struct share, share, "share", "h");

#define ROW struct share_item
static const struct st_column item_columns[] = {
    OWN_ID("id", id),
    INT64("share_id", share_id, id),
    TEXT("path", path),
    TEXT("aside", aside),
    INT("type", type, blob_type),
    INT64("inode", inode, bits),
    INT64("size", size, file_size),
    INT64("mtime_ns", mtime_ns, bits),
    INT64("revision", revision, etag),
    TEXT("properties", properties),
    TEXT("metadata", metadata),
    TEXT("tags", tags),
    TEXT("copy", copy),
    TEXT("blocks", blocks),
    TEXT("md5", md5),
    INT("lease_state", lease_state, lease_state),
    TEXT("lease_id", lease_id),
    INT("lease_duration_s", lease_duration_s, lease_duration),
    INT64("lease_until_us", lease_until_us, instant),
    INT64("created_us", created_us, instant),
};
#undef ROW
ROW_OF(item_row, struct share_item, item, "share_item", "i");

#define ROW struct item_change
static const struct st_column item_change_columns[] = {
    INT64("id", id, id),
    INT64("share_id", was.share_id, id),
    TEXT("path", was.path),
    INT("kind", kind, item_change_kind),
    TEXT("place", place),
    INT64("now_inode", now_inode, bits),
    INT64("now_mtime_ns", now_mtime_ns, bits),
    BOOL("was_there", was_there),
    INT64("was_inode", was_inode, bits),
    INT64("was_size", was_size, file_size),
    INT64("was_mtime_ns", was_mtime_ns, bits),
    BOOL("was_noted", was_noted),
    TEXT("aside", was.aside),
    INT("type", was.type, blob_type),
    INT64("inode", was.inode, bits),
    INT64("size", was.size, file_size),
    INT64("mtime_ns", was.mtime_ns, bits),
    INT64("revision", was.revision, etag),
    TEXT("properties", was.properties),
    TEXT("metadata", was.metadata),
    TEXT("tags", was.tags),
    TEXT("copy", was.copy),
    TEXT("blocks", was.blocks),
    TEXT("md5", was.md5),
    INT("lease_state", was.lease_state, lease_state),
    TEXT("lease_id", was.lease_id),
    INT("lease_duration_s", was.lease_duration_s, lease_duration),
    INT64("lease_until_us", was.lease_until_us, instant),
    INT64("created_us", was.created_us, instant),
};
#undef ROW
ROW_OF(item_change_row, struct item_change, item_change, "item_change", "ic");

#define ROW struct blob_snapshot
static const struct st_column snapshot_columns[] = {
    OWN_ID("id", item.id),
    INT64("share_id", item.share_id, id),
    TEXT("path", item.path),
    INT64("taken_us", taken_us, instant),
    TEXT("aside", item.aside),
    INT("type", item.type, blob_type),
    INT64("inode", item.inode, bits),
    INT64("size", item.size, file_size),
    INT64("mtime_ns", item.mtime_ns, bits),
    INT64("revision", item.revision, etag),
    TEXT("properties", item.properties),
    TEXT("metadata", item.metadata),
    TEXT("tags", item.tags),
    TEXT("copy", item.copy),
    TEXT("blocks", item.blocks),
    TEXT("md5", item.md5),
    INT64("created_us", item.created_us, instant),
    FROM_INT(SQL_LEASE_AVAILABLE, item.lease_state, lease_state), /* a snapshot has no lease */
};
#undef ROW
ROW_OF(snapshot_row, struct blob_snapshot, snapshot, "blob_snapshot", "bs");

/* A blob with uncommitted blocks only: its time is the time of its row. */
#define ROW struct share_item
static const struct st_column uncommitted_columns[] = {
    FROM_INT64("ub.share_id", share_id, id),
    FROM_TEXT("ub.path", path),
    FROM_INT64("ub.since_us", created_us, bits),
    FROM_INT64("ub.since_us * 1000", mtime_ns, bits),
    FROM_INT(SQL_LEASE_AVAILABLE, lease_state, lease_state),
};
#undef ROW
ROW_OF(uncommitted_row, struct share_item, uncommitted, NULL, "ub");

#define ROW struct kept_put
static const struct st_column kept_put_columns[] = {
    FROM_INT64("k.id", id, bits),
    FROM_INT64("k.share_id", share_id, bits),
    FROM_TEXT("k.path", path),
    FROM_TEXT("k.aside", aside),
    FROM_INT64("k.inode", inode, bits),
    FROM_INT64("k.mtime_ns", mtime_ns, bits),
    FROM_TEXT("k.boot", boot),
    BLOB("k.bytes", bytes, n),
    FROM_INT64("k.was_inode", was_inode, bits),
    FROM_INT64("k.was_mtime_ns", was_mtime_ns, bits),
    FROM_INT64("k.grows_from", grows_from, bits),
    FROM_BOOL("k.grows_from <> -1", grows), /* -1: the put is a whole file */
};
#undef ROW
ROW_OF(kept_put_row, struct kept_put, kept_put, NULL, "k");
