# SPDX-License-Identifier: MIT
"""Which jobs there are, by stage. What runs a daemon or the agent runs once, with sanitizers; the release
build runs what people run first (the demo, the published clients, a recipe) and, under valgrind, what
the sanitizers cannot see."""
import atexit
import glob
import os
import shutil
import tempfile

from .job import PYTHON, ROOT, Cmocka, Command, Pytest, Settled

RELEASE = {"BUILD_DIR": "build", "BUILD": "build"}
ASAN = {
    "BUILD_DIR": "build-asan",
    "BUILD": "build-asan",
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:exitcode=99",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:exitcode=99",
    "LSAN_OPTIONS": "suppressions=test/lsan.supp:print_suppressions=0",
}
# Many things at once on few cores: tests wait longer for what must come.
PATIENT = {"BATCHAID_TEST_PATIENCE": os.environ.get("BATCHAID_TEST_PATIENCE", "3")}

# What differs from load 0.5, no claims, 5 seconds: by the beginning of "stage/name".
TRAITS = {
    "fault/test_kill_under_load.py": dict(cost=150, load=0.8),
    "fault/test_kill_at_each_step.py": dict(cost=60),
    "fault/test_rack_": dict(cost=90, load=0.3, claims=("rack",)),
    "e2e/test_rack_": dict(cost=80, load=0.4, claims=("rack",)),
    "e2e/test_machines_page.py": dict(cost=30, claims=("rack",)),
    "e2e/test_containers.py": dict(cost=70, load=0.4, claims=("docker",)),
    "e2e/test_container_mpi.py": dict(cost=130, load=0.8, claims=("docker",)),
    "e2e/test_recipes.py": dict(cost=150, load=0.6, claims=("docker",)),
    "api/test_toolkits.py": dict(cost=20),
    "clients/test_frameworks.py": dict(cost=150),
    "e2e/test_az_": dict(cost=40, load=0.8),
    "clients/test_az_walks.py": dict(cost=150),
    "clients/test_batch_clients.py": dict(cost=120),
    "clients/test_storage_clients.py": dict(cost=190),
    "e2e/test_remote_page.py": dict(cost=30, load=0.8),
}

LAST_OF_API = "test_zz_spec_coverage.py"

# Memcheck sees what the sanitizers do not: reads of memory that was never written, and such memory given
# to system calls. That is a matter of code that computes: parsers, codecs, tables, rows, plans. Programs
# that start agents, sshds and mounts and wait for them run the same code over more slowly; of those of the
# scheduler on fake nodes, test_refusals and test_claims walk what the others do, and with fewer nodes.
VALGRIND = ["valgrind", "-q", "--error-exitcode=99", "--child-silent-after-fork=yes",
            "--suppressions=test/valgrind.supp"]
WAITS = ("account_kills", "accounts", "clock", "crash", "disk_full", "faults", "links", "machine_mounts",
         "machines", "mounts", "queue", "run", "ssh_link", "ssh_look", "ssh_trouble", "stream", "stuck",
         "survival", "task_account", "task_ends", "task_limits", "tasks", "transfer")
ALIKE = ("endings", "large_pool", "silent_machines")
# They open files by openat2(), which valgrind does not know.
UNKNOWN = ("change", "files", "journal", "memory", "packages", "put", "settle", "upload", "walk", "workers")
# Which programs cannot be executed, valgrind decides by itself.
EXECS = ("plain",)


def trait(stage, name):
    found = {}
    for start, values in TRAITS.items():
        if f"{stage}/{name}".startswith(start):
            found.update(values)
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


def pytest(stage, env, folder=None, only=None, **more):
    """A job for each file of a folder: files share no fixtures."""
    folder = folder or f"test/{stage}"
    files = sorted(glob.glob(os.path.join(ROOT, folder, "test_*.py")))
    for file in files:
        name = os.path.basename(file)
        if only is None or name in only:
            yield Pytest(stage, name, [f"{folder}/{name}"], {**env, **PATIENT},
                         **{**trait(stage, name), **more})


def programs(build):
    found = glob.glob(os.path.join(ROOT, build, "unit", "*", "test_*"))
    return sorted(f for f in found if not f.endswith(".d"))


def unit(stage, build, env, wrapper=(), but=(), **more):
    """A job for each unit test program of a build, some apart."""
    for program in programs(build):
        room, name = program.split(os.sep)[-2:]
        if name.removeprefix("test_") not in but:
            own = {"BATCHAI_NODE": os.path.join(ROOT, build, "batchai-node"),
                   "BATCHAID": os.path.join(ROOT, build, "batchaid")}
            yield Cmocka(stage, f"{room}/{name}", [*wrapper, program], {**own, **env, **PATIENT},
                         **{**trait(stage, f"{room}/{name}"), **more})


def make(stage, *targets, **more):
    return Settled(stage, f"make {' '.join(targets)}", ["make", "-s", *targets], RELEASE, **more)


STAGES = {
    "layers": lambda: [make("layers", "check-layers", load=1, cost=9)],
    "source": lambda: [make("source", "check-source", load=1, cost=9)],
    "tidy": lambda: [make("tidy", "tidy", f"JOBS={max(1, (os.cpu_count() or 1) // 2)}",
                          load=max(1, (os.cpu_count() or 1) // 2), cost=500, limit=1800)],
    "tools": lambda: [make("tools", "bench-bins", load=1, cost=15),
                      *pytest("tools", RELEASE, "test/unit/tools", load=1, cost=20)],
    "collect": lambda: [*collect()],
    "fuzz": lambda: [*fuzz()],
    "sim": lambda: [make("sim", "sim", "HISTORIES=10000", load=2, cost=120),
                    *pytest("sim", RELEASE, "test/sim", load=1, cost=30)],
    "unit": lambda: [*unit("unit", "build-asan", ASAN)],
    "valgrind": lambda: [*unit("valgrind", "build", {"BATCHAID_SLOW_TOOL": "valgrind"}, VALGRIND,
                               WAITS + ALIKE + UNKNOWN + EXECS, load=1, cost=12)],
    "cli": lambda: [*pytest("cli", ASAN, "test/unit/daemon")],
    "api": api,
    "e2e": lambda: [*pytest("e2e", ASAN, only=without("e2e", "test_demo.py"))],
    "fault": lambda: [*pytest("fault", ASAN)],
    "demo": lambda: [*pytest("demo", RELEASE, "test/e2e", ("test_demo.py", "test_az_recipe.py", "test_deb_and_image.py",
                                                           "test_examples.py", "test_many_at_once.py"),
                             load=1, cost=60)],
    "clients": lambda: [*pytest("clients", RELEASE, load=0.8, cost=50)],
}


def fuzz():
    """Beside the rest, on what it leaves."""
    for target in sorted(glob.glob(os.path.join(ROOT, "test", "fuzz", "fuzz_*.c"))):
        name = os.path.basename(target).removeprefix("fuzz_").removesuffix(".c")
        yield Settled("fuzz", name, ["nice", "-n", "19", "test/tools/fuzz.sh", name, "30"],
                      load=0.4, cost=35)


def without(folder, *names):
    files = os.listdir(os.path.join(ROOT, "test", folder))
    return [f for f in files if f not in names]


def collect():
    """Every test can be collected, with the published documents beside the tree and without."""
    for name, env in (("with what lies beside the tree", {}),
                      ("with nothing beside the tree", {"BATCHAID_SPEC_DIR": "/nowhere"})):
        yield Settled("collect", name, [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                                        "--collect-only", "test"], {**RELEASE, **env}, load=1, cost=4)
