# SPDX-License-Identifier: MIT
"""Which jobs there are, by stage. What runs a daemon or the agent runs once, with sanitizers; the release
build runs what people run first (the demo, the published clients, a recipe) and, under valgrind, what
the sanitizers cannot see."""
import atexit
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

from .job import PYTHON, ROOT, Cmocka, Command, Pytest, Reported, Settled

sys.path.insert(0, os.path.join(ROOT, "test", "tools"))
import chosen  # noqa: E402

RELEASE = {"BUILD_DIR": "build", "BUILD": "build"}
ASAN = {
    "BUILD_DIR": "build-asan",
    "BUILD": "build-asan",
    # Freed memory stays with the sanitizer for 16 MB of further frees (256 by default): tests bound the memory of daemons.
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:exitcode=99:quarantine_size_mb=16:thread_local_quarantine_size_kb=64",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:exitcode=99",
    "LSAN_OPTIONS": "suppressions=test/lsan.supp:print_suppressions=0",
}
TSAN = {
    "BUILD_DIR": "build-tsan",
    "BUILD": "build-tsan",
    "TSAN_OPTIONS": "halt_on_error=0:exitcode=99:second_deadlock_stack=1:suppressions=test/tsan.supp:print_suppressions=0",
}
# Many things at once on few cores: tests wait longer for what must come.
PATIENT = {"BATCHAID_TEST_PATIENCE": os.environ.get("BATCHAID_TEST_PATIENCE", "3")}

# What differs from load 0.5, no claims, 5 seconds: by the beginning of "stage/name".
TRAITS = {
    "fault/test_kill_under_load.py": dict(cost=150, load=0.8),
    "fault/test_kill_at_each_step.py": dict(cost=60),
    "fault/test_damaged_rows.py": dict(cost=120, limit=2400),
    "fault/test_blob_writes_killed.py": dict(cost=150, load=0.4),
    "e2e/test_batch_containers.py": dict(cost=230, load=0.3),
    "fault/test_rack_": dict(cost=90, load=0.3, claims=("rack",)),
    "e2e/test_python_jobs.py": dict(cost=30),
    "e2e/test_rack_": dict(cost=80, load=0.4, claims=("rack",)),
    "e2e/test_machines_page.py": dict(cost=30, claims=("rack",)),
    "e2e/test_containers.py": dict(cost=70, load=0.4, claims=("docker",)),
    "e2e/test_container_mpi.py": dict(cost=130, load=0.8, claims=("docker",)),
    "e2e/test_recipes.py": dict(cost=150, load=0.6, claims=("docker",)),
    "api/test_toolkits.py": dict(cost=20),
    # Accounts are the machine's: a job of one name has one on all nodes, and keeps it until the last gives it back.
    "unit/nodeagent-proto/link/test_job_account": dict(claims=("accounts",)),
    "unit/nodeagent-proto/link/test_chosen_numbers": dict(claims=("accounts",)),
    "unit/nodeagent-proto/link/test_job_directory": dict(claims=("accounts",)),
    "valgrind/nodeagent-proto/link/test_job_account": dict(claims=("accounts",)),
    "valgrind/nodeagent-proto/link/test_chosen_numbers": dict(claims=("accounts",)),
    "valgrind/nodeagent-proto/link/test_job_directory": dict(claims=("accounts",)),
    "clients/test_first_tests.py": dict(cost=120, claims=("docker",)),
    "clients/test_frameworks.py": dict(cost=150),
    "clients/test_recipes_in_containers.py": dict(cost=190, claims=("docker",)),
    "e2e/test_container_users.py": dict(cost=90, claims=("docker",)),
    "e2e/test_az_": dict(cost=40, load=0.8),
    "e2e/test_az_old_walks.py": dict(cost=150, load=0.8),
    "clients/test_az_walks.py": dict(cost=150),
    "clients/test_batch_clients.py": dict(cost=120),
    "clients/test_storage_clients.py": dict(cost=190),
    "clients/test_pinned_walks.py": dict(cost=400, limit=4800),
    "demo/test_portable.py": dict(cost=300, limit=2400),
    "clients/test_terraform.py": dict(cost=500, limit=9000),
    "e2e/test_remote_page.py": dict(cost=30, load=0.8),
}

