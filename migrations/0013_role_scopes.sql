-- SPDX-License-Identifier: MIT
-- The role assignments at a scope and below it, which end when the scope is removed.

CREATE INDEX role_assignment_scope ON role_assignment (scope);
