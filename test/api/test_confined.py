# SPDX-License-Identifier: MIT
"""Jobs that run as the daemon's own user are kept from its files as soon as somebody else may log in."""

import ctypes

import pytest
from support.batch import BatchGround
from support.batch_jobs import Jobs, add_pool
from support.people import SUBMITTER, Person
from support.someone import SomeonesDaemon
from support.world import MOUNT, Place, job_body

CREATE_RULESET = 444  # the same everywhere
LANDLOCK = ctypes.CDLL(None, use_errno=True).syscall(CREATE_RULESET, None, 0, 1)
pytestmark = pytest.mark.skipif(LANDLOCK <= 0, reason="the kernel has no Landlock")

# Each line must fail; what it says is not read.
REFUSED = """
cat $S/token.key
cp $S/batchaid.db copy.db
cat $S/credentials.json
touch $S/new
mkdir $S/new
rm $S/endpoint
mv $S/token.key $S/other
ln $S/token.key hard
cp /bin/true $S/nodes/true
cat $S/storage/acct/files/other/theirs
cat /proc/$D/environ
cat /proc/$D/root$S/token.key
cat /proc/$D/cwd/state/token.key
readlink /proc/$D/fd/0
cat /proc/$A/environ
readlink /proc/$PPID/fd/0
"""
ALLOWED = """
echo 1 >own
echo 1 >$AZ_BATCHAI_MOUNT_ROOT/out/own
echo 1 >$AZ_BATCHAI_OUTPUT_MODELS/own
ls / >/dev/null
python3 -c 'import multiprocessing as m; m.Semaphore()'
sleep 100 & kill $!
ps >/dev/null
"""


def trials(daemon, agent):
    lines = [f"export S={daemon.state_dir} D={daemon.process.pid} A={agent}"]
    for kind, text in (("refused", REFUSED), ("allowed", ALLOWED)):
        for line in text.strip().splitlines():
            lines.append(f"if {{ {line}; }} >>why 2>&1; then echo yes {kind} '{line.replace(chr(39), chr(34))}'; else echo no {kind} "
                         f"'{line.replace(chr(39), chr(34))}'; fi")  # fmt: skip
    if LANDLOCK >= 6:
        lines.append("if kill -0 $D 2>>why; then echo yes refused kill; else echo no refused kill; fi")
    return "\n".join(lines)


def wrong(said):
    """The lines that went otherwise than they should."""
    lines = said.splitlines()
    assert len(lines) >= len((REFUSED.strip() + ALLOWED).splitlines()), said
    return [line for line in lines if not line.startswith(("no refused", "yes allowed"))]


@pytest.fixture(scope="module")
def shared():
    with SomeonesDaemon() as d:
        yield d


@pytest.fixture(scope="module")
def place(shared):
    made = Place(shared).make()
    yield made
    made.remove()


@pytest.fixture(scope="module")
def cluster(shared, place):
    other = shared.share("acct", "other")
    (other / "theirs").write_text("secret")
    (other / "theirs").chmod(0o666)
    return place.cluster(2)


def agent_of(daemon):
    """The process id of a local node's agent."""
    with open(f"/proc/{daemon.process.pid}/task/{daemon.process.pid}/children") as f:
        pids = f.read().split()
    return next(p for p in pids if "--root" in open(f"/proc/{p}/cmdline").read())


def run(who, place, cluster, command, name, nodes=1, **more):
    experiment = place.path + f"/experiments/{who.name.split('@')[0]}"
    who.call("PUT", experiment, {}, expect=(200, 202))
    models = [{"id": "MODELS", "pathPrefix": MOUNT, "pathSuffix": "models"}]
    body = job_body(cluster.id, command, nodes, outputDirectories=models, **more)
    who.call("PUT", f"{experiment}/jobs/{name}", body, expect=202)
    job = type(place.job(cluster))(place.daemon, f"{experiment}/jobs/{name}")
    job.wait("succeeded", "failed")
    return job


