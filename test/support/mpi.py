# SPDX-License-Identifier: MIT
"""Programs of jobs that use MPI: Debian's Open MPI, by mpi4py, and Debian's MPICH, by its library alone."""

import shutil
from pathlib import Path

import pytest

# Says who it is and where, and what all ranks together come to; then does what the argument says in one rank.
OPENMPI = """
import os, signal, sys, time
from mpi4py import MPI
world = MPI.COMM_WORLD
abort = world.Abort
rank, size, total = world.rank, world.size, world.allreduce(world.rank)
"""
# The numbers are those of MPICH's ABI: MPI_COMM_WORLD, MPI_INT, MPI_SUM.
MPICH = """
import ctypes, os, signal, sys, time
mpi = ctypes.CDLL("libmpich.so.12", mode=ctypes.RTLD_GLOBAL)
world, r, n, t = 0x44000000, ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
mpi.MPI_Init(None, None)
mpi.MPI_Comm_rank(world, ctypes.byref(r))
mpi.MPI_Comm_size(world, ctypes.byref(n))
mpi.MPI_Allreduce(ctypes.byref(r), ctypes.byref(t), 1, 0x4C000405, 0x58000003, world)
rank, size, total = r.value, n.value, t.value
abort = lambda code: mpi.MPI_Abort(world, code)
"""
REST = """
what = sys.argv[1] if len(sys.argv) > 1 else ""
print("rank", rank, "of", size, "sum", total, "on", os.environ["AZ_BATCHAI_TASK_INDEX"], os.getcwd(), flush=True)
if what and rank == size - 1:
    print("the last rank is unwell", file=sys.stderr, flush=True)
    time.sleep(0.2)  # MPICH's launcher reads no more once a rank has aborted
    if what == "exit":
        os._exit(17)
    if what == "abort":
        abort(17)
    os.kill(os.getpid(), signal.SIGKILL)
if what:
    time.sleep(1000)
"""


class Mpi:
    """`launch` starts as many ranks as the job has nodes. `failing`: how a rank can fail so that the launcher tells
    its exit code: MPICH's waits for ever for one that ends without a word and was alone on its host."""

    def __init__(self, name, program, hosts, failing, killed):
        self.name, self.program, self.failing, self.killed = name, program, failing, killed
        self.launch = f"mpirun.{name} {hosts} /usr/bin/python3"


KINDS = {
    "openmpi": Mpi("openmpi", OPENMPI, "-n $AZ_BATCHAI_NODE_COUNT --map-by node --hostfile $AZ_BATCHAI_MPI_HOST_FILE", ["exit", "abort"], 137),
    "mpich": Mpi("mpich", MPICH, "-genvnone -hosts $AZ_BATCH_HOST_LIST -n $AZ_BATCHAI_NODE_COUNT", ["abort"], 255),
}


def mpi(name):
    if not shutil.which(f"mpirun.{name}"):
        pytest.skip(f"mpirun.{name} is not installed")
    if name == "openmpi" and not Path("/usr/lib/python3/dist-packages/mpi4py").exists():
        pytest.skip("python3-mpi4py is not installed")
    return KINDS[name]


def script(kind, share, name):
    """Writes the program to a share; what a job calls it."""
    (share / name).write_text(kind.program + REST)
    return f"$AZ_BATCHAI_MOUNT_ROOT/out/{name}"


def ranks(text):
    """{rank: (size, sum, index of the node, directory)}"""
    found = {}
    for line in text.splitlines():
        if line.startswith("rank "):
            _, rank, _, size, _, total, _, index, folder = line.split()
            found[int(rank)] = (int(size), int(total), int(index), folder)
    return found
