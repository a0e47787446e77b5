# SPDX-License-Identifier: MIT
"""GPUs of a program `nvidia-smi` that prints what a test wants."""

SMI = """#!/bin/sh
echo "$$ $*" >>{dir}/calls
case "$1" in
--query-gpu*) while :; do cat {dir}/says; sleep 1; done ;;
*) cat {dir}/processes ;;
esac
"""
BUSY = "{0}, GPU-6e1f9a28-000{0}, 97, 60000, 81559, 650.10, 71, 0, 0x0000000000000004\n"
IDLE = "{0}, GPU-6e1f9a28-000{0}, 0, 0, 81559, 72.43, 39, 0, 0x0000000000000001\n"
MIG = "{0}, GPU-6e1f9a28-000{0}, [N/A], 55, 81559, [Not Supported], ERR!, [N/A], [N/A]\n"


class Gpus:
    """An nvidia-smi."""

    def __init__(self, folder):
        self.dir = folder
        self.says("".join(line.format(i) for i, line in enumerate((BUSY, IDLE, MIG))))
        (folder / "processes").write_text("GPU-6e1f9a28-0000, 4711, 59000\n")
        program = folder / "nvidia-smi"
        program.write_text(SMI.format(dir=folder))
        program.chmod(0o755)

    def says(self, text):
        (self.dir / "new").write_text(text)
        (self.dir / "new").rename(self.dir / "says")

    def calls(self):
        return (self.dir / "calls").read_text() if (self.dir / "calls").exists() else ""