# What only `make check-deep` runs, by the beginning of "stage/name", and why: what its like in the check shows as
# well, what takes minutes of downloads, what looks for the unknown instead of guarding the known.
DEEP = {
    "browser/test_accessible": "a rule book of others, from npm",
    "clients/test_a": "the az of Debian takes the same ways in e2e",
    "clients/test_batch_": "clients of more languages; those of Python and Node stand for them",
    "clients/test_blob_features": "api/test_find_blobs and its like ask the same",
    "clients/test_first_tests": "packages of all kinds, which are made first",
    "clients/test_frameworks": "clients of more languages; those of Python and Node stand for them",
    "clients/test_go": "clients of more languages; those of Python and Node stand for them",
    "clients/test_java": "clients of more languages; those of Python and Node stand for them",
    "clients/test_keyvault": "the az of Debian takes the same ways in e2e",
    "clients/test_page": "clients of more languages; those of Python and Node stand for them",
    "clients/test_pinned": "clients of more languages; those of Python and Node stand for them",
    "clients/test_recipes": "the recipes run in e2e; here in images of containers",
    "clients/test_remote_az": "the az of Debian takes the same ways in e2e",
    "clients/test_sdk_": "suites of others, which take minutes",
    "clients/test_storage_": "clients of more languages; those of Python and Node stand for them",
    "clients/test_terraform": "its programs take an hour of a core to build",
    "demo/test_az_recipe": "e2e runs it with sanitizers",
    "demo/test_deb_and_image": "packages and images of Debian",
    "demo/test_examples": "e2e runs them with sanitizers",
    "demo/test_licences": "packages of all kinds, which are made first",
    "demo/test_portable": "bare trees of Debian, a cross build",
    "demo/test_many_at_once": "e2e runs it with sanitizers",
    "newest/": "releases change without us; those that are pinned decide",
    "e2e/test_az_old_walks": "a hundred commands; test_az_old has the forms",
    "fuzz/": "looks for inputs that nobody has thought of; the check replays those that were found",
    "faults/": "runs the checks again, on copies that have a fault",
    "threads/": "every program with threads; the check runs those of transfers, folders, journal and watchdog",
}

# How many seeded faults one `make check-deep` tries: a few minutes each. `make faults` tries all.
SAMPLE = 4
LAST_OF_API = "test_zz_spec_coverage.py"

# Memcheck sees what the sanitizers do not: reads of memory that was never written, and such memory given
# to system calls. That is a matter of code that computes: parsers, codecs, tables, rows, plans. Programs
# that start agents, sshds and mounts and wait for them run the same code over more slowly; of those of the
# scheduler on fake nodes, test_refusals and test_claims walk what the others do, and with fewer nodes.
VALGRIND = ["valgrind", "-q", "--error-exitcode=99", "--child-silent-after-fork=yes",
            "--suppressions=test/valgrind.supp"]
WAITS = ("nodeagent-proto/link/test_account_kills", "nodeagent-proto/link/test_accounts",
         "nodeagent-proto/link/test_disk_full", "nodeagent-proto/link/test_mounts",
         "nodeagent-proto/link/test_ssh_link", "nodeagent-proto/link/test_ssh_look",
         "nodeagent-proto/link/test_ssh_trouble", "nodeagent-proto/link/test_survival",
         "nodeagent-proto/link/test_task_account", "nodeagent-proto/link/test_task_ends",
         "nodeagent-proto/link/test_task_limits", "nodeagent-proto/link/test_tasks", "scheduler/test_clock",
         "scheduler/test_crash", "scheduler/test_faults", "scheduler/test_links", "scheduler/test_machine_mounts",
         "scheduler/test_machines", "scheduler/test_mounts", "scheduler/test_queue", "scheduler/test_run",
         "scheduler/test_stuck", "scheduler/fleet/transfer/test_many", "scheduler/fleet/transfer/test_transfer",
         "api/http/test_stream")
ALIKE = ("scheduler/test_endings", "scheduler/test_large_pool", "scheduler/test_silent_machines")
# They open files by openat2(), which valgrind does not know.
UNKNOWN = ("storage/folders/test_change", "storage/folders/test_files", "storage/folders/test_memory",
           "storage/folders/test_settle", "storage/folders/test_threads", "storage/folders/test_upload",
           "storage/folders/test_vanishing", "storage/folders/test_walk", "storage/folders/test_workers",
           "storage/shares/test_journal", "storage/shares/test_journal_growth", "scheduler/fleet/test_put",
           "scheduler/front/batch/test_packages")
