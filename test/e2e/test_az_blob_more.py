# SPDX-License-Identifier: MIT
"""Snapshots, batches and settings of blobs with the real az; and queues, which are not served."""

import pytest


@pytest.fixture(scope="module")
def account(az, account):
    """With the container `data`."""
    az(f"storage container create -n data --account-name {account}")
    return account


def test_snapshots_are_taken_listed_and_deleted(az, account, tmp_path):
    at = f"--account-name {account} -c data"
    (tmp_path / "f").write_text("first")
    az(f"storage blob upload {at} -f {tmp_path / 'f'} -n b --no-progress")
    taken = az(f"storage blob snapshot {at} -n b")["snapshot"]
    (tmp_path / "f").write_text("second")
    az(f"storage blob upload {at} -f {tmp_path / 'f'} -n b --overwrite --no-progress")
    az(f"storage blob download {at} -n b --snapshot {taken} -f {tmp_path / 'old'} --no-progress")
    assert (tmp_path / "old").read_text() == "first"
    assert az(f"storage blob list {at} --include s --query [].snapshot") == [taken]
    assert "snapshots" in az.fails(f"storage blob delete {at} -n b")
    az(f"storage blob delete {at} -n b --delete-snapshots include")
    assert az(f"storage blob list {at} --include s") == []


def test_many_are_deleted_at_once(az, account, tmp_path):
    (tmp_path / "in").mkdir()
    for n in range(5):
        (tmp_path / "in" / f"{n}.txt").write_text("x")
    az(f"storage blob upload-batch --account-name {account} -d data -s {tmp_path / 'in'} --no-progress")
    az(f"storage blob delete-batch --account-name {account} -s data --pattern [0-3].txt")
    assert az(f"storage blob list --account-name {account} -c data --query [].name") == ["4.txt"]


def test_settings_of_the_services(az, account):
    az(f"storage cors add --account-name {account} --services bf --methods GET PUT --origins https://a.example")
    assert {c["Service"] for c in az(f"storage cors list --account-name {account} --services bf")} == {"blob", "file"}
    az(f"storage logging update --account-name {account} --services b --log rw --retention 3")
    assert az(f"storage logging show --account-name {account} --services b")["blob"]["retentionPolicy"]["days"] == 3


def test_queues_are_refused_politely(az, account):
    assert "serves the blobs and files" in az.fails(f"storage queue list --account-name {account}")
