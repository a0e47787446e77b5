-- Arrays: a resource may have many runs.

-- runs: how many its owner has. number: what its owner's user calls it; the index of an array.
-- held (0018): 4 = others of its owner go first, as so many at once are the limit.
ALTER TABLE run ADD COLUMN runs INTEGER NOT NULL DEFAULT 1;
ALTER TABLE run ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
