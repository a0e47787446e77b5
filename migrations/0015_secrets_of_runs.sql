-- What a run got of secrets that it refers to, for as long as it has nodes: after a restart of the daemon it goes on
-- with the same, whatever became of them in their vault.
-- url: as the reference has it. value: sealed (storage/seal.c). Literal conditions: phase 1 = waiting, 4 = over.
CREATE TABLE run_secret (
    run_id  INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    url     TEXT    NOT NULL,
    value   BLOB    NOT NULL,
    PRIMARY KEY (run_id, attempt, url)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER run_done AFTER UPDATE OF phase ON run WHEN NEW.phase IN (1, 4) AND OLD.phase NOT IN (1, 4)
BEGIN
    DELETE FROM run_secret WHERE run_id = NEW.id;
END;
