# SPDX-License-Identifier: MIT
"""Each table of the database is one whose rows a dump tells, or is named here with why it does not."""

TOLD = {
    "batch_account", "batch_application", "batch_certificate", "batch_job", "batch_package", "batch_pool",
    "batch_schedule", "batch_seeded_file", "batch_task", "batch_wait", "cluster", "experiment", "file_server", "job",
    "pool",
    "resource_group", "role_assignment", "secret", "secret_version", "share", "share_item", "storage_account",
    "subscription", "vault", "workspace",
}  # fmt: skip
MADE_AGAIN = {
    "allocation", "blob_tag", "batch_chore", "batch_count", "batch_done", "batch_node_total", "batch_sample", "batch_subtask",
    "dependency", "node", "node_bar", "node_setup", "run", "run_secret",
}  # fmt: skip
HISTORY = {"change", "change_forgotten", "event", "operation", "usage", "usage_day", "usage_over", "usage_subject"}
OF_THE_DAEMON = {"credential", "ended_session", "epoch", "identity", "machine", "meta"}
NOT_IN_IT = {"batch_node_user", "blob_snapshot", "uncommitted_blob"}  # as docs/testing.md says
ON_THEIR_WAY = {"batch_litter", "batch_user_gone", "item_change", "kept_put"}


def test_each_table_is_told_or_named_here(daemon):
    found = {name for (name,) in daemon.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")}
    assert found == TOLD | MADE_AGAIN | HISTORY | OF_THE_DAEMON | NOT_IN_IT | ON_THEIR_WAY
