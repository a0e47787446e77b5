# SPDX-License-Identifier: MIT
"""Seeds and resets of a daemon for tests with 1,000 resources of a kind, in a group, over one connection that is kept
(HTTPS). Of the kinds the slowest one counts. While it is seeded with 10,000 tasks, and these are dumped, another client
asks for something small again and again."""

import time
from pathlib import Path
from statistics import median

from support.daemon import Daemon
from support.many import KINDS, many
from support.waiting import wait_for

from . import stage
from .figures import Figure
from .scripted import Client
from .size import size
from .waits import worst_wait

COUNT, ROUNDS, LARGE = size(1000, 10), size(3), size(10_000, 10)
AIM_RESET_MS, AIM_SEED_MS, AIM_WAIT_MS = 10, 500, 50


def took_ms(call, *what):
    begun = time.monotonic()
    call(*what)
    return (time.monotonic() - begun) * 1000


def rest(daemon):
    """What follows a seed or a reset takes the time of the next."""
    wait_for(lambda: is_at_rest(daemon), what="the daemon to have nothing to do")


def is_at_rest(daemon):
    used = ticks(daemon)
    time.sleep(0.1)
    return ticks(daemon) - used <= 1


def ticks(daemon):
    return sum(int(n) for n in Path(f"/proc/{daemon.process.pid}/stat").read_text().split()[13:15])


def scopes(daemon):
    subscription = {"subscription": daemon.subscription}
    return {"all": {}, "a subscription": subscription, "a group": {**subscription, "resourceGroup": "big"}}


def waits_of_others(daemon, client):
    seeds, dumps = [], []
    state, small = many(daemon, "tasks", LARGE), stage.versioned("/subscriptions")
    for _ in range(ROUNDS):
        seeds.append(worst_wait(daemon, small, lambda: client.call("POST", "/batchaid/testing/seed", state)))
        dumps.append(worst_wait(daemon, small, lambda: client.call("GET", "/batchaid/testing/dump")))
        client.call("POST", "/batchaid/testing/reset")
        rest(daemon)
    for what, samples in (("seed", seeds), ("dump", dumps)):
        yield Figure(f"a {what} of {LARGE:,} tasks: longest wait of others", "ms", samples, AIM_WAIT_MS)


def measure():
    daemon = Daemon({"quota": {"clusters": COUNT}}, arguments=["--testing", "--ephemeral"])
    with daemon:
        resets, seeds = {scope: {} for scope in scopes(daemon)}, {}
        client = Client(daemon)
        for kind in KINDS:
            for scope, body in scopes(daemon).items():
                for _ in range(ROUNDS):
                    seed = ("POST", "/batchaid/testing/seed", many(daemon, kind, COUNT))
                    seeds.setdefault(kind, []).append(took_ms(client.call, *seed))
                    rest(daemon)
                    resets[scope].setdefault(kind, []).append(took_ms(client.call, "POST", "/batchaid/testing/reset", body))
                    client.call("POST", "/batchaid/testing/reset")
                    rest(daemon)
        others = list(waits_of_others(daemon, client))
    return [
        *(figure(f"reset of {scope}, {COUNT:,} resources", kinds, AIM_RESET_MS) for scope, kinds in resets.items()),
        figure(f"seed of {COUNT:,} resources", seeds, AIM_SEED_MS),
        *others,
    ]


def figure(name, kinds, aim):
    slowest = max(kinds, key=lambda kind: median(kinds[kind]))
    return Figure(f"{name}, slowest kind: {slowest}", "ms", kinds[slowest], aim)
