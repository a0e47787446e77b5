# SPDX-License-Identifier: MIT
"""docs/testing.md: its commands in a shell, as they are typed."""

import json
import re
import shlex
import subprocess

from support.daemon import BATCHAID, ROOT
from support.testing import Testing
from support.world import Place


# Sections with tests of their own.
ELSEWHERE = ("Scripted work", "The clock", "Nodes that fail", "Strict mode")


def blocks(*only):
    """Of the named sections, or of all but those that other tests run."""
    page = re.sub(r"```.*?```", "", (ROOT / "docs" / "testing.md").read_text(), flags=re.S)
    text = ""
    for section in re.split(r"^## ", page, flags=re.M):
        name = section.splitlines()[0]
        if name in only if only else name not in ELSEWHERE:
            text += section
    return [re.sub(r"^    ", "", b, flags=re.M) for b in re.findall(r"(?:^    .*\n(?:\n(?=    ))?)+", text, re.M)]


def page_shell(d, tmp_path):
    """Runs blocks with what the page's beginning sets; the replies they print."""
    setup = next(block for block in blocks() if "ask()" in block)
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    (bin_dir / "batchaid").symlink_to(BATCHAID)

    def shell(script):
        head = f"set -e\nPATH={shlex.quote(str(bin_dir))}:$PATH DIR={shlex.quote(str(d.state_dir))} token={d.token()}\n"
        done = subprocess.run(["bash", "-c", head + setup + script], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        at, replies = 0, []
        while at < len(done.stdout):
            reply, at = json.JSONDecoder().raw_decode(done.stdout, at)
            replies.append(reply)
            at += len(done.stdout[at:]) - len(done.stdout[at:].lstrip())
        return replies

    return shell


def test_scripted_work(own_daemon, tmp_path):
    d = own_daemon(arguments=["--ephemeral", "--testing"])
    shell = page_shell(d, tmp_path)
    rule, rules = blocks("Scripted work")
    assert shell(rule)[0]["unused"] == [1]
    place = Place(d, "lab", "ws").make()
    outputs = [{"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/out", "pathSuffix": "models"}]
    job = place.job(place.cluster(vmSize="FAKE"), name="train-1", outputDirectories=outputs)
    assert job.fail()["executionInfo"]["exitCode"] == 3
    assert job.read("stdout.txt") == "loading\nepoch 1\n" and job.read("model.txt", "MODEL") == "weights"
    assert shell(rules)[0]["value"][0]["hits"] == 1 and Testing(d).get("/rules")["value"] == []
    Testing(d).reset()


def test_the_clock(own_daemon, tmp_path):
    d = own_daemon(arguments=["--ephemeral", "--testing"])
    stopped, ahead, look, real = page_shell(d, tmp_path)(blocks("The clock")[0])
    assert stopped["rate"] == 0 and not stopped["real"]
    assert look["time"] == ahead["time"] > stopped["time"] and look["ahead"].startswith("PT5H59M")
    assert real["real"] and real["ahead"] == "PT0S"


def test_strict_mode(own_daemon, tmp_path):
    d = own_daemon(arguments=["--ephemeral", "--testing"])
    (block,) = blocks("Strict mode")
    asked, shown = page_shell(d, tmp_path)(block)
    assert asked["strict"] and asked["allocation"] == "PT3M" and asked["writesPerHour"] == 10
    assert [p["strict"] for p in shown["value"]] == [True, False]
    (left,) = Testing(d).get("/strict")["value"]
    assert not left["strict"]


def test_nodes_that_fail(own_daemon, tmp_path):
    d = own_daemon(arguments=["--ephemeral", "--testing"])
    made = page_shell(d, tmp_path)(blocks("Nodes that fail")[0])
    assert [f["id"] for f in made] == [1, 2, 3, 4]
    assert made[0]["node"] == {"effect": "failPreparation", "after": "PT0S", "message": "no disk"}
    assert made[2]["allocation"]["code"] == "CoreQuotaExceeded"


def test_the_page_runs(own_daemon, tmp_path):
    serve, wait, _, subscription, reset, seed, dump, fault, faults, requests, expect, events, unknown = blocks()
    assert serve.strip() == "batchaid serve --ephemeral --testing --listen localhost:0"
    d = own_daemon(arguments=["--ephemeral", "--testing"])
    shell = page_shell(d, tmp_path)
    assert shell(wait) == []
    assert "subscriptionId" in shell(subscription)[0]
    place = Place(d, "lab", "ws").make()
    assert shell(fault)[0]["times"] == 2
    for status in (429, 429):
        reply = d.call("PUT", f"{place.path}/clusters/c", {}, validate=False)
        assert (reply.status, reply.headers["Retry-After"]) == (status, "3")
    assert shell(faults)[0]["value"][0]["hits"] == 2 and Testing(d).get("/faults")["value"] == []
    place.cluster(nodes=0, name="c")
    seen = shell(requests)[0]["value"]
    assert [s["status"] for s in seen] == [429, 429, 202] and seen[0]["fault"] == 1
    assert len(shell(expect)[0]["value"]) == 3
    assert {"lab", "ws", "c"} <= {event["name"] for event in shell(events)}
    assert shell(unknown) == [{"value": [], "others": 0}]
    assert shell(reset) == [{"resourceGroups": 2}]
    assert shell(f"cd {tmp_path}\n{seed}") == [{"resourceGroups": 1, "resources": 7}]
    (state,) = shell(dump)
    assert state["groups"]["lab"]["storageAccounts"]["results"]["containers"]["models"]["blobs"] == {"a/b.txt": "a model"}
    job = state["groups"]["lab"]["workspaces"]["ws"]["experiments"]["e"]["jobs"]["j"]
    assert job["state"]["executionState"] == "succeeded"
