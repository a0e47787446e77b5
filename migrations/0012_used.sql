-- SPDX-License-Identifier: MIT
-- What the processes of an allocation used, written with the end of their run, because the node forgets them before the
-- allocation ends. measured 0: nothing is known.

ALTER TABLE allocation ADD COLUMN measured INTEGER NOT NULL DEFAULT 0;
ALTER TABLE allocation ADD COLUMN user_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE allocation ADD COLUMN kernel_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE allocation ADD COLUMN memory_peak INTEGER NOT NULL DEFAULT 0;
ALTER TABLE allocation ADD COLUMN memory_used INTEGER NOT NULL DEFAULT 0;
ALTER TABLE allocation ADD COLUMN read_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE allocation ADD COLUMN write_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE allocation ADD COLUMN read_ops INTEGER NOT NULL DEFAULT 0;
ALTER TABLE allocation ADD COLUMN write_ops INTEGER NOT NULL DEFAULT 0;
