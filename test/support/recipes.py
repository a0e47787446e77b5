# SPDX-License-Identifier: MIT
"""Jobs as the published recipes have them, with stand-ins for what they train with: a script that tells who it is,
and programs of the names that the frameworks' images have. Which processes a document asks for is said here a second
time, in the words of docs/toolkits.md."""

import json
import os
import shlex
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

ACCOUNT = "recipestorage"
PUBLISHED = Path(os.environ.get("BATCHAID_RECIPES_DIR", Path(__file__).parents[3] / "shared" / "recipes"))
RECIPES = sorted(p.name for p in PUBLISHED.glob("*.json"))

# Tells its arguments, variables, image, and what prepared its node. The master of several waits until all others have
# told theirs, because they are ended with it.
TRAINER = r"""
echo BEGIN
echo "PROGRAM $0"
for a in "$@"; do printf 'ARG %s\n' "$a"; done
env | sed 's/^/ENV /'
[ ! -e /etc/image ] || sed 's/^/IMAGE /' /etc/image
[ ! -e "$AZ_BATCHAI_JOB_TEMP/prepared" ] || sed 's/^/PREPARED /' "$AZ_BATCHAI_JOB_TEMP/prepared"
echo END
told=$AZ_BATCHAI_SHARED_JOB_TEMP/told
case $TF_CONFIG in
*'"type":"chief"'*)
    others=$(($(echo "$AZ_BATCHAI_PS_HOSTS,$AZ_BATCHAI_WORKER_HOSTS" | tr , '\n' | grep -c :) - 1))
    until [ "$(ls "$told" 2>/dev/null | wc -l)" -ge "$others" ]; do sleep 0.1; done ;;
*'"type":"ps"'*) mkdir -p "$told"; : >"$told/ps-$AZ_BATCHAI_TASK_INDEX" ;;
*'"type":"worker"'*) mkdir -p "$told"; : >"$told/worker-$AZ_BATCHAI_TASK_INDEX" ;;
esac
"""

# Runs the ranks here, one after the other, and tells how it was called: up to the shell that is a rank.
MPIRUN = r"""#!/bin/sh
[ "$1" != --version ] || { echo "mpirun (Open MPI) 4.1.4"; exit 0; }
n=$2 options= hosts=
while [ "$1" != /bin/sh ]; do
    [ "$1" != --hostfile ] || hosts=$2
    options="$options $1"
    shift
done
echo "MPIRUN$options"
[ -z "$hosts" ] || sed 's/^/HOST /' "$hosts"
export OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE="$n"
while [ "$OMPI_COMM_WORLD_RANK" -lt "$n" ]; do
    "$@" || exit
    OMPI_COMM_WORLD_RANK=$((OMPI_COMM_WORLD_RANK + 1)) OMPI_COMM_WORLD_LOCAL_RANK=$((OMPI_COMM_WORLD_LOCAL_RANK + 1))
done
"""

INSTALLER = '#!/bin/sh\necho "${0##*/} $*" >>"$AZ_BATCHAI_JOB_TEMP/prepared"\n'

# By name; a script for Python is one for the shell.
PROGRAMS = {
    "python": '#!/bin/sh\n[ "$1" != -u ] || shift\nexec /bin/sh "$@"\n',
    "bash": '#!/bin/sh\nexec /bin/sh "$@"\n',
    "cntk": "#!/bin/sh\n" + TRAINER,
    "caffe": "#!/bin/sh\n" + TRAINER,
    "mpirun": MPIRUN,
    "apt": INSTALLER,
    "pip": INSTALLER,
}

# What a recipe's own preparation does: it says so, and puts the benchmarks, which it would fetch, where the job looks.
PREPARATION = """
echo "bash $0" >>"$AZ_BATCHAI_JOB_TEMP/prepared"
mkdir -p "$AZ_BATCHAI_JOB_TEMP/benchmarks/scripts/tf_cnn_benchmarks"
cp "$(dirname "$0")/../trainer" "$AZ_BATCHAI_JOB_TEMP/benchmarks/scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py"
"""

MOUNTED = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/"


def images():
    """Those that the recipes name."""
    for recipe in RECIPES:
        properties = json.loads((PUBLISHED / recipe).read_text())["properties"]
        yield properties["containerSettings"]["imageSourceRegistry"]["image"]


def files_of(properties):
    """What the share `scripts` has for this job: path -> text."""
    texts = str(properties)
    found = {"trainer": TRAINER}
    for word in texts.replace("'", " ").replace('"', " ").split():
        if word.startswith(MOUNTED) and word.endswith((".py", ".sh")):
            found[word[len(MOUNTED) :]] = TRAINER if word.endswith(".py") else PREPARATION
    for d in properties.get("inputDirectories", []):
        if d["path"].startswith(MOUNTED):
            for word in texts.split():
                if word.startswith(f"$AZ_BATCHAI_INPUT_{d['id']}/") and word.endswith(".py"):
                    found[d["path"][len(MOUNTED) :] + word[word.index("/") :]] = TRAINER
    return found


@dataclass
class Process:
    """One that a job should have: how it is started, and who it is."""

    arguments: str
    index: int = 0
    program: str = None
    config: str = None


@dataclass
class Expected:
    """What a document asks for: processes by the files of their output, and how mpirun is called."""

    files: dict = field(default_factory=dict)
    ranks: int = 0


