-- SPDX-License-Identifier: MIT
--
-- Who may log in on nodes of pools of Azure Batch. What a node does not have yet is in rows until it has it.

-- ERR_CONFLICT if the node has one of this name.
-- st_batch_user_insert(batch_node_user u, sealed password)
INSERT INTO {+batch_node_user};

-- st_batch_user_get(i64 node_id, text name) -> batch_node_user?
SELECT {batch_node_user} FROM batch_node_user nu WHERE nu.node_id = :node_id AND nu.name = :name;

-- Replaces expiry, key and password.
-- st_batch_user_update(batch_node_user u, sealed password) -> changed "user"
UPDATE batch_node_user
SET expiry_us = :u.expiry_us, ssh_key = :u.ssh_key, password = :password, pending = pending + 1
WHERE id = :u.id;

-- st_batch_user_remove(i64 id) -> changed "user"
DELETE FROM batch_node_user WHERE id = :id;

-- The node must remove the account of a user who is about to be removed.
-- st_batch_user_goes(i64 id)
INSERT INTO batch_user_gone (node_id, name) SELECT node_id, name FROM batch_node_user WHERE id = :id;

-- The node has removed the account.
-- st_batch_user_is_gone(i64 id)
DELETE FROM batch_user_gone WHERE id = :id;

-- The node has the account, unless the user was changed meanwhile.
-- st_batch_user_is_made(batch_node_user u)
UPDATE batch_node_user SET pending = 0 WHERE id = :u.id AND pending = :u.pending;

-- The nodes that must remove or make accounts.
-- st_batch_user_nodes() -> i64*
SELECT node_id FROM batch_user_gone UNION SELECT node_id FROM batch_node_user WHERE pending > 0;

-- st_batch_user_to_remove(i64 node_id) -> batch_user_gone*
SELECT {batch_user_gone} FROM batch_user_gone ug WHERE ug.node_id = :node_id ORDER BY ug.id;

-- An account is made after the removal of an earlier account of this name.
-- st_batch_user_to_make(i64 node_id) -> batch_node_user*
SELECT {batch_node_user} FROM batch_node_user nu
WHERE nu.node_id = :node_id AND nu.pending > 0
AND NOT EXISTS (SELECT 1 FROM batch_user_gone ug WHERE ug.node_id = nu.node_id AND ug.name = nu.name)
ORDER BY nu.id;

-- Those whose time is up.
-- st_batch_user_expired(i64 now_us, int limit) -> batch_node_user*
SELECT {batch_node_user} FROM batch_node_user nu WHERE nu.expiry_us <= :now_us
ORDER BY nu.expiry_us LIMIT :limit;

-- When the time of the next is up; *at_us stays if there is none.
-- st_batch_user_next(i64 now_us) -> i64 at_us
SELECT expiry_us FROM batch_node_user WHERE expiry_us > :now_us ORDER BY expiry_us LIMIT 1;

-- Those of a node whose time is not up, the newest last.
-- st_batch_user_list(i64 node_id, i64 now_us) -> batch_node_user*
SELECT {batch_node_user} FROM batch_node_user nu
WHERE nu.node_id = :node_id AND nu.expiry_us > :now_us
ORDER BY nu.id;

-- st_batch_user_password(i64 id) -> sealed? password
SELECT password FROM batch_node_user WHERE id = :id;
