-- Runs that want parts of nodes are looked at once each, in the order in which they came, to tell of those that no
-- node of their pool could hold.
CREATE INDEX run_parts_age ON run (pool_id, id) WHERE phase = 1 AND stop = 0 AND held = 1 AND need_whole = 0;
