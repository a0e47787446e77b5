-- Runs that take nothing of their node, nodes that are barred to some runs, and nodes that a run would rather have.

-- aside: how many runs hold a part of it that has no slots.
ALTER TABLE node ADD COLUMN aside INTEGER NOT NULL DEFAULT 0;
-- group_id: of runs that belong together, as their front says; null: it belongs to none. near_id: the node that it would
-- rather have.
ALTER TABLE run ADD COLUMN group_id INTEGER;
ALTER TABLE run ADD COLUMN near_id INTEGER;
-- own_class: it gets no node of low priority.
ALTER TABLE run ADD COLUMN own_class INTEGER NOT NULL DEFAULT 0;
CREATE TABLE node_bar (
    group_id INTEGER NOT NULL,
    node_id  INTEGER NOT NULL REFERENCES node (id) ON DELETE CASCADE,
    PRIMARY KEY (group_id, node_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX node_bar_node ON node_bar (node_id);
-- 6: it is being wiped.
CREATE TRIGGER node_bar_wiped AFTER UPDATE OF wish ON node WHEN NEW.wish = 6
BEGIN
    DELETE FROM node_bar WHERE node_id = NEW.id;
END;
