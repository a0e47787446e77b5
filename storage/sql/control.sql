-- SPDX-License-Identifier: MIT
--
-- Transactions. These statements come first in the enum; storage/sql.c prepares them at the start and runs them.

-- private st_begin() -> control
BEGIN IMMEDIATE;

-- private st_begin_read() -> control
BEGIN;

-- private st_commit() -> control
COMMIT;

-- private st_rollback() -> control
ROLLBACK;

-- private st_savepoint() -> control
SAVEPOINT part;

-- private st_rollback_part() -> control
ROLLBACK TO part;

-- private st_release() -> control
RELEASE part;
