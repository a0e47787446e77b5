-- SPDX-License-Identifier: MIT
-- Lists of the jobs of all groups: those in one state, those of one maker, in the order of their ids.

CREATE INDEX job_state ON job (exec_state);
CREATE INDEX job_maker ON job (created_by);
