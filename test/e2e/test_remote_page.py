# SPDX-License-Identifier: MIT
"""Every line of docs/remote.md, with a laptop that has nothing but a cable to the daemon's machine."""

import re
import subprocess

import pytest
from support.daemon import Daemon
from support.machines import NoMachines, cabled
from support.remote_page import BLOCK, PAGE, read


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
