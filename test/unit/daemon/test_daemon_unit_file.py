# SPDX-License-Identifier: MIT
"""The unit file: systemd takes it, and it leaves jobs what they need."""
import configparser
import shutil
import subprocess

import pytest
from support.daemon import ROOT

UNIT = ROOT / "etc" / "batchaid.service"
# Each of them, or what systemd sets with it, keeps rootless podman from mapping users, or is a /tmp that
# ends with the daemon while jobs go on.
HARMS_JOBS = {
    "PrivateTmp", "NoNewPrivileges", "RestrictNamespaces", "RestrictSUIDSGID", "CapabilityBoundingSet",
    "PrivateUsers", "PrivateDevices", "ProtectHostname", "ProtectKernelTunables", "ProtectKernelModules",
    "ProtectKernelLogs", "ProtectClock", "ProtectControlGroups", "RestrictRealtime", "LockPersonality",
    "RestrictAddressFamilies", "SystemCallArchitectures", "SystemCallFilter", "MemoryDenyWriteExecute",
    "DynamicUser",
}


def section(name):
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str
    parser.read_string(UNIT.read_text())
    return parser[name]


def test_jobs_outlive_the_daemon_and_may_have_containers():
    settings = section("Service")
    assert settings["KillMode"] == "process" and settings["Type"] == "notify"
    assert not HARMS_JOBS & set(settings), "what is known to harm jobs"


def test_the_daemon_waits_for_addresses_and_is_started_without_a_limit():
    settings = section("Unit")
    assert settings["Wants"] == settings["After"] == "network-online.target"
    assert settings["StartLimitIntervalSec"] == "0" and section("Service")["Restart"] == "on-failure"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze here")
def test_systemd_takes_it(tmp_path):
    unit = tmp_path / "batchaid.service"
    text = UNIT.read_text().replace("@bindir@", "/usr/bin").replace("@sysconfdir@", "/etc/batchaid")
    unit.write_text(text.replace("User=batchaid", "User=daemon").replace("Documentation=", "#"))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(unit)],
        capture_output=True, text=True, timeout=60,
    )
    mine = [line for line in done.stderr.splitlines() if "batchaid.service" in line]
    assert not mine, mine
    bad = "[Service]\nExecStart=/bin/true\nKilMode=process\n"
    unit.write_text(bad)
    again = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(unit)],
        capture_output=True, text=True, timeout=60,
    )
    assert "KilMode" in again.stderr, "the check can fail"
