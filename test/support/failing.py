# SPDX-License-Identifier: MIT
"""A daemon one of whose calls fails, or whose calls are counted: failing.c says how."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("failing.c")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    made = tmp_path_factory.mktemp("failing") / "failing.so"
    cc = shutil.which("cc")
    if cc is None:
        pytest.skip("no C compiler")
    subprocess.run([cc, "-D_GNU_SOURCE", "-shared", "-fPIC", "-O1", "-o", made, SOURCE, "-ldl"], check=True)
    return made


def environment(library, kind, at, count):
    """Of a daemon whose call number `at` of this kind fails (0: none); `count` gets a byte for each."""
    sanitizer = os.environ.get("ASAN_OPTIONS", "")
    return {
        "LD_PRELOAD": str(library),
        "FAILING_CALL": kind,
        "FAILING_AT": str(at),
        "FAILING_COUNT": str(count),
        "ASAN_OPTIONS": f"{sanitizer}:verify_asan_link_order=0".lstrip(":"),
    }
