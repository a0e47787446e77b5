# SPDX-License-Identifier: MIT
"""A real Prometheus scrapes the pages of metrics, and answers every expression of the alert rules and of the board."""
import json
import os
import re
import shutil
import ssl
import subprocess
import threading
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml
from support.daemon import Daemon
from support.gpus import Gpus, uuid_of
from support.metrics import TEXT
from support.ports import free_port
from support.vaults import Safe
from support.waiting import wait_for
from support.world import Place, wishes

ROOT = Path(__file__).parents[2]
RULES, PAGE = ROOT / "etc/prometheus/batchaid.rules.yml", ROOT / "docs/metrics.md"
PANELS = json.loads((ROOT / "etc/grafana/batchaid.json").read_text())["panels"]
TOKEN = "a-token-of-a-scraper-0123456789"
NEEDED = [name for name in ("prometheus", "promtool") if not shutil.which(name)]
pytestmark = [
    pytest.mark.skipif(bool(NEEDED), reason=f"{' and '.join(NEEDED)} of Debian's prometheus is not here"),
    pytest.mark.skipif(os.geteuid() != 0, reason="the files of a driver of GPUs need root"),
]


class Prometheus:
    """Scrapes all pages of a daemon each second with the lasting token: over TLS, or by a proxy."""

    def __init__(self, daemon, folder, proxy=None):
        self.port, self.folder = free_port(), folder
        secret = folder / "scraper.token"
        secret.write_text(TOKEN)
        ways = {"scheme": "http"} if proxy else {"scheme": "https", "tls_config": {"ca_file": str(daemon.ca), "server_name": "localhost"}}
        target = f"127.0.0.1:{proxy.server_port if proxy else daemon.port}"
        common = {**ways, "authorization": {"credentials_file": str(secret)}, "static_configs": [{"targets": [target]}]}
        jobs = [{"job_name": f"batchaid{name}", "metrics_path": f"/metrics{path}", **common} for name, path in PAGES.items()]
        # No job of a test is an hour old.
        (folder / RULES.name).write_text(RULES.read_text().replace(" offset 1h", " offset 1s"))
        config = {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [RULES.name], "scrape_configs": jobs}
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

    def scraped(self):
        return len(self.query("up == 1")) == len(PAGES)

    def series(self):
        """Of the daemon, each as its labels."""
        found = self.query('{__name__=~"(batchaid|process)_.*", job=~"batchaid.*"}')
        return {frozenset({**r["metric"], "instance": ""}.items()) for r in found}


class OnlyText(ThreadingHTTPServer):
    """A proxy before a daemon, which asks for the text format alone, as scrapers before OpenMetrics do."""

    def __init__(self, daemon):
        super().__init__(("127.0.0.1", 0), Forward)
        self.endpoint, self.types = daemon.endpoint, set()
        self.context = ssl.create_default_context(cafile=str(daemon.ca))
        threading.Thread(target=self.serve_forever).start()

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Forward(BaseHTTPRequestHandler):
    def do_GET(self):
        headers = {"Authorization": self.headers["Authorization"], "Accept": "text/plain;version=0.0.4;q=1,*/*;q=0.1"}
        asked = urllib.request.Request(self.server.endpoint + self.path, headers=headers)
        with urllib.request.urlopen(asked, timeout=30, context=self.server.context) as reply:
            body, kind = reply.read(), reply.headers["Content-Type"]
        self.server.types.add(kind)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


PAGES = {"": "", "-nodes": "/nodes", "-jobs": "/jobs"}


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """A place with a job that has two of three GPUs, and one that waits for more than are left."""
    folder = tmp_path_factory.mktemp("daemon")
    secret = folder / "daemon.token"
    secret.write_text(TOKEN)
    secret.chmod(0o600)
    gpus = Gpus(folder)
    with Daemon(config={"metrics": {"token_file": str(secret)}}, environment={"PATH": gpus.path}, prefix=gpus.driver()) as d:
        place = Place(d).make()
        host, inside = place.flag("over")
        cluster = place.cluster(1)
        place.held = place.job(cluster, f"until test -e {inside}; do sleep 0.1; done", environmentVariables=wishes(GPUS=2)).running()
        waits = place.job(cluster, "true", environmentVariables=wishes(GPUS=2))
        yield place
        host.touch()
        place.held.succeed()
        waits.succeed()


