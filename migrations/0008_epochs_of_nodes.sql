-- What runs on a node for the node itself (its set-up task) is named after the decision that it is for.
-- epoch: of the daemon that decided on the node's state, as TERM.RANDOM; '': before that was kept.
ALTER TABLE node ADD COLUMN epoch TEXT NOT NULL DEFAULT '';
