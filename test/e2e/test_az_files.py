# SPDX-License-Identifier: MIT
"""Azure Files with the real az: each command of `az storage share|directory|file` that batchaid serves."""

import os

import pytest

BIG = os.urandom(5 << 20)


class Files:
    """Commands on one share, with the account's key, so that az asks for nothing else."""

    def __init__(self, az, account, key):
        self.run = az
        self.account = f"--account-name {account} --account-key {key}"

    def __call__(self, command):
        return self.run(f"storage {command} {self.account}")


@pytest.fixture(scope="module")
def files(az, account):
    key = az(f'storage account keys list -n {account} -g group-{account} --query "[0].value"')
    f = Files(az, account, key)
    f("share create -n shr --quota 5 --metadata k=v")
    yield f
    f("share delete -n shr")
    assert not f("share exists -n shr")["exists"]


@pytest.fixture
def folder(daemon, account):
    return daemon.state_dir / "storage" / account / "files" / "shr"


def test_a_share_is_shown_and_changed(files):
    assert [s["name"] for s in files("share list --prefix s --num-results 2")] == ["shr"]
    assert files("share list --include-metadata --include-snapshots")[0]["metadata"] == {"k": "v"}
    assert not files("share exists -n nosuch")["exists"]
    files("share update -n shr --quota 10")
    assert files("share show -n shr")["properties"]["quota"] == 10
    files("share metadata update -n shr --metadata x=1")
    assert files("share metadata show -n shr") == {"x": "1"}
    assert int(files("share stats -n shr")) >= 0
    files("share policy create -s shr -n pol --permissions r --expiry 2037-01-01T00:00Z")
    assert list(files("share policy list -s shr")) == ["pol"]
    assert files("share list-handle -n shr --recursive")["items"] == []
    files("share close-handle -n shr --close-all")


def test_directories(files, folder):
    assert files("directory create -s shr -n d1")["created"]
    assert not files("directory create -s shr -n d1")["created"]
    assert files("directory exists -s shr -n d1")["exists"]
    assert not files("directory exists -s shr -n nope")["exists"]
    files("directory metadata update -s shr -n d1 --metadata a=b")
    assert files("directory show -s shr -n d1")["metadata"] == {"a": "b"}
    assert "d1" in [d["name"] for d in files("directory list -s shr")]
    files("directory delete -s shr -n d1")
    assert not (folder / "d1").exists()


def test_files_up_and_down(files, folder, tmp_path):
    big, empty, odd = tmp_path / "big.bin", tmp_path / "empty.bin", tmp_path / "a.txt"
    big.write_bytes(BIG)
    empty.write_bytes(b"")
    odd.write_bytes(b"odd")
    files("directory create -s shr -n d2")
    files(f"file upload -s shr --source {big} -p d2/big.bin")
    files(f"file upload -s shr --source {empty}")
    files(
        f"file upload -s shr --source {odd} -p 'd2/we ird+ü%.txt' --metadata m=1 --content-type text/x --validate-content"
    )
    assert (folder / "d2" / "we ird+ü%.txt").read_bytes() == b"odd"
    assert files("file exists -s shr -p d2/big.bin")["exists"]
    assert not files("file exists -s shr -p d2/no")["exists"]
    shown = files("file show -s shr -p 'd2/we ird+ü%.txt'")
    assert shown["metadata"] == {"m": "1"} and shown["properties"]["contentSettings"]["contentType"] == "text/x"
    assert [f["name"] for f in files("file list -s shr -p d2")] == ["big.bin", "we ird+ü%.txt"]
    assert [f["name"] for f in files("file list -s shr --exclude-dir --exclude-extended-info")] == ["empty.bin"]
    for name, options, want in (
        ("d2/big.bin", "", BIG),
        ("empty.bin", "", b""),
        ("d2/big.bin", "--start-range 10 --end-range 20", BIG[10:21]),
    ):
        files(f"file download -s shr -p {name} --dest {tmp_path}/back {options}")
        assert (tmp_path / "back").read_bytes() == want


def test_files_are_changed(files, folder, tmp_path):
    (tmp_path / "f.bin").write_bytes(b"0123456789")
    files(f"file upload -s shr --source {tmp_path}/f.bin -p f.bin")
    files("file resize -s shr -p f.bin --size 4")
    assert (folder / "f.bin").read_bytes() == b"0123"
    files("file update -s shr -p f.bin --content-type a/b")
    files("file metadata update -s shr -p f.bin --metadata z=1")
    assert files("file metadata show -s shr -p f.bin") == {"z": "1"}
    assert files("file show -s shr -p f.bin")["properties"]["contentSettings"]["contentType"] == "a/b"
    url, sas = files("file url -s shr -p f.bin"), files("file generate-sas -s shr -p f.bin --permissions r --expiry 2037-01-01T00:00Z")
    assert url.endswith("/shr/f.bin") and "sig=" in sas
    files("file copy start --source-share shr --source-path f.bin --destination-share shr --destination-path c.bin")
    assert (folder / "c.bin").read_bytes() == b"0123"
    files("file delete -s shr -p f.bin")
    assert not (folder / "f.bin").exists()


def test_trees_go_up_down_and_away(files, folder, tmp_path):
    up = tmp_path / "up"
    (up / "in" / "deep").mkdir(parents=True)
    (up / "one.txt").write_bytes(b"one")
    (up / "in" / "deep" / "two.txt").write_bytes(b"two")
    files("directory create -s shr -n dest")  # az makes those below it
    files(f"file upload-batch -d shr/dest -s {up}")
    assert (folder / "dest" / "in" / "deep" / "two.txt").read_bytes() == b"two"
    (tmp_path / "down").mkdir()
    files(f"file download-batch -d {tmp_path}/down -s shr --pattern 'dest/*'")
    assert (tmp_path / "down" / "dest" / "in" / "deep" / "two.txt").read_bytes() == b"two"
    files("directory create -s shr -n cp")
    files("file copy start-batch --source-share shr --destination-share shr --destination-path cp --pattern 'dest/*'")
    assert (folder / "cp" / "dest" / "one.txt").read_bytes() == b"one"
    files("file delete-batch -s shr --pattern 'dest/*'")
    assert not list((folder / "dest").rglob("*.txt"))
