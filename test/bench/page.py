# SPDX-License-Identifier: MIT
"""The page in a real Chromium, at 2,000 nodes of 8 GPUs that run a job each, 100,000 jobs and 200 changes a second: how
long until a view is there, how long scrolling holds the browser, what a view weighs."""

import json
import time

from support.chromium import Browser
from support.daemon import Daemon

from .figures import Figure
from .live import RATE, Changes
from .metrics import JOBS, NODES, fill
from .size import size
from .stage import Stage

ROUNDS, SCREENS = size(5, 1), size(60, 5)
AIM_FIRST_MS, AIM_NEXT_MS, AIM_TASK_MS, AIM_HEAP_MB, AIM_VIEW_KB = 1000, 200, 50, 64, 300
MB, KB = 1 << 20, 1 << 10

# Each view, and what is there when it is: a script that says so.
VIEWS = {
    "jobs": "return document.querySelectorAll('.list tbody tr[data-index]').length > 10",
    "machines": "return document.querySelectorAll('.list tbody tr[data-index]').length > 10",
    "queue": "return document.querySelectorAll('.list tbody tr[data-index]').length > 10",
    "overview": "return parseInt(document.querySelector('.gpus canvas')?.style.height) > 20",  # once it is drawn
}
# Notes the longest task of the browser's thread; shorter ones than 50 ms are not reported.
OBSERVE = """window.longest = 0;
new PerformanceObserver(l => l.getEntries().forEach(e => { window.longest = Math.max(window.longest, e.duration); })).observe({entryTypes: ['longtask']})"""
SCROLL = """const [screens, done] = arguments; const box = document.querySelector('.scroll'); let n = 0;
const step = () => { box.scrollTop += box.clientHeight; ++n < screens ? requestAnimationFrame(() => setTimeout(step, 50)) : setTimeout(done, 500); };
step()"""


def there(browser, script):
    end = time.monotonic() + 120
    while not browser.driver.execute_script(script):
        assert time.monotonic() < end, f"the view does not come: {browser.text()[:500]}"
        time.sleep(0.005)


def shown(browser, view):
    """Milliseconds from the click to the view."""
    begin = time.monotonic()
    browser.driver.execute_script("location.hash = arguments[0]", f"#/{view}")
    there(browser, VIEWS[view])
    return (time.monotonic() - begin) * 1000


def first(browser):
    """The same for a browser that opens the page anew."""
    browser.driver.get("about:blank")
    begin = time.monotonic()
    browser.driver.get(f"{browser.origin}/#/overview")
    there(browser, VIEWS["overview"])
    return (time.monotonic() - begin) * 1000


def received(browser):
    """Bytes since it was asked last."""
    n = 0
    for entry in browser.driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.loadingFinished":
            n += message["params"]["encodedDataLength"]
    return n


def heap(browser):
    browser.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    return browser.driver.execute_cdp_cmd("Runtime.getHeapUsage", {})["usedSize"]


def measure():
    firsts, nexts, weights = [], {view: [] for view in VIEWS}, []
    with Daemon(arguments=["--testing", "--ephemeral"]) as d:
        fill(d)
        browser = Browser(d)
        try:
            browser.log_in()
            with Changes(Stage(d, nodes=0), 0):
                for _ in range(ROUNDS):
                    firsts.append(first(browser))
                    received(browser)
                    for view in VIEWS:
                        nexts[view].append(shown(browser, view))
                        weights.append(received(browser))
                shown(browser, "jobs")
                browser.driver.execute_script(OBSERVE)
                browser.driver.set_script_timeout(300)
                browser.driver.execute_async_script(SCROLL, SCREENS)
                longest = browser.driver.execute_script("return window.longest")
                used = heap(browser)
        finally:
            browser.close()
    scale = f"{NODES:,} nodes, {JOBS:,} jobs, {RATE} changes/s"
    return [
        Figure(f"the page's first view, {scale}", "ms", firsts, AIM_FIRST_MS),
        *(Figure(f"  then {view}", "ms", took, AIM_NEXT_MS) for view, took in nexts.items()),
        Figure("  the longest task while the list of jobs is scrolled", "ms", [longest], AIM_TASK_MS, note="0: none over 50"),
        Figure("  the page's heap then", "MB", [used / MB], AIM_HEAP_MB),
        Figure("  what a view loads, at most", "KB", [max(weights) / KB], AIM_VIEW_KB),
    ]
