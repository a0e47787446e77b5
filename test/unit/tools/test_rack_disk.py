# SPDX-License-Identifier: MIT
"""A machine of the rack begins with accounts of its own, whoever has one on the host."""
import os

import pytest
from support.rack import disk

ETC = {
    "passwd": "root:x:0:0:root:/root:/bin/bash\nsshd:x:101:65534::/run/sshd:/usr/sbin/nologin\n"
              "systemd-network:x:998:998::/:/usr/sbin/nologin\ndemo:x:999:999::/home/demo:/bin/bash\n"
              "jane:x:1000:1000::/home/jane:/bin/bash\n",
    "group": "root:x:0:\nsudo:x:27:demo,jane\ndemo:x:999:\njane:x:1000:\nfuse:x:105:\n",
    "shadow": "root:*:1:0:99999:7:::\nsshd:!:1::::::\nsystemd-network:!:1::::::\ndemo:$6$:1:::::\njane:$6$:1:::::\n",
    "gshadow": "root:*::\nsudo:*::demo,jane\ndemo:!::\njane:!::\nfuse:!::\n",
}


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files away, which needs root")
def test_accounts_of_the_host_are_not_there(tmp_path):
    etc, new = tmp_path / "etc", tmp_path / "disk"
    etc.mkdir()
    for name, text in ETC.items():
        (etc / name).write_text(text)
    disk.write_accounts(new, etc)
    names = {name: [line.split(":")[0] for line in (new / "etc" / name).read_text().splitlines()] for name in ETC}
    assert names["passwd"] == names["shadow"] == ["root", "sshd", "systemd-network", "batchai"]
    assert names["group"] == names["gshadow"] == ["root", "sudo", "fuse", "batchai"]
    assert "jane" not in (new / "etc/group").read_text()
