# SPDX-License-Identifier: MIT
"""A real Prometheus scrapes the pages of metrics, and answers every expression of the alert rules and of the board."""
import json
import shutil
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
import yaml
from support.daemon import Daemon
from support.ports import free_port
from support.waiting import wait_for
from support.world import Place, wishes

ROOT = Path(__file__).parents[2]
RULES, BOARD = ROOT / "etc/prometheus/batchaid.rules.yml", ROOT / "etc/grafana/batchaid.json"
TOKEN = "a-token-of-a-scraper-0123456789"
NEEDED = [name for name in ("prometheus", "promtool") if not shutil.which(name)]
pytestmark = pytest.mark.skipif(bool(NEEDED), reason=f"{' and '.join(NEEDED)} of Debian's prometheus is not here")


class Prometheus:
    """Scrapes all pages of a daemon each second, over TLS, with the lasting token."""

    def __init__(self, daemon, folder):
        self.port, self.folder = free_port(), folder
        secret = folder / "scraper.token"
        secret.write_text(TOKEN)
        common = {
            "scheme": "https",
            "authorization": {"credentials_file": str(secret)},
            "tls_config": {"ca_file": str(daemon.ca), "server_name": "localhost"},
            "static_configs": [{"targets": [f"127.0.0.1:{daemon.port}"]}],
        }
        jobs = [{"job_name": f"batchaid{name}", "metrics_path": f"/metrics{path}", **common} for name, path in PAGES.items()]
        config = {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [str(RULES)], "scrape_configs": jobs}
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config))

    def __enter__(self):
        argv = ["prometheus", f"--config.file={self.folder / 'prometheus.yml'}", f"--storage.tsdb.path={self.folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{self.port}"]  # fmt: skip
        self.log = (self.folder / "log").open("w")
        self.process = subprocess.Popen(argv, stdout=self.log, stderr=self.log)
        wait_for(self.is_ready, 60, "Prometheus")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()

    def is_ready(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=5) as reply:
                return reply.status == 200
        except OSError:
            return False

    def get(self, path, **query):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}", timeout=30) as reply:
            return json.load(reply)["data"]

    def query(self, text):
        return self.get("query", query=text)["result"]


PAGES = {"": "", "-nodes": "/nodes", "-jobs": "/jobs"}


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """(Prometheus, a place with a job that has a GPU)"""
    folder = tmp_path_factory.mktemp("prometheus")
    secret = folder / "daemon.token"
    secret.write_text(TOKEN)
    secret.chmod(0o600)
    with Daemon(config={"local": {"fake_gpus": 2}, "metrics": {"token_file": str(secret)}}) as d:
        place = Place(d).make()
        host, inside = place.flag("over")
        job = place.job(place.cluster(1), f"until test -e {inside}; do sleep 0.1; done", environmentVariables=wishes(GPUS=1))
        job.running()
        with Prometheus(d, folder) as p:
            wait_for(lambda: len(p.query('up == 1')) == len(PAGES), 60, "scrapes of all pages")
            wait_for(lambda: p.query("batchaid_node_cpu_ratio"), 60, "a sample of the node")
            yield p, place
        host.touch()
        job.succeed()


def test_every_page_is_scraped_without_an_error(watched):
    p, place = watched
    targets = p.get("targets")["activeTargets"]
    assert {(t["health"], t["lastError"]) for t in targets} == {("up", "")}, targets
    assert {t["labels"]["job"] for t in targets} == {f"batchaid{name}" for name in PAGES}
    (gpus,) = p.query('batchaid_gpus{state="allocated"}')
    assert gpus["value"][1] == "1"
    assert [r["metric"]["group"] for r in p.query("batchaid_job_info")] == [place.group]


def test_the_rules_are_evaluated(watched):
    p, _ = watched
    (group,) = p.get("rules")["groups"]
    assert len(group["rules"]) == len(yaml.safe_load(RULES.read_text())["groups"][0]["rules"])
    wait_for(lambda: {r["health"] for r in p.get("rules")["groups"][0]["rules"]} == {"ok"}, 30, "an evaluation")
    assert not [a for a in p.get("alerts")["alerts"] if a["labels"]["alertname"] not in ("BatchaidBackupOld",)]


def test_every_expression_of_the_board_has_an_answer(watched):
    p, _ = watched
    # Fake GPUs have no values, and nothing waits.
    empty = ("batchaid_gpu_busy_ratio", "batchaid_gpu_temperature", "batchaid_waiting_runs", 'code="5xx"')
    panels = json.loads(BOARD.read_text())["panels"]
    assert len(panels) > 10
    for panel in panels:
        for target in panel["targets"]:
            wait_for(lambda: p.query(target["expr"]) or any(word in target["expr"] for word in empty), 20, target["expr"])


def promtool(*argv):
    done = subprocess.run(["promtool", *argv], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_rules_fire_when_they_should(tmp_path):
    promtool("check", "rules", RULES)
    fired = set()
    for name in ("rules", "backups"):
        cases = (ROOT / f"test/fixtures/prometheus_{name}_test.yml").read_text().replace("RULES", str(RULES))
        (tmp_path / name).write_text(cases)
        promtool("test", "rules", tmp_path / name)
        fired |= {c["alertname"] for t in yaml.safe_load(cases)["tests"] for c in t["alert_rule_test"] if "exp_alerts" in c}
    assert fired == {rule["alert"] for rule in yaml.safe_load(RULES.read_text())["groups"][0]["rules"]}
