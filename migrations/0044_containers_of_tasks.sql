-- The container of what runs in one: its id, once it has started, or the runtime's words if it could not be started.
ALTER TABLE batch_task ADD COLUMN container_id TEXT;
ALTER TABLE batch_task ADD COLUMN container_error TEXT;
ALTER TABLE batch_subtask ADD COLUMN container_id TEXT;
ALTER TABLE batch_subtask ADD COLUMN container_error TEXT;
ALTER TABLE batch_chore ADD COLUMN container_id TEXT;
ALTER TABLE batch_chore ADD COLUMN container_error TEXT;
ALTER TABLE node_setup ADD COLUMN container_id TEXT;
ALTER TABLE node_setup ADD COLUMN container_error TEXT;
