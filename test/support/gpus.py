# SPDX-License-Identifier: MIT
"""NVIDIA GPUs: a program `nvidia-smi` that prints what a test wants, and the files of the driver."""

SMI = """#!/bin/sh
echo "$$ $*" >>{dir}/calls
case "$1" in
--query-gpu*) while :; do cat {dir}/says; sleep 1; done ;;
*) cat {dir}/processes ;;
esac
"""
LINE = "{0}, {1}, {2}\n"
BUSY = "97, 60000, 81559, 650.10, 71, 0, 0x0000000000000004"
IDLE = "0, 0, 81559, 72.43, 39, 0, 0x0000000000000001"
MIG = "[N/A], 55, 81559, [Not Supported], ERR!, [N/A], [N/A]"
INFORMATION = """Model: \t\t NVIDIA H100 80GB HBM3
IRQ:   \t\t 41
GPU UUID: \t {uuid}
Video BIOS: \t 96.00.da.00.0c
Bus Type: \t PCIe
DMA Size: \t 52 bits
DMA Mask: \t 0xfffffffffffff
Bus Location: \t {bus}
Device Minor: \t {number}
GPU Firmware: \t 580.159.04
GPU Excluded:\t No
"""
VERSION = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue Jul 14 21:07:02 UTC 2026\n"


def uuid_of(number):
    return f"GPU-6e1f9a28-7657-7b1d-12f4-f40849ab930{number}"


class Gpus:
    """Three: one works, one is idle, of one hardly anything is known."""

    def __init__(self, folder):
        self.dir = folder
        self.says("".join(LINE.format(i, uuid_of(i), rest) for i, rest in enumerate((BUSY, IDLE, MIG))))
        (folder / "processes").write_text(f"{uuid_of(0)}, 4711, 59000\n")
        program = folder / "nvidia-smi"
        program.write_text(SMI.format(dir=folder))
        program.chmod(0o755)
        self.path = f"{folder}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"

    def driver(self):
        """The prefix of a daemon whose local node finds these GPUs in the driver's files, with their uuids. Needs root."""
        nvidia = self.dir / "driver" / "nvidia"
        for number in range(3):
            bus = f"0000:0{number}:06.0"
            (nvidia / "gpus" / bus).mkdir(parents=True)
            (nvidia / "gpus" / bus / "information").write_text(INFORMATION.format(uuid=uuid_of(number), bus=bus, number=number))
        (nvidia / "version").write_text(VERSION)
        return ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /proc/driver && exec "$@"', str(nvidia.parent)]

    def says(self, text):
        (self.dir / "new").write_text(text)
        (self.dir / "new").rename(self.dir / "says")

    def calls(self):
        return (self.dir / "calls").read_text() if (self.dir / "calls").exists() else ""
