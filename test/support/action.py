# SPDX-License-Identifier: MIT
"""Runs the steps of a workflow with a local composite action as a runner of GitHub does: each in a bash of its own, which has the
variables and folders of programs that steps before it have written to GITHUB_ENV and GITHUB_PATH."""

import re
import subprocess
import tempfile
from pathlib import Path

import yaml


class Runner:
    def __init__(self, workspace, env, temp):
        self.workspace, self.env, self.temp = Path(workspace), dict(env), Path(temp)
        self.env.update(RUNNER_TEMP=str(temp), GITHUB_WORKSPACE=str(workspace), CI="true")
        self.said = ""
        self.limit = 120

    def workflow(self, path):
        (job,) = yaml.safe_load(Path(path).read_text())["jobs"].values()
        for step in job["steps"]:
            if "run" in step:
                self.run(step, {})
            elif step["uses"].startswith("./"):
                self.action(self.workspace / step["uses"], step.get("with", {}))
            else:
                assert step["uses"].startswith("actions/checkout@"), step  # the workspace is there

    def action(self, folder, given):
        action = yaml.safe_load((folder / "action.yml").read_text())
        assert action["runs"]["using"] == "composite" and set(given) <= set(action["inputs"])
        inputs = {name: given.get(name, what["default"]) for name, what in action["inputs"].items()}
        for step in action["runs"]["steps"]:
            condition = re.fullmatch(r"inputs\.(\w+) != ''", step.get("if", ""))
            assert condition or "if" not in step
            if not condition or inputs[condition[1]]:
                self.run(step, inputs)

    def run(self, step, inputs):
        env = dict(self.env)
        for name, value in step.get("env", {}).items():
            env[name] = re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: inputs[m[1]], value)
        with tempfile.TemporaryDirectory() as folder:
            files = {name: Path(folder, name) for name in ("GITHUB_ENV", "GITHUB_PATH")}
            for name, file in files.items():
                file.touch()
                env[name] = str(file)
            script = Path(folder, "step.sh")
            script.write_text(step["run"])
            # What stays in the background has files of its own, so that this pipe ends.
            command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", script]
            done = subprocess.run(command, cwd=self.workspace, env=env, capture_output=True, text=True, timeout=self.limit, check=False)
            self.said += done.stdout
            assert done.returncode == 0, done.stdout + done.stderr
            self.env.update(line.split("=", 1) for line in files["GITHUB_ENV"].read_text().splitlines())
            for line in files["GITHUB_PATH"].read_text().splitlines():
                self.env["PATH"] = f"{line}:{self.env['PATH']}"
