# SPDX-License-Identifier: MIT
"""The storage commands of the recipes with the real az, as they stand there: an account, a share with a directory and a
file, a container with blobs; what a job would see is in the folders."""

import pytest

TWO_KINDS = (("small.txt", b"small"), ("large.bin", bytes(range(256)) * 300_000))


@pytest.fixture
def folder(daemon, account):
    return daemon.state_dir / "storage" / account


def test_a_share_a_directory_and_a_file(az, account, folder, tmp_path):
    key = az(f'storage account keys list -n {account} -g group-{account} --query "[0].value"')
    az(f"storage share create -n scripts --account-name {account}")
    az(f"storage directory create -n chainer -s scripts --account-name {account}")
    script, back = tmp_path / "train.py", tmp_path / "back.py"
    script.write_text("print('hello')\n")
    az(f"storage file upload -s scripts --source {script} --path chainer --account-name {account}")
    assert (folder / "files" / "scripts" / "chainer" / "train.py").read_text() == "print('hello')\n"
    az(f"storage file download -s scripts -p chainer/train.py --dest {back} --account-name {account} --account-key {key}")
    assert back.read_bytes() == script.read_bytes()


def test_a_container_and_blobs(az, account, folder, tmp_path):
    at = f"--account-name {account} -c data"
    az(f"storage container create -n data --account-name {account}")
    for name, body in TWO_KINDS:
        (tmp_path / name).write_bytes(body)
        az(f"storage blob upload {at} -f {tmp_path / name} -n in/{name} --no-progress")
        assert (folder / "blobs" / "data" / "in" / name).read_bytes() == body
    assert az(f"storage blob list {at} --query [].name") == ["in/large.bin", "in/small.txt"]
    az(f"storage blob download {at} -n in/large.bin -f {tmp_path / 'back'} --no-progress")
    assert (tmp_path / "back").read_bytes() == (tmp_path / "large.bin").read_bytes()
    assert az(f"storage blob exists {at} -n in/small.txt")["exists"]
    az(f"storage blob delete {at} -n in/small.txt")
    assert not az(f"storage blob exists {at} -n in/small.txt")["exists"]
    az(f"storage container delete -n data --account-name {account}")


def test_a_login_is_enough_for_blobs(az, account):
    az(f"storage container create -n login --account-name {account} --auth-mode login")
    assert "login" in az(f"storage container list --account-name {account} --auth-mode login --query [].name")
