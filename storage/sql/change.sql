-- SPDX-License-Identifier: MIT
--
-- What becomes of resources (storage/changes.h). Triggers, which storage/changes.c makes, write the rows.

-- Whether a row of changes is forgotten.
-- $is_forgotten(row)
EXISTS (SELECT 1 FROM change_forgotten f WHERE $row.seq <= f.up_to AND $at_or_below($row.path, f.path));

-- Those with numbers above `after`, at most `limit`.
-- st_changes_since(st_page page) -> change*
SELECT {change} FROM change h WHERE h.seq > :page.after AND NOT $is_forgotten(h) ORDER BY h.seq LIMIT :page.limit;

-- private st_changes_forget_at(text path)
INSERT INTO change_forgotten (path, up_to)
SELECT :path, seq FROM change WHERE seq = (SELECT max(seq) FROM change)
ON CONFLICT (path) DO UPDATE SET up_to = excluded.up_to;

-- private st_changes_forget_all()
DELETE FROM change;

-- private st_changes_any_forgotten() -> bool any
SELECT EXISTS (SELECT 1 FROM change_forgotten);

-- Removes rows of those that are forgotten.
-- private st_changes_sweep_some(int limit) -> count gone
DELETE FROM change WHERE seq IN (SELECT c.seq FROM change_forgotten f
CROSS JOIN change c ON $at_or_below(c.path, f.path) AND c.seq <= f.up_to LIMIT :limit);

-- All rows that are forgotten are removed.
-- private st_changes_swept()
DELETE FROM change_forgotten;
