-- SPDX-License-Identifier: MIT
-- The subscription that a deleted share belonged to, because its account may be gone and the account's name be another
-- subscription's. NULL: the share is not deleted, or was deleted before this column existed.

ALTER TABLE share ADD COLUMN subscription TEXT;
