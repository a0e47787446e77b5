-- SPDX-License-Identifier: MIT
-- The subscription that a deleted share belonged to, because its account may be gone and the account's name be another
-- subscription's. NULL: the share is not deleted, or was deleted before this column existed.

ALTER TABLE share ADD COLUMN subscription TEXT;

-- Nobody logs in as Azure Batch AI.
DELETE FROM credential
WHERE identity_id IN (SELECT id FROM identity WHERE object_id = '9fcb3732-5f52-4135-8c08-9d4bbaf203ea');
