-- SPDX-License-Identifier: MIT
-- Sessions of browsers that were ended by a logout, until their cookies would have ended by themselves. id: random, as
-- in the cookie.
CREATE TABLE ended_session (
    id       TEXT    PRIMARY KEY,
    until_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ended_session_over ON ended_session (until_us);
