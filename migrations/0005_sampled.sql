-- SPDX-License-Identifier: MIT
-- What samples saw of the GPUs of an allocation that has not ended: the time in which they worked, or not, of each GPU on
-- average (microseconds). Written now and then, so that a restart of the daemon loses little.

ALTER TABLE allocation ADD COLUMN busy_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE allocation ADD COLUMN idle_us INTEGER NOT NULL DEFAULT 0;
