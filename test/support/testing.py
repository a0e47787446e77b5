# SPDX-License-Identifier: MIT
"""A daemon that was started with --testing: faults, the log of requests, reset, rules, the clock."""

import json
from contextlib import contextmanager
from datetime import datetime, timezone

from .daemon import Daemon

KEY = "x-batchaid-testing-key"


class Testing:
    __test__ = False

    def __init__(self, daemon):
        self.daemon = daemon
        self.key = daemon.env["BATCHAID_TESTING_KEY"]

    def call(self, method, path, body=None, key=None, **more):
        headers = {KEY: self.key if key is None else key} if key != "" else {}
        return self.daemon.call(
            method, f"/batchaid/testing{path}", body, headers=headers, token=None, **more
        )

    def get(self, path):
        return self.call("GET", path, expect=200).json

    def last(self):
        return self.get("/requests?max=1")["last"]

    def requests(self, after=0, **match):
        query = "".join(f"&{name}={value}" for name, value in match.items())
        return self.get(f"/requests?after={after}&max=10000{query}")["value"]

    def expect(self, count=1, after=0, timeout=10, **match):
        body = {"match": match, "count": count, "after": after, "timeoutSeconds": timeout}
        return self.call("POST", "/requests/expect", body)

    def fault(self, match=None, **what):
        return self.call("POST", "/faults", {"match": match or {}, **what}, expect=201).json

    def rules(self, *rules, expect=201):
        """Adds rules of scripted work; those that were made, or the refusal."""
        reply = self.call("POST", "/rules", {"rules": list(rules)}, expect=expect)
        return reply.json["value"] if expect == 201 else reply

    def seed(self, state, expect=200, **query):
        """`state`: a text, or a tree."""
        text = state if isinstance(state, str) else json.dumps(state)
        path = "/seed" + "".join(f"?{k}={v}" for k, v in query.items())
        return self.call("POST", path, data=text.encode(), expect=expect).json

    def dump(self, **query):
        return self.get("/dump?" + "&".join(f"{k}={v}" for k, v in query.items()))

    def seed_again(self, state, **query):
        """What was dumped makes the same again."""
        self.reset()
        self.seed(state)
        assert self.dump(**query) == state

    def forget(self):
        """Everything that tests ask for beforehand."""
        for path in ("/faults", "/rules", "/strict"):
            self.call("DELETE", path, expect=204)

    def reset(self, **scope):
        return self.call("POST", "/reset", scope or None, expect=200).json["resourceGroups"]


class Strict(Testing):
    """One subscription that asks for it."""

    def set(self, **rows):
        return self.call("POST", "/strict", {"subscription": self.daemon.subscription, **rows}, expect=200).json

    def off(self):
        self.call("DELETE", f"/strict?subscription={self.daemon.subscription}", expect=204)

    def all(self):
        return self.get("/strict")["value"]


@contextmanager
def testing_daemon(*arguments, expects=()):
    """Emptied and stopped in the end; `expects`: what it may log besides."""
    d = Daemon(arguments=["--testing", *arguments])
    for pattern in expects:
        d.expect_log(pattern)
    d.start()
    yield d
    Testing(d).reset()
    complaints = d.close()
    assert not complaints, "\n".join(complaints)


class Clock:
    def __init__(self, daemon):
        self.daemon, self.t = daemon, Testing(daemon)

    def call(self, method, body=None, **more):
        headers = {KEY: self.t.key}
        return self.daemon.call(method, "/batchaid/clock", body, headers=headers, token=None, **more)

    def look(self):
        return self.call("GET", expect=200).json

    def now(self):
        return instant6(self.look()["time"])

    def change(self, keep_token=False, **what):
        reply = self.call("POST", what, expect=200).json
        if not keep_token:
            self.daemon.forget_token()
        return reply

    def advance(self, span, **more):
        return self.change(advance=span, **more)


def instant6(text):
    form = "%Y-%m-%dT%H:%M:%S.%fZ" if "." in text else "%Y-%m-%dT%H:%M:%SZ"
    return datetime.strptime(text, form).replace(tzinfo=timezone.utc)
