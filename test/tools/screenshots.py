#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Takes the pictures of docs/images again: a site of local nodes with jobs, and the page in a real Chromium that shows it.
The nodes pretend to have GPUs, which a program `nvidia-smi` calls busy where a job has them. `make screenshots` calls this
after the build."""

import os
import sys
import tempfile
from pathlib import Path

HOME = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(HOME / "test"))

from small_png import small  # noqa: E402
from support.chromium import CHROMIUM, DRIVER, Browser, own_network  # noqa: E402
from support.daemon import Daemon  # noqa: E402
from support.gpus import BUSY, IDLE, LINE, uuid_of  # noqa: E402
from support.waiting import wait_for  # noqa: E402
from support.world import Place, wishes  # noqa: E402

IMAGES, SIZE = HOME / "docs/images", (1000, 560)
GPUS = 8  # of a node
IDLERS = ("bert-large-2", "resnet-3")  # jobs of which a GPU does nothing
HOLD = "sleep 10000"
TRAIN = f"""awk 'BEGIN {{ for (n = 1; n <= 120; n++) printf "epoch %3d  loss \\033[32m%.4f\\033[0m  images/s %d\\n", n, 0.6 + 2.3 * exp(-n / 50), 2900 + n * 37 % 96 }}'; {HOLD}"""
# Each cluster with its nodes, and the jobs there, the newest last: (name, command, GPUs; 0: whole nodes).
SITE = {"resnet": (4, [(f"resnet-{n}", HOLD, 0) for n in range(1, 4)]),
        "bert": (5, [(f"bert-large-{n}", HOLD, 0) for n in range(1, 4)] + [("finetune", TRAIN, 4)]),
        "eval": (3, [("eval-7b-1", HOLD, 2), ("eval-7b-2", HOLD, 1), ("plots", "true", 1), ("broken", "exit 1", 1)])}
ENDED = ("plots", "broken")
HELD = sum(gpus or GPUS for _, jobs in SITE.values() for name, _, gpus in jobs if name not in ENDED)
SMI = """#!/bin/sh
node=$(tr '\\0' '\\n' </proc/$PPID/cmdline | sed -n 's|.*/nodes/||p')
case "$1" in
--query-gpu*) while :; do cat {dir}/"$node" 2>/dev/null || cat {dir}/free; sleep 1; done ;;
esac
"""
# The view, what it shows once it is whole, the file.
PICTURES = (("overview", (f"{HELD - len(IDLERS)} busy", f"{len(IDLERS)} idle"), "overview.png"), ("job/lab/work/exp/finetune/logs", ("epoch 120",), "job.png"))
# No message comes or goes, and the GPUs are drawn.
DRAWN = "const canvas = document.querySelector('.gpus canvas'); return document.getAnimations().length === 0 && (!canvas || parseInt(canvas.style.height) > 20)"


def say(file, busy):
    """What the program says of a node: a GPU is busy, or not."""
    file.with_suffix(".new").write_text("".join(LINE.format(n, uuid_of(n), BUSY if one else IDLE) for n, one in enumerate(busy)))
    file.with_suffix(".new").rename(file)


def nodes_with(daemon, held):
    """All nodes, once jobs have so many of their GPUs."""
    nodes = daemon.get("/batchaid/nodes")["value"]
    return nodes if sum(gpu["state"] != "free" for node in nodes for gpu in node["gpus"]) == held else None


def make(daemon, smi):
    place = Place(daemon, "lab", "work").make()
    for name, (nodes, jobs) in SITE.items():
        cluster = place.cluster(nodes, name=name)
        for job, command, gpus in jobs:
            wish = {"environmentVariables": wishes(GPUS=str(gpus))} if gpus else {}
            place.job(cluster, command, name=job, **wish).wait(*(("succeeded", "failed") if job in ENDED else ("running",)))
    for node in wait_for(lambda: nodes_with(daemon, HELD), 20):
        work = [gpu["state"] != "free" for gpu in node["gpus"]]
        if node.get("job") in IDLERS:
            work[5] = False
        say(smi / node["name"], work)
    return place


def main():
    if not CHROMIUM or not DRIVER:
        sys.exit("screenshots: chromium and chromedriver are not installed; make deps SECTIONS=test installs them")
    own_network()
    with tempfile.TemporaryDirectory(prefix="batchaid-screenshots-") as folder:
        smi = Path(folder)
        smi.chmod(0o755)
        say(smi / "free", [False] * GPUS)
        (smi / "nvidia-smi").write_text(SMI.format(dir=smi))
        (smi / "nvidia-smi").chmod(0o755)
        config = {"local": {"nodes": sum(nodes for nodes, _ in SITE.values()), "fake_gpus": GPUS}}
        with Daemon(config=config, environment={"PATH": f"{smi}:{os.environ['PATH']}"}) as daemon:
            place = make(daemon, smi)
            browser = Browser(daemon, SIZE)
            try:
                browser.log_in()
                for address, texts, file in PICTURES:
                    browser.open(f"#/{address}").see("live", *texts, limit=60)
                    wait_for(lambda: browser.driver.execute_script(DRAWN), 20)
                    (IMAGES / file).write_bytes(small(browser.driver.get_screenshot_as_png()))
                    print(f"docs/images/{file}")
                wrong = browser.complaints()
            finally:
                browser.close()
                place.remove()
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
