# SPDX-License-Identifier: MIT
"""What the Python package says where the program cannot run."""

import errno
import os
import sys

import pytest
from support.daemon import ROOT

sys.path.insert(0, str(ROOT / "etc/wheel"))
from batchaid import cloud  # noqa: E402

OLD = """batchaid: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by batchaid)
batchaid: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.4' not found (required by batchaid)
"""
ALONE = "batchaid: error while loading shared libraries: libm.so.6: cannot open shared object file: No such file or directory"


def test_an_old_c_library_is_named_with_what_would_be_right(monkeypatch):
    monkeypatch.setattr(os, "confstr", lambda _: "glibc 2.31")
    said = cloud.refused_by_loader(OLD)
    assert said.startswith("the program needs glibc 2.34 or later, and this system has glibc 2.31: use the container image")


def test_a_missing_library_is_named():
    assert cloud.refused_by_loader(ALONE).startswith("the library libm.so.6 is missing")
    assert cloud.refused_by_loader("batchaid: the port is in use") == ""


@pytest.mark.parametrize(
    "number, said",
    [
        (errno.ENOENT, "it is for systems with glibc, and this system has a C library that is not glibc"),
        (errno.ENOEXEC, "it is not for this machine, "),
        (errno.EACCES, "mounted with noexec"),
        (errno.ENOMEM, "Cannot allocate memory"),
    ],
)
def test_a_system_that_cannot_execute_it_is_told_why(monkeypatch, number, said):
    def without_glibc(_):
        raise ValueError("unrecognized configuration name")

    monkeypatch.setattr(os, "confstr", without_glibc)
    assert said in cloud.refused_by_system(sys.executable, OSError(number, os.strerror(number)))


def test_a_state_without_a_place_is_told_where_one_could_be(monkeypatch):
    def without_place(**_):
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(cloud.tempfile, "mkdtemp", without_place)
    with pytest.raises(RuntimeError, match="No usable temporary directory.*--shm-size=2g.*TMPDIR"):
        cloud.make_folder()
