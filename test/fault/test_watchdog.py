# SPDX-License-Identifier: MIT
"""The daemon's loop stands still, or ends badly: it is said what it was in, and it goes on without that."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest
import requests
from support.batch_jobs import Jobs, add_pool
from support.batch_store import Store
from support.daemon import children
from support.waiting import PATIENCE, wait_for
from support.world import Place

GROUP = "stuck"
FITS = f"request PUT by * /subscriptions/*/resourcegroups/{GROUP}"
SLEEPS = {"x86_64": "230", "aarch64": "115"}[os.uname().machine]  # the number of clock_nanosleep
QUICK = {"watchdog": {"report_s": 1, "end_s": 3}}


def faulty(own_daemon, kind, pattern=FITS, config=None, **more):
    # The daemon's own handler of SIGSEGV, not the sanitizer's.
    sanitizer = f"{os.environ.get('ASAN_OPTIONS', '')}:handle_segv=0".lstrip(":")
    environment = {"BATCHAID_TESTING_FAULT": f"{kind} {pattern}", "ASAN_OPTIONS": sanitizer, **more.pop("environment", {})}
    return own_daemon(config=config or QUICK, arguments=["--testing"], environment=environment, **more)


def put_group(d, name=GROUP):
    return d.call("PUT", f"/subscriptions/{d.subscription}/resourcegroups/{name}", {"location": "eastus"})


def put_and_lose(d):
    """The request that the daemon does not survive."""
    try:
        reply = put_group(d)
    except requests.RequestException:
        return
    raise AssertionError(f"it was answered: {reply!r}")


def test_a_handler_that_hangs_is_named_with_its_stack(own_daemon):
    d = faulty(own_daemon, "hang", config={"watchdog": {"report_s": 1, "end_s": 0}})
    d.expect_log(r"testing\.enabled|loop\.stuck")
    assert d.subscription and d.token()
    lost = threading.Thread(target=put_and_lose, args=[d])
    lost.start()
    wait_for(lambda: "loop.stuck" in "\n".join(d.log()), 20, "the log to say so")
    (line,) = [one for one in d.log() if "loop.stuck" in one]
    assert re.search(rf'work="request PUT by \S+ /subscriptions/\S+/resourcegroups/{GROUP}"', line), line
    assert re.search("state=[SR] ", line) and line.count("batchaid+0x") > 3, line
    d.kill9()
    lost.join()


def test_a_stopped_daemon_counts_nothing(own_daemon):
    d = own_daemon(config={"watchdog": {"report_s": 2, "end_s": 2}})
    d.process.send_signal(signal.SIGSTOP)
    time.sleep(4)  # twice as long as it may stand still
    d.process.send_signal(signal.SIGCONT)
    assert put_group(d, "here").status == 201
    assert not [line for line in d.log() if re.search(r" loop\.(stuck|aborted|blocked_in_kernel)", line)]


def test_the_service_manager_is_told_that_the_loop_turns(own_daemon, tmp_path):
    """And not any more when it does not."""
    told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    told.bind(str(tmp_path / "notify"))
    told.settimeout(10 * PATIENCE)
    d = faulty(
        own_daemon, "hang",
        config={"watchdog": {"report_s": 1, "end_s": 0}},
        environment={"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "300000"},
    )
    d.expect_log(r"testing\.enabled|loop\.stuck")
    said = [told.recv(100)]
    while said.count(b"WATCHDOG=1") < 3:
        said.append(told.recv(100))
    assert b"READY=1" in said
    assert d.subscription and d.token()
    lost = threading.Thread(target=put_and_lose, args=[d])
    lost.start()
    wait_for(lambda: "loop.stuck" in "\n".join(d.log()), 20, "the loop to stand still")
    told.setblocking(False)
    try:
        while True:
            told.recv(100)
    except BlockingIOError:
        pass
    told.settimeout(1)
    try:
        assert not told.recv(100)
    except TimeoutError:
        pass
    d.kill9()
    lost.join()
    told.close()


def is_spinning(d):
    """The loop's thread sleeps in the hook (clock_nanosleep), not in epoll."""
    return Path(f"/proc/{d.process.pid}/syscall").read_text().split()[0] == SLEEPS


