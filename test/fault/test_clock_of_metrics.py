# SPDX-License-Identifier: MIT
"""The use that /metrics counts since the daemon's start: somebody sets the clock after the start."""

import pytest
from support.daemon import Daemon
from support.metrics import of
from support.waiting import wait_for
from support.world import Place, wait_flag

HOUR = 3600


def gpu_seconds(d):
    return of(d, "batchaid_gpu_allocated_seconds_total") or 0


@pytest.mark.parametrize("by", [HOUR, -HOUR], ids=["forward", "back"])
def test_a_clock_that_is_set_after_the_start_loses_no_gpu_time(clock, by):
    with Daemon(environment=clock.environment, config={"local": {"fake_gpus": 2}}) as d:
        clock.set(by)
        place = Place(d).make()
        flag, path = place.flag("end")
        job = place.job(place.cluster(1), wait_flag(path))
        job.running()
        clock.go_on(100)
        assert 200 <= gpu_seconds(d) < 2 * HOUR
        flag.touch()
        job.succeed()
        wait_for(lambda: of(d, "batchaid_gpus", state="allocated") == 0, what="an end of the allocation")
        assert 200 <= gpu_seconds(d) < 2 * HOUR
