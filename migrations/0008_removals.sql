-- SPDX-License-Identifier: MIT
-- removed_after: the number of the last event before the last removal of a resource; -1: nothing was removed. A removal has
-- no event, so a stream of events that resumes from there or before begins anew.
ALTER TABLE meta ADD COLUMN removed_after INTEGER NOT NULL DEFAULT -1;
