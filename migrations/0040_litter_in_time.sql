-- due_us: when it is to be removed; 0: at once.
ALTER TABLE batch_litter ADD COLUMN due_us INTEGER NOT NULL DEFAULT 0;
CREATE INDEX batch_litter_due ON batch_litter (due_us) WHERE due_us > 0;
