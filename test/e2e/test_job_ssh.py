# SPDX-License-Identifier: MIT
"""`ssh` inside jobs with several nodes: from node to node, without keys, over the links of the daemon."""

import os
import shutil
import signal
from pathlib import Path

import pytest
from support.daemon import memory_bound
from support.waiting import wait_for
from support.world import MOUNT, wait_flag

HOSTS = 'IFS=, read -r -a H <<<"$AZ_BATCH_HOST_LIST"'
TEMP = "$AZ_BATCHAI_JOB_TEMP"


def run(place, cluster, script, nodes=2, **more):
    return place.job(cluster, f"{HOSTS}\n{script}", nodes=nodes, **more)


def lines(job, name="stdout.txt"):
    return job.read(name).splitlines()


def with_text(text):
    """The processes that have this text among their arguments or in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if text.encode() in (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes():
                found.append(entry.name)
        except OSError:
            pass
    return found


@pytest.fixture
def cluster(place, shared_cluster):
    return shared_cluster


def test_a_command_runs_on_the_other_node(place, cluster):
    """With the node's own variables and directory, as the job's account, for each name that it has."""
    job = run(
        place,
        cluster,
        'show=\'echo $AZ_BATCHAI_TASK_INDEX $PWD $(id -u) $0 "$JOB_SSH_SESSION"\'\n'
        'for h in "${H[1]}" 1 "someone@${H[1]}" "ssh://${H[1]}"; do ssh $h "$show"; done\n'
        'ssh "${H[0]}" "$show"; ssh localhost "$show"; eval "$show"\n'
        "echo ${H[*]} $(cat $AZ_BATCHAI_MPI_HOST_FILE)",
    )
    job.succeed()
    *there, own, own_too, here, hosts = lines(job)
    index, folder, uid, shell = there[0].split()
    assert index == "1" and shell in ("bash", "sh") and set(there) == {there[0]}
    assert own == own_too and own.split()[:3] == here.split()[:3] and own.split()[0] == "0"
    assert own.split()[1] != folder and Path(own.split()[1]).name == Path(folder).name
    assert uid == here.split()[2] and (uid != "0" or os.geteuid() != 0)
    (first, second), slots = hosts.split()[:2], f"slots={os.cpu_count()}"
    assert first != second and hosts.split()[2:] == [first, slots, second, slots]


def test_no_other_machine(place, cluster, daemon):
    job = run(place, cluster, 'ssh -q elsewhere hostname </dev/null; echo "code $?"; exit 3')
    job.fail()
    assert lines(job) == ["code 255"]
    said = job.read("stderr.txt")
    assert "elsewhere: no node of this job has this name; its nodes: " in said
    assert "127.64." in said


def test_exit_codes_and_signals(place, cluster):
    script = (
        'for c in "exit 7" "kill -9 \\$\\$" "kill -TERM \\$\\$" true "no-such-command" "echo lost >&2; exit 1"; do\n'
        'ssh -x -n "${H[1]}" "$c"; echo $?; done'
    )
    job = run(place, cluster, script).succeeded()
    assert lines(job) == ["7", str(128 + signal.SIGKILL), str(128 + signal.SIGTERM), "0", "127", "1"]
    assert "lost" in lines(job, "stderr.txt")


def test_options_of_scripts(place, cluster):
    script = (
        'ssh -o StrictHostKeyChecking=no -oBatchMode=yes -p 2222 -l root -i /no/key -q -x -T -tt -n "${H[1]}" '
        "-o X=Y -- echo one two '  three'\n"
        'echo "echo from input; exit 4" | ssh "${H[1]}"; echo $?\n'
        'ssh -L 1:a:2 "${H[1]}" true; echo $?; ssh -o; echo $?; ssh; echo $?; ssh -Z "${H[1]}"; echo $?'
    )
    job = run(place, cluster, script).succeeded()
    assert lines(job) == ["one two three", "from input", "4", "255", "255", "255", "255"]
    said = job.read("stderr.txt")
    assert "tunnels" in said and "usage: ssh" in said and "does not know this option" in said


def test_files_are_copied(place, cluster):
    """By programs that call ssh: the far side is an sftp-server, or another of themselves."""
    script = (
        "cd $AZ_BATCHAI_JOB_TEMP; there=$(ssh 1 pwd); head -c 3000000 /dev/urandom > data\n"
        "printf 'put data %s/by-sftp\\nget %s/by-sftp back\\n' $there $there | sftp -q -S ssh -b - 1 >/dev/null; echo $?\n"
        "cmp data back && echo same\n"
        "rm back; scp -q -S ssh data 1:$there/by-scp; scp -q -S ssh 1:$there/by-scp back; cmp data back && echo same\n"
    )
    if shutil.which("rsync"):
        script += 'rm back; rsync data 1:$there/by-rsync && rsync 1:$there/by-rsync back && cmp data back && echo same'
    job = run(place, cluster, script).succeeded()
    assert lines(job) == ["0", *["same"] * (3 if shutil.which("rsync") else 2)], job.read("stderr.txt")


def test_output_waits_for_a_reader_that_made_it_non_blocking(place, cluster):
    non_blocking = "import fcntl, os; fcntl.fcntl(1, fcntl.F_SETFL, fcntl.fcntl(1, fcntl.F_GETFL) | os.O_NONBLOCK)"
    job = run(place, cluster, f'(python3 -c "{non_blocking}"; ssh 1 head -c 3000000 /dev/zero) | (sleep 1; wc -c)')
    job.succeed()
    assert lines(job) == ["3000000"], job.read("stderr.txt")


def test_much_data_both_ways(place, cluster):
    """10 MB of input and of both outputs arrive as they were."""
    script = (
        "cd $AZ_BATCHAI_JOB_TEMP; head -c 10000000 /dev/urandom > data; sum=$(sha256sum < data)\n"
        '[ "$(ssh "${H[1]}" sha256sum < data)" = "$sum" ] && echo in\n'
        '[ "$(ssh "${H[1]}" cat < data | sha256sum)" = "$sum" ] && echo back\n'
        "ssh \"${H[1]}\" 'head -c 3000000 /dev/zero >&2 & head -c 5000000 /dev/zero; wait' > out 2> err\n"
        "wc -c < out; wc -c < err\n"
        "ssh \"${H[1]}\" 'head -c 5' < data | wc -c\n"
        "rm data out err"
    )
    job = run(place, cluster, script).succeeded(limit=60)
    assert lines(job) == ["in", "back", "5000000", "3000000", "5"]


def test_endless_output_does_no_harm(own_place, daemon):
    """It goes as fast as it is read: neither the daemon's memory grows, nor do others wait."""
    cluster = own_place.cluster(nodes=3)
    before = daemon.resident()
    flag, path = own_place.flag("read")
    script = (
        f"ssh \"${{H[1]}}\" yes > /dev/null & a=$!\n"
        f"ssh \"${{H[1]}}\" yes | (read x; {wait_flag(path)}; read y; echo $x $y) & b=$!\n"
        f"wait $b; kill $a; wait $a; echo $?"
    )
    job = run(own_place, cluster, script)
    job.wait("running")
    other = own_place.job(cluster, "echo beside").succeeded()
    grown = daemon.resident() - before
    flag.touch()
    job.succeed(limit=60)
    assert lines(job) == ["y y", str(128 + signal.SIGTERM)]
    assert grown < memory_bound(64 << 20)


