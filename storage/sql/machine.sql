-- SPDX-License-Identifier: MIT
--
-- Machines of the inventory.

-- private st_machine_id(text name) -> i64? id
SELECT id FROM machine WHERE name = :name;

-- private st_machine_insert(text name) -> new id
INSERT INTO machine (name, drained, contact_us) VALUES (:name, 0, 0);

-- st_machine_list() -> machine*
SELECT {machine} FROM machine m ORDER BY m.id;

-- `reason` is stored only if `drained`.
-- st_machine_set_drained(i64 id, bool drained, text reason) -> changed "machine"
UPDATE machine SET drained = :drained, reason = CASE WHEN :drained THEN :reason END WHERE id = :id;

-- st_machine_set_contact(i64 id, i64 contact_us, text facts) -> changed "machine"
UPDATE machine SET contact_us = :contact_us, facts = :facts WHERE id = :id;

-- ERR_CONFLICT while a node names it.
-- st_machine_remove(i64 id) -> changed "machine"
DELETE FROM machine WHERE id = :id;
