-- SPDX-License-Identifier: MIT
-- Sessions of browsers that were ended by a logout, until their cookies would have ended by themselves. principal: an
-- object id. id: random, as in the cookie; *: all that began until begun_us.
CREATE TABLE ended_session (
    principal TEXT    NOT NULL COLLATE NOCASE,
    id        TEXT    NOT NULL,
    begun_us  INTEGER NOT NULL,
    until_us  INTEGER NOT NULL,
    PRIMARY KEY (principal, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX ended_session_over ON ended_session (until_us);
