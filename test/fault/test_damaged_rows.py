# SPDX-License-Identifier: MIT
"""A database with numbers in it that cannot be, as a disk or a person may leave them: the daemon refuses
it, or the requests that read such a row, and says what is wrong; it never dies of it."""

import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
from support import old_state
from support.damaged import BATCH_TABLES, edit, tables, wrongs
from support.daemon import PATIENCE, Daemon
from support.vaults import Safe
from support.waiting import wait_for
from support.world import Place

FAKE_AGENT = (Path(__file__).parents[1] / "unit" / "daemon" / "fake_agent.py").read_text()
# Tables of migrations/, so that their tests run apart; those of Azure Batch: test_damaged_batch_rows.py.
TABLES = (
    "allocation", "blob_snapshot", "blob_tag", "change", "change_forgotten", "cluster", "credential",
    "dependency", "ended_session", "epoch", "event", "experiment", "file_server", "identity", "item_change", "job",
    "kept_put", "machine", "meta", "node", "operation", "pool", "resource_group", "role_assignment",
    "run", "run_secret", "secret", "secret_version", "share", "share_item", "storage_account",
    "subscription", "uncommitted_blob", "usage", "usage_day", "usage_over", "usage_subject", "vault", "workspace",
)  # fmt: skip
# An account with a share, and one with a container that is deleted.
STORAGE = """
INSERT INTO storage_account (id, group_id, name, location, sku, kind, doc, prov_state, created_us, updated_us,
                             key1_us, key2_us, implicit, keys)
    SELECT 101, min(id), 'other', 'eastus', 'Standard_LRS', 'StorageV2', '{}', 3, 1, 1, 1, 1, 0, x'00' FROM resource_group;
INSERT INTO share VALUES (101, 101, 'other', 's', 1, 2, 5120, NULL, NULL, 1, NULL, 1, NULL, 0, 0, 1, 1, 1, 0, NULL);
INSERT INTO share VALUES (102, NULL, 'other', 'c', 2, 4, 0, NULL, NULL, 1, NULL, 1, NULL, 0, 0, 1, 1, 1, 1, 'sub');
"""
ITEMS = """
INSERT INTO share_item VALUES (1, 1, 'a', NULL, 0, 0, 0, 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, 1, NULL, 0, 0, 1);
INSERT INTO blob_tag VALUES (1, 'k', 1, 'v', 'a');
INSERT INTO kept_put VALUES (1, 1, 'a', NULL, 0, 0, 0, 0, -1, 'another', x'61');
INSERT INTO item_change VALUES (2, 1, 'a', 1, NULL, 0, 0, 1, 0, 0, 0, 1, NULL, 0, 0, 0, 0, 1, NULL, NULL, NULL, NULL, NULL, NULL,
    1, NULL, 0, 0, 1);
INSERT INTO uncommitted_blob VALUES (1, 1, 'b', 1);
INSERT INTO blob_snapshot VALUES (1, 1, 'a', 1, '.aside/1/0', 1, 0, 0, 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, 1);
"""
# A vault with a secret, and one that is soft-deleted.
VAULTS = """
INSERT INTO vault SELECT 1, min(id), subscription, name, 'kv1', 'eastus', 604800000000, 1, 1, 0, 0, NULL, NULL,
    '{"properties": {"enableRbacAuthorization": true}}' FROM resource_group;
INSERT INTO vault SELECT 2, NULL, subscription, 'gone', 'kv2', 'eastus', 604800000000, 1, 1, 1, 1 << 52, NULL, NULL, '{}'
    FROM resource_group LIMIT 1;
INSERT INTO secret VALUES (1, 1, 's', 0, 0);
INSERT INTO secret_version VALUES (1, 1, '00112233445566778899aabbccddeeff', x'00', 1, 1, 1, NULL, NULL, 1, 1);
INSERT INTO run_secret SELECT min(id), 1, 'https://kv1.vault.azure.net/secrets/s', x'00' FROM run;
"""
# What a daemon with --testing has written.
CHANGES = """
INSERT INTO change VALUES (1, 1, 1, 1, '/subscriptions/s/resourceGroups/g', 1, 0, 3, NULL);
INSERT INTO change_forgotten VALUES (1, '/subscriptions/s', 0);
"""
# A job that ran for two days.
USED = """
INSERT INTO usage_subject SELECT 1, 'a', subscription, name, 'w', 'e', 'p', 'STANDARD_D1', 'V100' FROM resource_group LIMIT 1;
INSERT INTO usage SELECT 1, 1, 999999, 1, 0, 6, min(id), 0, 'used', 'n', 1, 100000000, 1000, 1, 4, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 'm' FROM job;
INSERT INTO usage_over VALUES (0, 1);
INSERT INTO usage_day VALUES (0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
INSERT INTO usage_day VALUES (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
"""
# The last job waits for the first.
WAITING = """
INSERT INTO dependency SELECT 6, max(id), 6, min(id), 'first', 3, 1, 0 FROM job;
UPDATE run SET held = 2 WHERE owner_kind = 6 AND owner_id = (SELECT max(id) FROM job);
"""
# A user with a password and a role, and a subscription of a team.
PEOPLE = """
INSERT INTO subscription VALUES (1, '00000000-0000-0000-0000-000000000006', 'team', 1, 'x');
INSERT INTO identity SELECT 7, '00000000-0000-0000-0000-000000000007', NULL, 1, 'ada@lab', 'Ada', 1, NULL;
INSERT INTO ended_session VALUES ('00000000-0000-0000-0000-000000000007', '00112233445566778899aabbccddeeff', 1, 1);
INSERT INTO credential VALUES (1, 7, '00000000-0000-0000-0000-000000000008', NULL, 'x', NULL, 1, 1);
INSERT INTO role_assignment SELECT 1, '00000000-0000-0000-0000-000000000009',
    '/subscriptions/' || (SELECT subscription FROM resource_group LIMIT 1),
    'acdd72a7-3385-48ef-bd42-f606fba81ae7', '00000000-0000-0000-0000-000000000007', 1, NULL, NULL;
"""


