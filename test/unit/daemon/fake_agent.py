#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Stands in for batchai-node where a test needs a machine that the real one cannot find here: answers
hello and health with what it is told to say at the end of this file."""

import json
import struct
import sys
import time

SAYS = {}


def send(message):
    body = json.dumps(message).encode()
    sys.stdout.buffer.write(struct.pack(">I", len(body)) + body)
    sys.stdout.buffer.flush()


def receive():
    head = sys.stdin.buffer.read(4)
    return json.loads(sys.stdin.buffer.read(struct.unpack(">I", head)[0])) if len(head) == 4 else None


def now():
    return int((time.time() + SAYS.get("ahead_s", 0)) * 1e6)


def node():
    return {
        "version": 1,
        "agent_version": "0",
        "hostname": "fake",
        "os": "Linux",
        "arch": "x86_64",
        "incarnation": "",
        "boot_id": "",
        "cpus": 1,
        "memory_bytes": 1 << 30,
        "disk_free_bytes": 1 << 40,
        "time_us": now(),
        "user": "root",
        "is_root": True,
        "runtimes": "",
        "mpi": "",
        "gpus": [],
        **SAYS.get("node", {}),
    }


def health():
    return {
        "time_us": now(),
        "disk_free_bytes": 1 << 40,
        "disk_total_bytes": 1 << 41,
        "gpus": 0,
        "gpu_errors": "",
        **SAYS.get("health", {}),
    }


def main():
    while (request := receive()) is not None:
        if request["op"] == "hello":
            send({"id": request["id"], "ok": True, "node": node()})
        elif not SAYS.get("silent"):
            send({"id": request["id"], "ok": True, "health": health()})