def expected(properties):
    (name,) = [k for k in properties if k.endswith("Settings") and k != "containerSettings"]
    settings, nodes = properties[name], properties["nodeCount"]
    script, args = settings.get("pythonScriptFilePath"), settings.get("commandLineArgs", "")
    count = settings.get("processCount", nodes)
    out = Expected()
    if name == "tensorFlowSettings":
        workers, servers = settings.get("workerCount", nodes), settings.get("parameterServerCount", 0)
        for i in range(workers):
            kind = "masterCommandLineArgs" if i == 0 else "workerCommandLineArgs"
            out.files[f"wk-{i}"] = [Process(settings.get(kind, ""), i, script)]
        for i in range(servers):
            out.files[f"ps-{i}"] = [Process(settings["parameterServerCommandLineArgs"], i, script)]
    elif name == "caffe2Settings":
        out.files = {f"wk-{i}": [Process(args, i, script)] for i in range(nodes)}
    elif name == "pyTorchSettings" and settings.get("communicationBackend", "tcp") != "mpi":
        out.files = {str(i): [Process(args, i, script)] for i in range(count)}
    elif name == "customToolkitSettings":
        command = shlex.split(settings["commandLine"].removeprefix("python "))
        out.files[""] = [Process(shlex.join(command[1:]), 0, command[0])]
    else:
        direct = name in ("cntkSettings", "caffeSettings") and count == 1
        config = settings.get("configFilePath")
        if name == "customMpiSettings":
            script, args = settings["commandLine"].removeprefix("python -u ").split(" ", 1)
        out.files[""] = [Process(args, i, script, config) for i in range(count)]
        out.ranks = 0 if direct else count
    return out


def std_files(properties):
    """The names of the files of standard output and error."""
    names = [f"-{name}.txt" if name else ".txt" for name in expected(properties).files]
    errors = [name.replace("-wk", "") if "caffe2Settings" in properties else name for name in names]
    return {"stdout" + name for name in names} | {"stderr" + name for name in errors}


@dataclass
class Told:
    """What one process told."""

    program: str = ""
    arguments: list = field(default_factory=list)
    env: dict = field(default_factory=dict)
    image: str = None
    prepared: list = field(default_factory=list)


@dataclass
class Output:
    processes: list = field(default_factory=list)
    mpirun: list = field(default_factory=list)  # the options of each call
    hosts: list = field(default_factory=list)


def read(text):
    """What all processes told that wrote into one file, in order."""
    out = Output()
    for line in text.splitlines():
        kind, _, value = line.partition(" ")
        if kind == "BEGIN":
            out.processes.append(Told())
        elif kind == "MPIRUN":
            out.mpirun.append(value)
        elif kind == "HOST":
            out.hosts.append(value)
        elif kind == "ENV":
            name, _, value = value.partition("=")
            out.processes[-1].env[name] = value
        elif kind == "ARG":
            out.processes[-1].arguments.append(value)
        elif kind == "PROGRAM":
            out.processes[-1].program = value
        elif kind == "IMAGE":
            out.processes[-1].image = value
        elif kind == "PREPARED":
            out.processes[-1].prepared.append(value)
    return out


def filled_in(text, env):
    """As a shell does it: what is not set is empty (one of the recipes counts on that)."""
    return Template(text).substitute(defaultdict(str, env))


def check_process(properties, told, wanted):
    env = told.env
    arguments = shlex.split(filled_in(wanted.arguments, env))
    if wanted.config:
        option = "configFile=" if "cntkSettings" in properties else "--solver="
        before = [] if "cntkSettings" in properties else ["train"]
        arguments = [*before, option + filled_in(wanted.config, env), *arguments]
    else:
        assert told.program == filled_in(wanted.program, env)
    assert told.arguments == arguments
    assert env["AZ_BATCHAI_TASK_INDEX"] == str(wanted.index)
    assert env["AZ_BATCHAI_NODE_COUNT"] == str(properties["nodeCount"])
    for d in properties.get("inputDirectories", []):
        assert env[f"AZ_BATCHAI_INPUT_{d['id']}"] == filled_in(d["path"], env)
    for d in properties.get("outputDirectories", []):
        path = env[f"AZ_BATCHAI_OUTPUT_{d['id']}"]
        assert path.startswith(filled_in(d["pathPrefix"], env)) and path.endswith(d.get("pathSuffix", "outputs"))
    container = properties.get("containerSettings")
    assert told.image == (container["imageSourceRegistry"]["image"] if container else None)
    if "jobPreparation" in properties:
        commands = properties["jobPreparation"]["commandLine"].split(";")
        assert told.prepared == [filled_in(c.strip(), env) for c in commands]


def check(properties, output_of):
    """Compares a job's processes with what its document asks for. `output_of` reads a file of standard output."""
    wanted = expected(properties)
    nodes = set()
    for name, processes in wanted.files.items():
        output = read(output_of(f"stdout-{name}.txt" if name else "stdout.txt"))
        assert len(output.processes) == len(processes), name
        for told, process in zip(output.processes, processes):
            check_process(properties, told, process)
            nodes.add(told.env["AZ_BATCHAI_NODE_ID"])
        assert bool(output.mpirun) == bool(wanted.ranks)
        if wanted.ranks:
            (options,) = output.mpirun
            assert options.split()[:2] == ["-n", str(wanted.ranks)] and "--allow-run-as-root" in options
            slots = [int(h.rsplit("slots=", 1)[1]) for h in output.hosts]
            assert (len(slots), sum(slots)) == ((properties["nodeCount"], wanted.ranks) if slots else (0, 0))
            assert bool(slots) == (properties["nodeCount"] > 1)
    if not wanted.ranks:
        assert len(nodes) == min(properties["nodeCount"], sum(map(len, wanted.files.values())))
