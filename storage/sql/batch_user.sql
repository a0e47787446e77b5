-- SPDX-License-Identifier: MIT
--
-- Who may log in on nodes of pools of Azure Batch.

-- ERR_CONFLICT if the node has one of this name.
-- st_batch_user_insert(batch_node_user u, sealed password)
INSERT INTO {+batch_node_user};

-- st_batch_user_get(i64 node_id, text name) -> batch_node_user?
SELECT {batch_node_user} FROM batch_node_user nu WHERE nu.node_id = :node_id AND nu.name = :name;

-- Replaces expiry, key and password.
-- st_batch_user_update(batch_node_user u, sealed password) -> changed "user"
UPDATE batch_node_user SET expiry_us = :u.expiry_us, ssh_key = :u.ssh_key, password = :password
WHERE id = :u.id;

-- st_batch_user_remove(i64 id) -> changed "user"
DELETE FROM batch_node_user WHERE id = :id;

-- Those of a node whose time is not up, the newest last.
-- st_batch_user_list(i64 node_id, i64 now_us) -> batch_node_user*
SELECT {batch_node_user} FROM batch_node_user nu
WHERE nu.node_id = :node_id AND nu.expiry_us > :now_us
ORDER BY nu.id;

-- st_batch_user_password(i64 id) -> sealed? password
SELECT password FROM batch_node_user WHERE id = :id;
