# SPDX-License-Identifier: MIT
"""`batchaid az-login` with the real az."""
import json
import subprocess
from pathlib import Path

import pytest
from support.daemon import BATCHAID, SANITIZER


def command_lines():
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield path.read_bytes()
        except OSError:  # it has ended
            pass


@pytest.mark.parametrize("state", ["state", "st ate=@'x"])
def test_the_secret_is_on_no_command_line(serve, clean_env, tmp_path, state):
    serve("--state-dir", tmp_path / state)
    secret = json.loads((tmp_path / state / "credentials.json").read_text())["client_secret"]
    logins = 0
    with open(tmp_path / "out", "w+") as out:
        login = subprocess.Popen([BATCHAID, "az-login", "--state-dir", state], cwd=tmp_path,
                                 env=clean_env, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        while login.poll() is None:
            for line in command_lines():
                logins += b"--service-principal" in line
                assert secret.encode() not in line, line
        out.seek(0)
        said = out.read()
    assert login.returncode == 0 and "logged az in" in said, said
    assert not SANITIZER.search(said), said
    assert logins > 0
    left = [p for p in (tmp_path / state / "azure").rglob("*") if p.is_file()]
    assert all(p.stat().st_mode & 0o077 == 0 for p in left if secret in p.read_text("latin-1")), left