@pytest.fixture(scope="module")
def watched(busy, tmp_path_factory):
    """(Prometheus, that place)"""
    with Prometheus(busy.daemon, tmp_path_factory.mktemp("prometheus")) as p:
        wait_for(p.scraped, 60, "scrapes of all pages")
        wait_for(lambda: p.query("batchaid_gpu_busy_ratio"), 60, "a sample of the node and its GPUs")
        yield p, busy


def test_every_page_is_scraped_without_an_error(watched):
    p, place = watched
    targets = p.get("targets")["activeTargets"]
    assert {(t["health"], t["lastError"]) for t in targets} == {("up", "")}, targets
    assert {t["labels"]["job"] for t in targets} == {f"batchaid{name}" for name in PAGES}
    (gpus,) = p.query('batchaid_gpus{state="allocated"}')
    assert gpus["value"][1] == "2"
    assert [r["metric"]["group"] for r in p.query("batchaid_job_info")] == [place.group]


def test_the_text_format_is_scraped_as_well(watched, busy, tmp_path):
    """Prometheus asks for OpenMetrics; of the other format it makes the same series."""
    p, _ = watched
    (tmp_path / "prometheus").mkdir()
    with OnlyText(busy.daemon) as proxy, Prometheus(busy.daemon, tmp_path / "prometheus", proxy) as old:
        wait_for(old.scraped, 60, "scrapes of all pages")
        assert {t["lastError"] for t in old.get("targets")["activeTargets"]} == {""}
        assert proxy.types == {TEXT}
        wait_for(lambda: old.series() == p.series(), 30, lambda: old.series() ^ p.series())
        kinds = [{name: row["type"] for name, (row, *_) in q.get("metadata").items()} for q in (p, old)]
    assert kinds[0]["batchaid_wait_seconds"] == kinds[1]["batchaid_wait_seconds"] == "histogram"
    assert kinds[0]["batchaid_commits"] == kinds[1]["batchaid_commits_total"] == "counter", "each was read by the parser of its format"


def test_the_rules_are_evaluated(watched):
    p, _ = watched
    (group,) = p.get("rules")["groups"]
    assert len(group["rules"]) == len(yaml.safe_load(RULES.read_text())["groups"][0]["rules"])
    wait_for(lambda: {r["health"] for r in p.get("rules")["groups"][0]["rules"]} == {"ok"}, 30, "an evaluation")
    assert {a["labels"]["alertname"] for a in p.get("alerts")["alerts"] if a["state"] == "firing"} <= {"BatchaidBackupOld"}


def test_every_expression_of_the_board_has_an_answer(watched):
    p, place = watched
    assert Safe(place.daemon, "unserved").call("GET", "/keys", judged=False).status == 501
    assert len(PANELS) > 10
    for panel in PANELS:
        for target in panel["targets"]:
            wait_for(lambda: p.query(target["expr"]), 20, target["expr"])


def test_use_of_gpus_joins_with_who_has_them(watched):
    """By uuid, which the page of jobs has from the driver's files, and that of nodes from nvidia-smi as well."""
    p, place = watched
    labels = {"group": place.group, "exported_job": place.held.name}
    held = [r["metric"] for r in p.query("batchaid_gpu_job")]
    assert {m["uuid"] for m in held} == {uuid_of(0), uuid_of(1)} and all(labels.items() <= m.items() for m in held)
    (work,) = [t["expr"] for panel in PANELS for t in panel["targets"] if "batchaid_gpu_job" in t["expr"]]
    (of_group,) = wait_for(lambda: p.query(work), 20, work)
    assert of_group["metric"] == {"group": place.group} and float(of_group["value"][1]) == pytest.approx((0.97 + 0) / 2)
    (idle,) = re.findall(r"^    (batchaid_gpu_job.*)$", PAGE.read_text(), re.M)
    (found,) = wait_for(lambda: p.query(idle), 20, idle)
    assert found["metric"]["uuid"] == uuid_of(1) and labels.items() <= found["metric"].items()
    alerts = lambda: [a for a in p.get("alerts")["alerts"] if a["labels"]["alertname"] == "BatchaidGpusHeldIdle"]
    (alert,) = wait_for(alerts, 30, "an alert")
    assert labels.items() <= alert["labels"].items() and float(alert["value"]) == 1


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
