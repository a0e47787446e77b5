-- SPDX-License-Identifier: MIT
-- Role assignments have a description, which their maker may change.

ALTER TABLE role_assignment ADD COLUMN description TEXT;
