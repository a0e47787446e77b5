# SPDX-License-Identifier: MIT
"""Blob beside Azurite, which npm has: the same requests, and every difference is meant (blob_meant.py)."""

from fnmatch import fnmatchcase
from functools import cache

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
def told(services):
    """Tells a story to both, once: the differences, as "STORY/STEP: WHAT"."""

    @cache
    def tell(story):
        container = f"story{list(STORIES).index(story)}x"
        sides = [Side(plane, container) for plane in services]
        for side in sides:
            assert side.plane.call("PUT", f"/{container}?restype=container").status == 201
        return [
            f"{story}/{step[0]}: {text}"
            for step in STORIES[story]
            for text in differences(*(side.ask(step) for side in sides))
        ]

    return tell


def meant(difference):
    return [pattern for pattern in PATTERNS if fnmatchcase(difference, pattern)]


@pytest.mark.parametrize("story", STORIES)
def test_both_answer_the_same(told, story):
    unmeant = [difference for difference in told(story) if not meant(difference)]
    assert not unmeant, "\n".join(unmeant)


def test_what_is_meant_is_so(told):
    seen = {pattern for story in STORIES for difference in told(story) for pattern in meant(difference)}
    assert [pattern for pattern in PATTERNS if pattern not in seen] == []
