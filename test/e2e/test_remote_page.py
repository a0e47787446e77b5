# SPDX-License-Identifier: MIT
"""Every line of docs/remote.md, with a laptop that has nothing but a cable to the daemon's machine."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from support.daemon import BATCHAID, Daemon
from support.machines import NoMachines, cabled
from support.remote_page import BLOCK, PAGE, read
from support.sshd import SSHD, make_key
from support.waiting import wait_for


@pytest.fixture
def machines(tmp_path):
    try:
        with cabled(tmp_path) as both:
            yield both
    except NoMachines as why:
        pytest.skip(f"no network namespaces here: {why}")


def test_every_block_says_where_it_belongs():
    assert len(re.findall(r"^```", PAGE, re.M)) == 2 * len(BLOCK.findall(PAGE))
    assert not re.search(r"^(    |\t)\S", BLOCK.sub("", PAGE), re.M), "a block without a fence"


def test_the_lines(machines, tmp_path):
    read(*machines, tmp_path)


def said(machine, *argv):
    return subprocess.check_output(machine.enter(*argv), text=True)


def connect(head, laptop, folder):
    """The ssh of the page, from the laptop to an sshd that runs on the head for this connection alone."""
    forward = re.search(r"`ssh (-L \S+) gpu-head\.lab`", PAGE).group(1).split()
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # a root's sshd wants it
    (folder / "authorized_keys").write_text(make_key(folder / "id"))
    make_key(folder / "host_key")
    config = f"HostKey {folder}/host_key\nAuthorizedKeysFile {folder}/authorized_keys\nStrictModes no\nUsePAM no\n"
    (folder / "sshd_config").write_text(config)
    proxy = shlex.join(head.enter(SSHD, "-i", "-f", folder / "sshd_config"))
    options = [f"ProxyCommand={proxy}", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null"]
    argv = ["ssh", "-F", "none", "-N", "-i", folder / "id", *(x for o in options for x in ("-o", o)), *forward]
    return subprocess.Popen(laptop.enter(*argv, "gpu-head.lab"), stderr=subprocess.DEVNULL)


@pytest.mark.skipif(not os.access(SSHD, os.X_OK), reason="sshd is not installed")
def test_through_ssh_nothing_need_be_configured(machines, tmp_path):
    head, laptop = machines
    d = Daemon(prefix=head.enter())
    d.port = 7443
    with d, connect(head, laptop, tmp_path) as ssh:
        try:
            state = ["--state-dir", d.state_dir]
            password = said(head, BATCHAID, "user", *state, "add", "ada").split()[-1]
            lines = said(head, BATCHAID, "env", *state, "--endpoint", "https://localhost:7443", "--user", "ada")
            wait_for(lambda: ask(laptop, "-k", "https://localhost:7443/batchaid/ca.pem"), 20, "ssh to forward")
            login = (
                'curl -sS --cacert "$SSL_CERT_FILE" "$BATCHAID_ENDPOINT/adfs/oauth2/token" -d grant_type=password'
                ' -d client_id="$AZURE_CLIENT_ID" -d username="$AZURE_USERNAME" -d password="$0"'
            )
            script = f"export HOME={tmp_path}; az() {{ :; }}\n{lines}\n{login}"
            assert "access_token" in said(laptop, "sh", "-c", script, password)
        finally:
            ssh.terminate()


def ask(machine, *curl):
    done = subprocess.run(machine.enter("curl", "-sS", "-m", "20", *curl), capture_output=True, text=True)
    return done.stdout


def test_plain_http_is_for_the_head_alone_and_https_for_who_is_known(machines, tmp_path):
    head, laptop = machines
    both = ["--listen", "10.0.0.5:7443"]
    config = {"http": {"serve": True}, "tls": {"names": ["gpu-head.lab"]}}
    with Daemon(config, arguments=both, prefix=head.enter()) as d:
        local = f"http://localhost:{d.port}/batchaid/ca.pem"
        assert ask(head, local).startswith("-----BEGIN CERTIFICATE-----")
        refused = ask(laptop, "http://10.0.0.5:7443/batchaid/ca.pem")
        assert "BEGIN CERTIFICATE" not in refused and "https://" in refused, refused
        status = ["-o", "/dev/null", "-w", "%{http_code}", "--cacert", d.state_dir / "ca.pem"]
        named = [*status, "--resolve", "gpu-head.lab:7443:10.0.0.5"]
        assert ask(laptop, *named, "https://gpu-head.lab:7443/subscriptions?api-version=2019-11-01") == "401"
        assert ask(laptop, *status, "https://10.0.0.5:7443/batchaid/ca.pem") == "200"


class ElsewhereFirst(Daemon):
    def command(self):
        argv = super().command()
        at = argv.index("--listen")
        return [*argv[:at], "--listen", "10.0.0.5:7443", *argv[at:]]


def test_the_head_itself_comes_by_loopback_whatever_is_listened_on_first(machines):
    """An address has no names below it, as storage accounts need them."""
    head, _ = machines
    with ElsewhereFirst(prefix=head.enter()) as d:
        assert d.endpoint == "https://10.0.0.5:7443"
        assert "BATCHAID_ENDPOINT='https://localhost:" in said(head, BATCHAID, "env", "--state-dir", d.state_dir)