def refusals(d):
    return json.loads(d.tool("refused", "--json").stdout)["value"]


def readies(d):
    return sum("daemon.ready" in line for line in d.log())


@pytest.mark.parametrize(
    "kind, by", [("hang", "the watchdog"), ("abort", "SIGABRT"), ("crash", "SIGSEGV")]
)
def test_what_ended_the_daemon_twice_is_refused_until_somebody_allows_it(own_daemon, kind, by):
    d = faulty(own_daemon, kind)
    d.expect_log(r"testing\.enabled|loop\.(stuck|aborted)|daemon\.crashed|work\.crashed_daemon")
    pid, endpoint = d.process.pid, d.endpoint
    assert d.subscription
    for times in (1, 2):
        assert put_group(d, f"before-{times}").status == 201
        put_and_lose(d)
        wait_for(lambda: readies(d) == times + 1, 30, "it to be ready again")
        assert d.process.pid == pid and d.process.poll() is None and d.running
        assert f"cause={by!r}".replace("'", '"') in d.log_tail(100) or f"cause={by}" in d.log_tail(100)
    reply = put_group(d)
    assert reply.status == 409 and reply.code == "DaemonEndedDuringRequest", reply
    assert by in reply.error["message"] and "batchaid refused allow" in reply.error["message"]
    assert put_group(d, "another").status == 201
    status = Path(f"/proc/{pid}/status").read_text()
    assert re.search(r"^SigBlk:\s*0+$", status, re.M), "it was executed outside of the signal's handler"
    (refused,) = refusals(d)
    assert refused["times"] == 2 and refused["by"] == by and refused["work"].endswith(GROUP)
    assert GROUP in d.tool("refused").stdout and refused["number"] in reply.error["message"]
    d.environment.clear()  # it is mended
    assert d.stop() == 0
    d.start()
    assert put_group(d).status == 409, "a start that changes nothing allows nothing"
    assert d.tool("refused", "allow", "1234", check=False).returncode == 1
    assert d.tool("refused", "allow", refused["number"]).stdout == "1 allowed\n"
    assert put_group(d).status == 201 and refusals(d) == []


def test_kill_9_counts_nothing_and_a_signal_of_others_ends_it(own_daemon):
    d = faulty(own_daemon, "hang")
    d.expect_log(r"testing\.enabled|loop\.stuck")
    for signo in (signal.SIGKILL, signal.SIGKILL, signal.SIGABRT):
        assert d.subscription and d.token()
        lost = threading.Thread(target=put_and_lose, args=[d])
        lost.start()
        wait_for(lambda: is_spinning(d), 20, "the request to be under way")
        d.process.send_signal(signo)
        assert d.process.wait(20) == -signo
        lost.join()
        d.process.stdout.close()
        d.process = None
        d.start()
        d.forget_token()
    assert not [line for line in d.log() if re.search(r" (loop\.aborted|daemon\.crashed|work\.crashed_daemon)", line)]
    assert refusals(d) == []


def test_a_file_of_work_under_way_that_was_cut_short_refuses_nothing(own_daemon):
    d = own_daemon()
    d.stop()
    (d.state_dir / "under-way").write_bytes(b"")
    assert refusals(d) == []
    assert d.tool("refused", "allow", "all").stdout == "0 allowed\n"
    d.start()
    assert refusals(d) == []