def test_the_command_ends_with_its_ssh(place, cluster):
    """... and what it left behind with the job."""
    flag, path = place.flag("go-on")
    script = (
        'ssh "${H[1]}" "sleep 7654321 & sleep 7654322" & pid=$!\n'
        "ssh \"${H[1]}\" 'setsid sleep 7654323 >/dev/null 2>&1 & echo left $!'\n"
        f"echo up; {wait_flag(path)}; kill -9 $pid; wait $pid; {wait_flag(path + '2')}"
    )
    job = run(place, cluster, script)
    wait_for(lambda: all(with_text(f"sleep\x00765432{i}") for i in (1, 2, 3)), what="three sleeps")
    flag.touch()
    wait_for(lambda: not with_text("sleep\x007654321") and not with_text("sleep\x007654322"), 30, "their end")
    assert with_text("sleep\x007654323")
    flag.with_name("go-on2").touch()
    job.succeed()
    wait_for(lambda: not with_text("sleep\x007654323"), what="the end of what was left behind")


def test_a_terminated_job_leaves_nothing_anywhere(place, cluster):
    """SIGTERM reaches the commands on other nodes too, as long as the job's own process goes on."""
    up, got = place.share() / "term-up", place.share() / "term-got"
    script = (
        f"trap 'until [ -e {MOUNT}/term-got ]; do sleep 0.05; done; exit 1' TERM\n"
        f"ssh \"${{H[1]}}\" 'trap \"touch {MOUNT}/term-got\" TERM; touch {MOUNT}/term-up; "
        "while :; do sleep 0.1; done' &\n"
        'ssh "${H[1]}" sleep 8765432 & wait; sleep 100'
    )
    job = run(place, cluster, script)
    wait_for(lambda: up.exists() and with_text("sleep\x008765432"), what="the commands")
    job.terminate()
    job.wait("failed", limit=30)
    wait_for(lambda: not with_text("sleep\x008765432"), what="the end of all")
    assert got.exists()
    wait_for(lambda: cluster.counts()["idleNodeCount"] == 2, what="idle nodes")


def test_nodes_reach_each_other_all_ways(own_place):
    """Each of three asks the next, which asks the next: from the far end of a command too."""
    cluster = own_place.cluster(nodes=3)
    job = run(own_place, cluster, "ssh 1 ssh 2 ssh 0 ssh 1 printenv AZ_BATCHAI_TASK_INDEX", nodes=3)
    job.succeed()
    assert lines(job) == ["1"]


def test_a_job_with_one_node_has_the_machines_own_ssh(place, cluster):
    job = place.job(cluster, "command -v ssh; echo ${JOB_SSH_SOCKET-none}; echo $AZ_BATCH_HOST_LIST")
    job.succeed()
    assert "/ssh/bin" not in job.read("stdout.txt")
    assert lines(job)[-2:] == ["none", "127.0.0.1"]


def test_sessions_go_on_over_a_restart_of_the_daemon(own_daemon):
    """Nothing is lost and nothing comes twice, while links break and the daemon is killed."""
    from support.world import Place

    d = own_daemon()
    place = Place(d).make()
    cluster = place.cluster(nodes=2)
    flag, path = place.flag("enough")
    script = (
        f"ssh \"${{H[1]}}\" 'i=0; while [ ! -e {path} ]; do echo $i; i=$((i+1)); sleep 0.01; done; exit 5' > {TEMP}/out\n"
        f"echo code $?; wc -l < {TEMP}/out; sort -n -u {TEMP}/out | wc -l; tail -1 {TEMP}/out"
    )
    job = run(place, cluster, script)
    out = lambda: next(iter(d.dir.glob("**/jobs/*/out")), None)
    written = lambda: out().stat().st_size if out() else 0
    wait_for(lambda: written() > 100, what="output")
    for _ in range(2):
        d.crash()
        before = written()
        wait_for(lambda: written() > before + 100, 30, "more output")
    flag.touch()
    job.succeed()
    code, n, different, last = lines(job)
    assert code == "code 5" and n == different and int(last) == int(n) - 1