def test_with_one_person_nothing_is_hidden(shared, place, cluster):
    job = place.job(cluster, f"cmp {shared.state_dir}/token.key {shared.state_dir}/token.key && sudo -h >/dev/null; true")
    job.succeed()
    job = place.job(cluster, f"sha256sum <{shared.state_dir}/token.key").succeeded()
    assert len(job.read("stdout.txt").split()[0]) == 64


@pytest.fixture(scope="module")
def ada(shared, place, cluster):
    made = Person(shared, SUBMITTER, place.group_path)
    yield made
    made.remove()


def test_a_job_reaches_its_own_and_nothing_of_the_daemons(shared, place, cluster, ada):
    job = run(ada, place, cluster, trials(shared, agent_of(shared)), "spy")
    assert job.state == "succeeded", job.properties
    assert wrong(job.read("stdout.txt")) == []


def test_so_do_those_of_the_first_principal_and_their_preparation(shared, place, cluster, ada):
    preparation = {"commandLine": f"cat {shared.state_dir}/token.key && touch got; true"}
    job = place.job(cluster, f"test ! -e got && ! cat {shared.state_dir}/token.key", jobPreparation=preparation)
    job.succeed()


def test_commands_on_other_nodes_are_confined_too(shared, place, cluster, ada):
    command = f"""for h in $AZ_BATCHAI_WORKER_HOSTS; do :; done
        ssh $(sed -n 2p $AZ_BATCHAI_MPI_HOST_FILE | cut -d' ' -f1) "echo there; cat {shared.state_dir}/token.key; true" """
    job = run(ada, place, cluster, command, "far", nodes=2)
    assert job.state == "succeeded" and job.read("stdout.txt") == "there\n", job.properties


def entries(daemon):
    """Of the state directory; the history of samples comes with the first."""
    return {path for path in daemon.state_dir.iterdir() if not path.name.startswith("samples.db")}


def test_links_into_the_state_directory_show_and_write_nothing(shared, place, cluster, ada):
    """The daemon and the agents may reach what the job may not."""
    secret = shared.state_dir / "a-secret"
    secret.write_text("not for jobs")
    secret.chmod(0o644)
    before = entries(shared)
    command = f"""cd $AZ_BATCHAI_STDOUTERR_DIR
        for f in key.txt $AZ_BATCHAI_OUTPUT_MODELS/key.txt; do ln -s {secret} $f; done
        ln -s {shared.state_dir} $AZ_BATCHAI_OUTPUT_MODELS/all
        for f in *.log; do rm $f; ln -s {shared.state_dir}/written-$f $f; done
        rm stderr.txt; ln -s {secret} stderr.txt; exit 3"""
    job = run(ada, place, cluster, command, "links")
    assert job.state == "failed"
    seen = str(job.properties["executionInfo"]).encode()
    for directory, more in (("stdouterr", {}), ("MODELS", {}), ("MODELS", {"directory": "all"})):
        reply = job.files(directory, expect=None, **more)
        for file in reply.json["value"] if reply.status == 200 else ():
            url = file.get("downloadUrl")
            seen += file["name"].encode() + (shared.session().get(url).content if url else b"")
    assert b"not for jobs" not in seen and b"batchaid.db" not in seen, seen
    assert entries(shared) == before
    shared.expect_log(r"node\.step_failed .*write execution\.log")


def test_start_tasks_and_tasks_of_batch_are_confined(shared, ada, temporary):
    g = temporary(BatchGround(shared))
    key = f"{shared.state_dir}/token.key"
    start = {"commandLine": f"/bin/sh -c '! cat {key} && echo 1 >$AZ_BATCH_NODE_SHARED_DIR/begun'", "waitForSuccess": True}
    add_pool(g.plane, "p", targetDedicatedNodes=1, startTask=start)
    jobs = temporary(Jobs(g.plane, "p"))
    jobs().good(f"/bin/sh -c '! cat {key} && cat $AZ_BATCH_NODE_SHARED_DIR/begun'")