@pytest.fixture(scope="module")
def stopped():
    """A daemon that was stopped, with rows in every table; d.kept is a copy of its database, d.paths are
    (api-version, path) of most that can be asked for. Agents of local nodes never answer."""
    d = Daemon(old_state.CONFIG)
    d.expect_log("")
    old_state.mute_agents(d)
    name = max(p.name for p in old_state.FIXTURES.iterdir() if (p / "state.sql").exists())
    d.paths = [key.split(" ", 1) for key in old_state.restore(name, d.state_dir) if " " in key]
    d.tool("keygen")
    d.start()
    place = Place(d, "new", "ws").make()  # of what old schemas did not have
    place.job(place.cluster(1, "c", steady=False), "true")
    assert d.stop() == 0
    with sqlite3.connect(d.state_dir / "batchaid.db") as db:
        db.executescript(STORAGE + ITEMS + VAULTS + WAITING + PEOPLE + CHANGES + USED)
    db.close()
    d.kept = d.dir / "kept.db"
    shutil.copy(d.state_dir / "batchaid.db", d.kept)
    yield d
    assert d.close() == []


def ask_everything(d):
    for version, path in d.paths:
        d.call("GET", path, api_version=version, validate=False)
    usage = ("/batchaid/usage", "/batchaid/usage?from=1970-01-01T00:00:01Z", "/batchaid/usage?by=gpu&to=1970-01-02T00:00:01Z")
    for path in ("/batchaid/nodes", "/batchaid/events", "/batchaid/subscriptions", *usage):
        d.call("GET", path, api_version=None, validate=False)
    vaults = f"/subscriptions/{d.subscription}/providers/Microsoft.KeyVault"
    for path in ("vaults", "deletedVaults"):
        d.call("GET", f"{vaults}/{path}", api_version="2022-07-01", validate=False)
    safe = Safe(d, "kv1")
    for path in ("/secrets", "/secrets/s", "/secrets/s/versions", "/deletedsecrets"):
        safe.call("GET", path, judged=False)


def test_every_table_is_edited(stopped):
    assert tables(stopped.kept) == {*TABLES, *BATCH_TABLES}


@pytest.mark.parametrize("table", TABLES)
def test_no_number_in_a_row_ends_the_daemon(stopped, table):
    assert wrongs(stopped, table, ask_everything) == []


def test_a_refusal_names_the_row_the_column_and_the_number(stopped):
    edit(stopped, "node", "slots", -1)
    with sqlite3.connect(stopped.kept) as db:
        (first,) = db.execute("SELECT min(id) FROM node").fetchone()
    done = subprocess.run(stopped.command(), capture_output=True, text=True, timeout=30 * PATIENCE, check=False)
    assert done.returncode > 0 and done.stdout == ""
    assert f"node.slots has the invalid value -1 in the row of node {first}" in done.stderr


def test_a_request_that_reads_such_a_row_fails_and_others_do_not(stopped):
    edit(stopped, "job", "exec_state", 99)
    place = Place(stopped, "new", "ws")
    stopped.start()
    assert place.daemon.call("GET", f"{place.experiment_path()}/jobs", validate=False).status == 500
    assert stopped.get(f"{place.path}/clusters")["value"][0]["name"] == "c"
    assert any("db.bad_value table=job column=exec_state value=99" in line for line in stopped.log())
    assert stopped.stop() == 0


def test_what_a_node_says_of_itself_does_not_damage_its_row(own_daemon):
    """It may say anything, and the daemon starts again with what it wrote down of it."""
    d = own_daemon(start=False)
    d.expect_log("node|cluster")  # the stand-in knows two requests
    says = {"node": {"cpus": -5, "memory_bytes": 1 << 62}}
    agent = d.dir / "agent"
    agent.write_text(f"{FAKE_AGENT}\nSAYS = {says!r}\nmain()\n")
    agent.chmod(0o755)
    d.environment["BATCHAI_NODE"] = str(agent)
    d.start()
    Place(d).make().cluster(1, steady=False)

    def written():
        return d.rows("SELECT cores, memory FROM node") == [(0, 1 << 50)]

    wait_for(written, 20, "what it has to be in its row")
    d.restart()
    assert d.get("/batchaid/nodes", api_version=None)["value"]