# Which programs cannot be executed, valgrind decides by itself.
EXECS = ("nodeagent-proto/agent/test_plain",)
NOT_BY_VALGRIND = (*WAITS, *ALIKE, *UNKNOWN, *EXECS)

# With ThreadSanitizer: what gives all threads of a daemon something to do.
THREADED_DAEMONS = ("test_backup.py", "test_batch_output_files.py", "test_batch_packages.py", "test_batch_resource_urls.py",
                    "test_blob_blocks.py", "test_blobs.py", "test_jobs.py", "test_people.py", "test_share_contents.py",
                    "test_shares.py")


def trait(stage, name):
    found = {}
    for start, values in TRAITS.items():
        if f"{stage}/{name}".startswith(start):
            found.update(values)
    for start, why in DEEP.items():
        if f"{stage}/{name}".startswith(start):
            found["deep"] = why
    return found


def api():
    """Its last file judges what all others have heard, each in a process of its own; a file that is run
    again leaves its part again."""
    judges = {"BATCHAID_JUDGES": tempfile.mkdtemp(prefix="batchaid-judges-")}
    atexit.register(shutil.rmtree, judges["BATCHAID_JUDGES"], ignore_errors=True)
    jobs = list(pytest("api", {**ASAN, **judges}))
    last = next(j for j in jobs if j.name == LAST_OF_API)
    last.after = tuple(j.key for j in jobs if j is not last)
    return jobs


def pytest(stage, env, folder=None, only=None, kind=Pytest, **more):
    """A job for each file of a folder: files share no fixtures."""
    folder = folder or f"test/{stage}"
    files = sorted(glob.glob(os.path.join(ROOT, folder, "test_*.py")))
    for file in files:
        name = os.path.basename(file)
        if only is None or name in only:
            yield kind(stage, name, [f"{folder}/{name}"], {**env, **PATIENT},
                         **{**trait(stage, name), **more})


def programs(build):
    """(ROOM/test_NAME, path) of each."""
    top = os.path.join(ROOT, build, "unit")
    found = glob.glob(os.path.join(top, "**", "test_*"), recursive=True)
    return sorted((os.path.relpath(f, top), f) for f in found if not f.endswith(".d"))


def unit(stage, build, env, wrapper=(), but=(), only=None, **more):
    """A job for each unit test program of a build, some apart; or only those."""
    for name, program in programs(build):
        if name not in but and (only is None or name in only):
            own = {"BATCHAI_NODE": os.path.join(ROOT, build, "batchai-node"),
                   "BATCHAID": os.path.join(ROOT, build, "batchaid")}
            yield Cmocka(stage, name, [*wrapper, program], {**own, **env, **PATIENT},
                         **{**trait(stage, name), **more})


def make(stage, *targets, **more):
    return Settled(stage, f"make {' '.join(targets)}", ["make", "-s", *targets], RELEASE, **more)


STAGES = {
    "layers": lambda: [make("layers", "check-layers", load=1, cost=9)],
    "source": lambda: [make("source", "check-source", load=1, cost=9)],
    "tidy": lambda: [*tidy()],
    "tools": lambda: [make("tools", "bench-bins", load=1, cost=15),
                      *pytest("tools", RELEASE, "test/unit/tools", load=1, cost=20)],
    "collect": lambda: [*collect()],
    "replay": lambda: [*replay()],
    "fuzz": lambda: [*fuzz()],
    "sim": lambda: [*sim()],
    "unit": lambda: [*unit("unit", "build-asan", ASAN)],
    "tsan": lambda: [*unit("tsan", "build-tsan", TSAN, only=chosen.threads_of_check(), load=1, cost=20)],
    "valgrind": lambda: [*valgrind()],
    "cli": lambda: [*pytest("cli", ASAN, "test/unit/daemon")],
    "api": api,
    "e2e": lambda: [*pytest("e2e", ASAN, only=without("e2e", "test_demo.py"))],
    "fault": lambda: [*pytest("fault", ASAN)],
    "browser": lambda: [*pytest("browser", ASAN, load=0.9, cost=60)],
    "demo": lambda: [*pytest("demo", RELEASE, "test/e2e", ("test_demo.py", "test_az_recipe.py", "test_deb_and_image.py",
                                                           "test_examples.py", "test_licences.py", "test_many_at_once.py",
                                                           "test_portable.py"),
                             load=1, cost=60)],
    "clients": lambda: [*pytest("clients", RELEASE, load=0.8, cost=50)],
    "newest": lambda: [*pytest("newest", RELEASE, "test/clients/newest", kind=Reported, load=0.8, cost=600, limit=3600)],
    "bench": lambda: [*bench()],
    "threads": lambda: [*unit("threads", "build-tsan", TSAN, only=chosen.threads(), load=1, cost=20),
                        *pytest("threads", TSAN, "test/api", THREADED_DAEMONS, load=1, cost=120)],
    "faults": lambda: [*faults()],
}


