# SPDX-License-Identifier: MIT
"""The newest release of a client, as its registry has it, and what test/clients/newest/newest.tsv says of the last time.
A registry that cannot be reached, or has no such package, skips by name."""

import json
import os
import re
import subprocess
import xml.etree.ElementTree as ET
from contextlib import contextmanager

import pytest

from .clients import PROGRAMS, needs
from .packages import caller_environment, reason

NAME = "newest"
RECORD = PROGRAMS / "newest" / "newest.tsv"
NUMBERS = re.compile(r"\d+(\.\d+)+")


def asked(*command, cwd="/"):
    """What a registry's tool prints."""
    done = subprocess.run(command, capture_output=True, text=True, env=caller_environment(), cwd=cwd, timeout=900)
    if done.returncode != 0:
        pytest.skip(f"{command[0]} finds no newest release: {reason(done)}")
    return done.stdout


def first_number(text):
    found = NUMBERS.search(text)
    return found[0] if found else pytest.skip(f"the registry names no version: {text[:200]!r}")


def of_pypi(package):
    pip = ["/usr/bin/python3", "-m", "pip", "--disable-pip-version-check"]
    return first_number(asked(*pip, "index", "versions", package).split("(", 1)[-1])


def of_npm(package):
    needs("npm")
    return first_number(asked("npm", "view", package, "version"))


def of_go(module):
    needs("go")
    return json.loads(asked("go", "list", "-m", "-json", f"{module}@latest"))["Version"]


def of_crates(name):
    needs("cargo")
    found = re.search(r"^version: (\S+)", asked("cargo", "info", name, "--registry", "crates-io"), re.M)
    return found[1]


def of_maven(group, artifact, folder):
    """Of the versions that the registry names, the greatest that is not a preview."""
    needs("mvn", "java", "javac")
    local = folder / "repository"
    asked("mvn", "-q", "-B", f"-Dmaven.repo.local={local}", "dependency:get", "-Dtransitive=false",
          f"-Dartifact={group}:{artifact}:LATEST:pom", cwd=folder)  # fmt: skip
    named = [v.text for f in local.glob(f"{group.replace('.', '/')}/{artifact}/maven-metadata-*.xml")
             for v in ET.parse(f).iter("version") if NUMBERS.fullmatch(v.text)]  # fmt: skip
    return max(named, key=lambda v: [int(n) for n in v.split(".")])


def recorded():
    """client -> (version, result)"""
    lines = RECORD.read_text().splitlines() if RECORD.exists() else []
    return {client: (version, result) for client, version, result in (line.split("\t") for line in lines[1:])}


def record(client, version, result):
    rows = {**recorded(), client: (version, result)}
    lines = ["client\tversion\tresult", *("\t".join((name, *row)) for name, row in sorted(rows.items()))]
    RECORD.write_text("\n".join(lines) + "\n")


@contextmanager
def walked(client, version):
    """Around a walk: says how it went, and what is different from the last record. UPDATE_NEWEST: records it."""
    before = recorded().get(client)
    result = "failed"
    try:
        yield
        result = "passed"
    finally:
        now = (version, result)
        if os.environ.get("UPDATE_NEWEST"):
            record(client, *now)
        changed = "" if before == now else f" (recorded: {' '.join(before) if before else 'nothing'})"
        with open(os.environ.get("CHECKS_NOTES", os.devnull), "a", encoding="utf-8") as notes:
            notes.write(f"newest: {client} {version}: {result}{changed}\n")
