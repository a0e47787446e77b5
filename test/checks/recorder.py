# SPDX-License-Identifier: MIT
"""A plugin of pytest (-p checks.recorder): one line of JSON for each phase of a test that says more than
"passed" and for each test that passed, in the file that CHECKS_RESULTS names."""
import json
import os


def pytest_configure(config):
    config.pluginmanager.register(Recorder(os.environ["CHECKS_RESULTS"]), "checks-recorder")


class Recorder:
    def __init__(self, path):
        self.file = open(path, "a", buffering=1, encoding="utf-8")

    def write(self, **line):
        self.file.write(json.dumps(line) + "\n")

    def pytest_runtest_logreport(self, report):
        if report.when != "call" and report.passed:
            return
        reason = report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else ""
        self.write(test=report.nodeid, phase=report.when, outcome=report.outcome, reason=reason,
                   text="" if report.passed else str(report.longrepr))

    def pytest_collectreport(self, report):
        if report.failed:
            self.write(test=report.nodeid, phase="collect", outcome="failed", reason="",
                       text=str(report.longrepr))
        elif report.skipped:
            self.write(test=report.nodeid, phase="collect", outcome="skipped",
                       reason=report.longrepr[2], text="")