def bench():
    """Each measurement once, at its smallest: that it runs, not how fast. One at a time, as they use fixed addresses."""
    with open(os.path.join(ROOT, "test", "bench", "run.py"), encoding="utf-8") as f:
        names = re.findall(r'^    "([a-z-]+)": \w+\.measure', f.read(), re.M)
    for name in names:
        yield Command("bench", name, [PYTHON, "test/bench/run.py", "--only", name],
                      {**RELEASE, "BENCH_SIZE": "smallest"}, claims=("bench",), load=0.8, cost=8)


def fuzz():
    """Beside the rest, on what it leaves."""
    for target in sorted(glob.glob(os.path.join(ROOT, "test", "fuzz", "fuzz_*.c"))):
        name = os.path.basename(target).removeprefix("fuzz_").removesuffix(".c")
        yield Settled("fuzz", name, ["nice", "-n", "19", "test/tools/fuzz.sh", name, "30"],
                      load=0.4, cost=35, **trait("fuzz", name))


def replay():
    """What was found by fuzzing once, and the seeds of each target."""
    for target in sorted(glob.glob(os.path.join(ROOT, "test", "fuzz", "fuzz_*.c"))):
        name = os.path.basename(target).removeprefix("fuzz_").removesuffix(".c")
        yield Settled("replay", name, [f"build-asan/replay/{name}", f"test/fuzz/corpus/{name}"], ASAN, cost=1)


def tidy():
    half = max(1, (os.cpu_count() or 1) // 2)
    yield make("tidy", "tidy-changed", f"JOBS={half}", load=half, cost=100, limit=1800)
    yield make("tidy", "tidy", f"JOBS={half}", load=half, cost=500, limit=1800, after=(f"tidy: make tidy-changed JOBS={half}",),
               deep="sources that have not changed since all were clean")


def commit_number():
    """A seed that is another for each commit, and the same for the same."""
    head = subprocess.run(["git", "rev-parse", "--short=7", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return int(head.stdout, 16) if head.returncode == 0 else 1


def sim():
    """Other histories for each commit: a failure names its seed."""
    yield make("sim", "sim", "HISTORIES=3000", f"SEED={commit_number()}", load=2, cost=40)
    yield make("sim", "sim", "HISTORIES=40000", load=2, cost=2000, limit=5400, deep="40,000 histories")
    yield from pytest("sim", RELEASE, "test/sim", load=1, cost=30)


def valgrind():
    of_check = chosen.computing()
    for job in unit("valgrind", "build", {"BATCHAID_SLOW_TOOL": "valgrind"}, VALGRIND,
                    NOT_BY_VALGRIND, load=1, cost=12):
        job.deep = "" if job.name in of_check else "the check runs the rooms that compute"
        yield job


def faults():
    """Last, and beside nothing: it runs checks of its own. A failure names the fault and the seed."""
    seed = commit_number()
    yield Settled("faults", f"{SAMPLE} by seed {seed}", [PYTHON, "test/tools/seeded_faults.py", f"--sample={SAMPLE}", f"--seed={seed}"],
                  claims=("whole machine",), load=1, cost=0, limit=5400, **trait("faults", ""))


def without(folder, *names):
    files = os.listdir(os.path.join(ROOT, "test", folder))
    return [f for f in files if f not in names]


def collect():
    """Every test can be collected, with the published documents beside the tree and without."""
    for name, env in (("with what lies beside the tree", {}),
                      ("with nothing beside the tree", {"BATCHAID_SPEC_DIR": "/nowhere"})):
        yield Settled("collect", name, [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                                        "--collect-only", "test"], {**RELEASE, **env}, load=1, cost=4)
