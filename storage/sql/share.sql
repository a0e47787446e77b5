-- SPDX-License-Identifier: MIT
--
-- Shares and containers.

-- $share_select
SELECT {share} FROM share h;

-- ERR_CONFLICT if there is one of this name, or its folder is still being moved away.
-- st_share_insert(share s) -> new id
INSERT INTO {+share};

-- Also one that is being made or moved away: look at its state. Never a deleted one. Names of shares are
-- compared byte by byte.
-- st_share_by_name(i64 account_id, share_kind kind, text name) -> known share?
$share_select WHERE h.account_id = :account_id AND h.kind = :kind AND h.name = :name;

-- st_share_by_id(i64 id) -> share?
$share_select WHERE h.id = :id;

-- Those that are there, in the order of the bytes of their names, from the name after `after` on (""; the
-- first), with names that begin with `prefix`.
-- st_share_list(i64 account_id, share_kind kind, text prefix, st_names page) -> share*
$share_select
WHERE h.account_id = :account_id AND h.kind = :kind AND h.name > :page.after AND h.name >= :prefix
AND h.name < :prefix || char(1114111) AND h.state = {SHARE_THERE}
ORDER BY h.name LIMIT :page.limit;

-- private st_share_write(share s, i64 was)
UPDATE share
SET quota = :s.quota, metadata = :s.metadata, acl = :s.acl, public_access = :s.public_access,
access_tier = :s.access_tier, lease_state = :s.lease_state, lease_id = :s.lease_id,
lease_duration_s = :s.lease_duration_s, lease_until_us = :s.lease_until_us, etag = :s.etag,
updated_us = :s.updated_us
WHERE id = :s.id AND state = {SHARE_THERE} AND (:was = 0 OR etag = :was);

-- private st_share_move_row(st_share_move m) -> moved "share" share_state by st_share_state
UPDATE share
SET state = :m.to, account_id = CASE WHEN :m.to <> {SHARE_DELETED} THEN nullif(:m.account_id, 0) END,
deleted_us = :m.deleted_us,
subscription = CASE WHEN :m.to = {SHARE_DELETED} THEN (SELECT g.subscription FROM storage_account s
JOIN resource_group g ON g.id = s.group_id WHERE s.id = share.account_id) END
WHERE id = :m.id AND state = :m.from;

-- private st_share_state(i64 id) -> state
SELECT state FROM share WHERE id = :id;

-- All that an account has, in whatever state.
-- st_share_ids_of(i64 account_id) -> i64*
SELECT id FROM share WHERE account_id = :account_id ORDER BY id;

-- Those whose folder is still to be made or moved away.
-- st_share_unsettled_ids() -> i64*
SELECT id FROM share h WHERE h.state IN ({SHARE_MAKING}, {SHARE_DELETING}) ORDER BY id;

-- Those that were deleted before an instant, by id.
-- st_share_deleted(i64 before_us, st_page page) -> share*
$share_select
WHERE h.state = {SHARE_DELETED} AND (h.deleted_us < :before_us OR instr(h.account, '#') > 0)
AND h.id > :page.after
ORDER BY h.id LIMIT :page.limit;

-- private st_share_empty_items(i64 id, int limit) -> count gone
DELETE FROM share_item WHERE id IN (SELECT id FROM share_item WHERE share_id = :id LIMIT :limit);

-- private st_share_empty_snapshots(i64 id, int limit) -> count gone
DELETE FROM blob_snapshot WHERE id IN (SELECT id FROM blob_snapshot WHERE share_id = :id LIMIT :limit);

-- With all that is known of things in it: empty it first, as there can be millions.
-- st_share_remove(i64 id) -> changed "share"
DELETE FROM share WHERE id = :id;
