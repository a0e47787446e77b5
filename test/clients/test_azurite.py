# SPDX-License-Identifier: MIT
"""Blob beside Azurite, which npm has: the same requests, and every difference is meant (blob_meant.py)."""

from fnmatch import fnmatchcase

import pytest
from blob_compared import Side, differences
from blob_meant import MEANT
from blob_stories import STORIES
from support import packages
from support.azurite import Azurite
from support.storage import StorageDaemon

PATTERNS = [pattern for patterns in MEANT.values() for pattern in patterns]


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    with StorageDaemon() as daemon:
        try:
            with Azurite(tmp_path_factory.mktemp("azurite")) as azurite:
                yield daemon.blob, azurite.blob
        except packages.Unavailable as e:
            pytest.skip(str(e))


@pytest.fixture(scope="module")
def seen():
    """The patterns that differences have matched."""
    return set()


@pytest.mark.parametrize("story", STORIES)
def test_both_answer_the_same(services, seen, story):
    container = f"story{list(STORIES).index(story)}x"
    sides = [Side(plane, container) for plane in services]
    for side in sides:
        assert side.plane.call("PUT", f"/{container}?restype=container").status == 201
    unmeant = []
    for step in STORIES[story]:
        for text in differences(*(side.ask(step) for side in sides)):
            told = f"{story}/{step[0]}: {text}"
            matched = [pattern for pattern in PATTERNS if fnmatchcase(told, pattern)]
            seen.update(matched)
            unmeant += [] if matched else [told]
    assert not unmeant, "\n".join(unmeant)


def test_what_is_meant_is_so(services, seen, request):
    if sum(item.originalname == "test_both_answer_the_same" for item in request.session.items) < len(STORIES):
        pytest.skip("not all stories were told")
    assert [pattern for pattern in PATTERNS if pattern not in seen] == []
