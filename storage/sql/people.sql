-- SPDX-License-Identifier: MIT
--
-- Users, service principals and applications, what they log in with, their roles, and sessions that they ended; and
-- subscriptions.

-- $assignment_select
SELECT {role_assignment} FROM role_assignment ra;

-- ERR_CONFLICT if a user's name is taken, or an application's id within its kind.
-- st_identity_insert(identity i) -> new id
INSERT INTO {+identity};

-- st_identity_get(text object_id) -> identity?
SELECT {identity} FROM identity i WHERE i.object_id = :object_id;

-- st_identity_by_app(identity_kind kind, text app_id) -> identity?
SELECT {identity} FROM identity i WHERE i.kind = :kind AND i.app_id = :app_id;

-- st_identity_user(text name) -> identity?
SELECT {identity} FROM identity i WHERE i.kind = {IDENTITY_USER} AND i.name = :name;

-- st_identity_list(identity_kind kind, st_page page) -> identity*
SELECT {identity} FROM identity i WHERE i.kind = :kind AND i.id > :page.after ORDER BY i.id LIMIT :page.limit;

-- st_identity_count(identity_kind kind) -> i64 n
SELECT count(*) FROM identity WHERE kind = :kind;

-- private st_role_assignment_remove_of(text principal)
DELETE FROM role_assignment WHERE principal = :principal;

-- private st_identity_remove_row(i64 id) -> changed "identity"
DELETE FROM identity WHERE id = :id;

-- private st_credential_exists() -> bool any
SELECT EXISTS (SELECT 1 FROM credential);

-- st_credential_insert(credential c)
INSERT INTO {+credential};

-- st_credential_list(i64 identity_id) -> credential*
SELECT {credential} FROM credential y WHERE y.identity_id = :identity_id;

-- Those of an application and of its service principal.
-- st_credential_of_app(text app_id) -> credential*
SELECT {credential} FROM identity i CROSS JOIN credential y ON y.identity_id = i.id
WHERE i.kind IN ({IDENTITY_SERVICE}, {IDENTITY_APPLICATION}) AND i.app_id = :app_id;

-- key_id NULL: all. *gone is how many.
-- st_credential_remove(i64 identity_id, text key_id) -> count gone
DELETE FROM credential WHERE identity_id = :identity_id AND (:key_id IS NULL OR key_id = :key_id);

-- ERR_CONFLICT if there is one with this GUID, or the principal has this role at this scope.
-- st_role_assignment_insert(role_assignment x)
INSERT INTO {+role_assignment};

-- st_role_assignment_get(text guid) -> role_assignment?
$assignment_select WHERE ra.guid = :guid;

-- st_role_assignment_of(text principal) -> role_assignment*
$assignment_select WHERE ra.principal = :principal ORDER BY ra.id;

-- st_role_assignment_list(st_page page) -> role_assignment*
$assignment_select WHERE ra.id > :page.after ORDER BY ra.id LIMIT :page.limit;

-- Whether there is one at a scope or below it.
-- st_role_assignment_any_in(text scope) -> bool any
SELECT EXISTS (SELECT 1 FROM role_assignment ra WHERE $at_or_below(ra.scope, :scope));

-- description NULL: none.
-- st_role_assignment_describe(i64 id, text description) -> changed "role assignment"
UPDATE role_assignment SET description = :description WHERE id = :id;

-- st_role_assignment_remove(i64 id) -> changed "role assignment"
DELETE FROM role_assignment WHERE id = :id;

-- ERR_CONFLICT if there is one with this GUID.
-- st_subscription_insert(subscription x) -> new id
INSERT INTO {+subscription};

-- st_subscription_get(text guid) -> subscription?
SELECT {subscription} FROM subscription u WHERE u.guid = :guid;

-- All, the oldest first.
-- st_subscription_list() -> subscription*
SELECT {subscription} FROM subscription u ORDER BY u.id;

-- private st_subscription_remove_row(i64 id) -> changed "subscription"
DELETE FROM subscription WHERE id = :id;

-- st_subscription_name(i64 id, text name) -> changed "subscription"
UPDATE subscription SET name = :name WHERE id = :id;

-- Again: until later.
-- private st_session_insert(text principal, text id, i64 begun_us, i64 until_us)
INSERT OR REPLACE INTO ended_session (principal, id, begun_us, until_us) VALUES (:principal, :id, :begun_us, :until_us);

-- private st_session_count(text principal) -> i64 n
SELECT count(*) FROM ended_session WHERE principal = :principal;

-- private st_session_remove_of(text principal)
DELETE FROM ended_session WHERE principal = :principal;

-- Some of those whose cookies have ended by themselves.
-- private st_session_forget(i64 now_us)
DELETE FROM ended_session WHERE (principal, id) IN
(SELECT principal, id FROM ended_session WHERE until_us <= :now_us ORDER BY until_us LIMIT 100);

-- Those of '*' are everybody's (st_sql_end_sessions()).
-- st_session_ended(text principal, text id, i64 begun_us) -> bool any
SELECT EXISTS (SELECT 1 FROM ended_session WHERE principal = :principal AND id = :id)
    OR EXISTS (SELECT 1 FROM ended_session WHERE principal IN (:principal, '*') AND id = '*' AND begun_us >= :begun_us);