def test_it_goes_again_three_times_in_ten_minutes(own_daemon):
    d = faulty(own_daemon, "abort", "request PUT by * /subscriptions/*/resourcegroups/*")
    d.expect_log(r"testing\.enabled|daemon\.crashed|work\.crashed_daemon")
    assert d.subscription
    for times in range(4):
        try:
            put_group(d, f"other-{times}")
        except requests.RequestException:
            pass
        if times < 3:
            wait_for(lambda: readies(d) == times + 2, 30, "it to be ready again")
    assert d.process.wait(20) == -signal.SIGABRT
    d.process.stdout.close()
    d.process = None
    d.environment.clear()
    d.start()
    assert put_group(d, "other-3").status == 201, "each was another request"


def test_an_agent_of_the_daemon_that_was_is_no_zombie(own_daemon, temporary):
    d = faulty(own_daemon, "abort", config={**QUICK, "local": {"nodes": 1}})
    d.expect_log(r"testing\.enabled|daemon\.crashed|work\.crashed_daemon")
    temporary(Place(d).make()).cluster(nodes=1)
    before = children(d.process.pid)
    assert before
    put_and_lose(d)
    wait_for(lambda: readies(d) == 2, 30, "it to be ready again")
    wait_for(lambda: not set(before) & set(children(d.process.pid)), 20, "the agents to be gone")


def output(url):
    container = {"container": {"containerUrl": url}}
    return {"filePattern": "out.txt", "destination": container, "uploadOptions": {"uploadCondition": "taskcompletion"}}


def test_a_task_whose_output_ends_the_daemon_at_each_start_fails_and_the_third_start_serves(own_daemon, temporary):
    d = faulty(own_daemon, "abort", "step upload of out.txt *")
    d.expect_log(r"testing\.enabled|daemon\.crashed|work\.crashed_daemon")
    store = temporary(Store(d))
    add_pool(store.plane, "pool", targetDedicatedNodes=1)
    jobs = Jobs(store.plane, "pool")
    job = jobs()
    job.add("/bin/sh -c 'echo kept > out.txt; exit 3'", id="t", outputFiles=[output(store.url())])
    wait_for(lambda: readies(d) == 3, 60, "the third start to serve")
    d.forget_token()
    (done,) = job.wait("t", limit=60)
    info = done["executionInfo"]
    assert info["result"].lower() == "failure" and info["exitCode"] == 3
    assert info["failureInfo"]["code"] == "FileUploadMiscError"
    assert "crashed 2 times" in str(info["failureInfo"]), info
    d.environment.clear()
    (refused,) = refusals(d)
    assert refused["work"].startswith("step upload of out.txt") and f"{job.id}/t" in refused["work"]
    good = jobs()
    good.add("/bin/true", id="t")
    good.wait("t", limit=60)
    jobs.remove()


def test_a_step_that_ends_the_daemon_at_each_start_is_left_out_and_all_else_goes_on(own_daemon, temporary):
    d = faulty(own_daemon, "abort", "run 1", config={**QUICK, "local": {"nodes": 1}})
    d.expect_log(r"testing\.enabled|daemon\.crashed|work\.(crashed_daemon|refused)")
    place = temporary(Place(d).make())
    cluster = place.cluster(nodes=1)
    with contextlib.suppress(requests.RequestException):  # it may end before it answers
        place.job(cluster, "true", name="j")
    wait_for(lambda: any("work.refused" in line for line in d.log()), 60, "the third start to leave it out")
    wait_for(lambda: "daemon.ready" in "\n".join(d.log()).rpartition("daemon.crashed")[2], 20, "it to serve")
    d.forget_token()
    assert put_group(d, "another").status == 201
    (why,) = place.job_at("j").wait("failed")["executionInfo"]["errors"]
    assert why["code"] == "DaemonEndedDuringStep" and "crashed 2 times" in why["message"], why
    assert "crashed 2 times" in d.tool("explain", "j").stdout
    d.environment.clear()
    (refused,) = refusals(d)
    assert refused["number"] in why["message"] and d.tool("refused", "allow", "all").stdout == "1 allowed\n"
    d.restart()
    place.job(cluster, "true", name="next").succeed()  # on the node that the first one had kept


