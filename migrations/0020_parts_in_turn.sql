-- Automatic scaling asks how many nodes those need that want parts of nodes: they are found without reading all
-- that wait.
CREATE INDEX run_parts ON run (pool_id, priority DESC, id, nodes)
    WHERE phase = 1 AND stop = 0 AND held = 1 AND need_whole = 0;
