# SPDX-License-Identifier: MIT
"""Published packages that tests install."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from support import packages

# Fails where another one is at work in the same directory.
INSTALL = ["sh", "-c", "mkdir busy && echo once >>count && sleep 0.2 && rmdir busy"]


@pytest.fixture
def home(tmp_path):
    return tmp_path / "package"


def test_who_comes_while_a_package_is_installed_waits_and_has_it(home):
    with ThreadPoolExecutor() as side_by_side:
        asked = [side_by_side.submit(packages.install, "p", INSTALL, home=home) for _ in range(4)]
    assert [a.result() for a in asked] == [home] * 4
    assert (home / "count").read_text() == "once\n"


def test_an_install_that_failed_is_done_again(home):
    with pytest.raises(packages.Unavailable, match="p cannot be installed: error of the first"):
        packages.install("p", ["sh", "-c", "echo error of the first >&2; exit 1"], home=home)
    assert packages.install("p", ["sh", "-c", "echo there >file"], home=home) == home
    assert (home / "file").read_text() == "there\n"


def test_a_changed_recipe_that_fails_leaves_nothing_that_counts_as_ready(home):
    packages.install("p", ["true"], home=home)
    with pytest.raises(packages.Unavailable):
        packages.install("p", ["false"], home=home)
    assert not (home / "ready").exists()


def test_the_reason_of_an_install_that_writes_only_colours_to_its_standard_error_is_found(home):
    with pytest.raises(packages.Unavailable, match=r"p cannot be installed: \[ERROR\] no such jar$"):
        packages.install("p", ["sh", "-c", r"printf '\033[0m\033[0m' >&2; printf '\033[0m[ERROR] no such jar\n'; exit 1"], home=home)