def test_a_task_whose_step_ends_the_daemon_at_each_start_fails(own_daemon, temporary):
    d = own_daemon(config=QUICK, arguments=["--testing"])
    d.expect_log(r"testing\.enabled|daemon\.crashed|work\.(crashed_daemon|refused)")
    store = temporary(Store(d))
    add_pool(store.plane, "pool", targetDedicatedNodes=1)
    jobs = Jobs(store.plane, "pool")
    job = jobs()
    job.add(f"/bin/sleep 98{os.getpid()}", id="t")
    wait_for(lambda: job.task("t")["state"] == "running", 30, "it to run")
    d.environment["BATCHAID_TESTING_FAULT"] = "abort run 1"
    d.restart()
    wait_for(lambda: any("work.refused" in line for line in d.log()), 60, "the third start to leave it out")
    d.forget_token()
    (done,) = job.wait("t", limit=60)
    info = done["executionInfo"]
    assert info["result"].lower() == "failure" and info["failureInfo"]["category"].lower() == "servererror"
    assert "crashed 2 times" in str(info["failureInfo"]), info
    assert "crashed 2 times" in d.tool("explain", f"{job.id}/t").stdout
    d.environment.clear()
    assert d.tool("refused", "allow", "all").stdout == "1 allowed\n"
    d.restart()
    d.forget_token()
    good = jobs()
    good.add("/bin/true", id="t")
    good.wait("t", limit=60)  # the node is cleaned, and free
    assert subprocess.run(["pgrep", "-f", f"^/bin/sleep 98{os.getpid()}$"]).returncode == 1
    jobs.remove()


@pytest.mark.parametrize("step", ["pool 1", "node 1"])
def test_a_cluster_whose_step_ends_the_daemon_at_each_start_says_so(own_daemon, step, temporary):
    d = own_daemon(config={**QUICK, "local": {"nodes": 1}}, arguments=["--testing"])
    d.expect_log(r"testing\.enabled|daemon\.crashed|work\.(crashed_daemon|refused)|node\.unusable")
    place = temporary(Place(d).make())
    cluster = place.cluster(nodes=1)
    d.environment["BATCHAID_TESTING_FAULT"] = f"abort {step}"
    d.restart()
    wait_for(lambda: any("work.refused" in line for line in d.log()), 60, "the third start to leave it out")
    d.forget_token()
    wait_for(lambda: cluster.properties.get("errors"), 20, "its errors")
    (why,) = cluster.properties["errors"]
    assert why["code"] == "DaemonEndedDuringStep" and "batchaid refused allow" in why["message"], why
    d.environment.clear()
    assert d.tool("refused", "allow", "all").stdout == "1 allowed\n"
    d.restart()
    wait_for(lambda: not cluster.properties.get("errors"), 20, "them to be gone")
    cluster.wait_steady(1)
    place.job(cluster, "true", name="j").succeed()


SEED = """
groups:
  seeded:
    location: eastus
"""


def test_a_seed_that_ends_the_daemon_twice_is_left_out(own_daemon, tmp_path):
    file = tmp_path / "seed.yaml"
    file.write_text(SEED)
    d = own_daemon(
        config=QUICK, arguments=["--testing", "--seed", str(file)],
        environment={"BATCHAID_TESTING_FAULT": "abort request POST*/batchaid/testing/seed*"},
    )  # fmt: skip
    d.expect_log(r"testing\.enabled|daemon\.(crashed|seed_skipped)|work\.crashed_daemon")
    assert put_group(d, "another").status == 201
    assert any("daemon.seed_skipped" in line for line in d.log())
    (refused,) = refusals(d)
    assert "/batchaid/testing/seed" in refused["work"]
    d.environment.clear()
    assert d.tool("refused", "allow", "all").stdout == "1 allowed\n"
    d.restart()
    assert d.call("GET", f"/subscriptions/{d.subscription}/resourcegroups/seeded").status == 200
