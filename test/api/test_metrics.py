# SPDX-License-Identifier: MIT
"""/metrics: both formats by Prometheus' own parsers, what is counted, and who may read it."""
import pytest
from support.daemon import Daemon
from support.metrics import OPEN, TEXT, lint, of, page, samples
from support.people import READER, Person
from support.world import Place, wait_for, wishes

TOKEN = "a-token-of-a-scraper-0123456789"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A daemon with GPUs, a token for a scraper, and a place."""
    file = tmp_path_factory.mktemp("metrics") / "token"
    file.write_text(TOKEN + "\n")
    file.chmod(0o600)
    config = {"local": {"fake_gpus": 4, "slots": 4}, "metrics": {"token_file": str(file), "people": True}}
    with Daemon(config=config) as d:
        yield Place(d).make()


def test_both_formats_are_well_formed_and_say_the_same(site):
    site.job(site.cluster(1), environmentVariables=wishes(GPUS=1)).succeed()
    page(site.daemon)  # which is counted in the next
    text, strict = page(site.daemon), page(site.daemon, accept=OPEN)
    assert text.headers["Content-Type"] == TEXT and strict.headers["Content-Type"] == OPEN
    assert lint(text.text) == ""
    assert strict.text.endswith("\n# EOF\n")
    assert set(samples(text.text)) == set(samples(strict.text, strict=True))
    assert "text" not in page(site.daemon, accept="text/html, */*").text[:6]


def test_a_job_is_counted_while_it_runs_and_afterwards(site):
    d, cluster = site.daemon, site.cluster(1)
    group = {"subscription": d.subscription, "group": site.group}
    before = of(d, "batchaid_gpu_allocated_seconds_total", **group) or 0
    waited = of(d, "batchaid_wait_seconds_count", kind="job")
    busy = of(d, "batchaid_gpus", state="allocated")
    host, inside = site.flag("goes-on")
    job = site.job(cluster, f"until test -e {inside}; do sleep 0.05; done", environmentVariables=wishes(GPUS=3))
    late = site.job(cluster, environmentVariables=wishes(GPUS=4))
    job.running()
    assert of(d, "batchaid_gpus", state="allocated") == busy + 3
    assert of(d, "batchaid_runs", kind="job", state="running") == 1
    assert of(d, "batchaid_runs", kind="job", state="waiting") == 1
    assert of(d, "batchaid_waiting_runs", **group, cluster=cluster.name) == 1
    assert of(d, "batchaid_nodes", kind="local", state="running") == 1
    seen = wait_for(lambda: (now := of(d, "batchaid_gpu_allocated_seconds_total", **group)) > before and now)
    wait_for(lambda: of(d, "batchaid_gpu_allocated_seconds_total", **group) > seen + 0.3)
    assert of(d, "batchaid_oldest_wait_seconds") > 0
    host.touch()
    job.succeed()
    late.succeed()
    wait_for(lambda: of(d, "batchaid_gpus", state="allocated") == 0)
    assert of(d, "batchaid_wait_seconds_count", kind="job") == waited + 2
    assert of(d, "batchaid_oldest_wait_seconds") == 0 and of(d, "batchaid_waiting_runs", **group, cluster=cluster.name) is None
    report = d.call("GET", "/batchaid/usage", api_version=None, params={"by": "group"}, expect=200).json
    (mine,) = [line for line in report["value"] if line["name"] == site.group]
    assert of(d, "batchaid_gpu_allocated_seconds_total", **group) * 1000 == pytest.approx(mine["gpuMilliseconds"], abs=1e-6)
    assert of(d, "batchaid_person_gpu_allocated_seconds_total") * 1000 == pytest.approx(report["total"]["gpuMilliseconds"], abs=1e-6)


def test_waiting_runs_are_counted_by_what_keeps_them(site):
    d, cluster = site.daemon, site.cluster(1)
    host, inside = site.flag("keeps")
    hold = f"until test -e {inside}; do sleep 0.05; done"
    job = site.job(cluster, hold, environmentVariables=wishes(GPUS=4))
    job.running()
    queued = [site.job(cluster, schedulingPriority=p, environmentVariables=wishes(GPUS=4)) for p in ("low", "high", "normal")]
    array = site.job(cluster, environmentVariables=wishes(GPUS=4, ARRAY="1-5", ARRAY_LIMIT=2))
    after = site.job(cluster, environmentVariables=wishes(GPUS=1, DEPENDS_ON=array.name))
    assert of(d, "batchaid_runs", kind="job", state="waiting") == 3 + 2
    assert of(d, "batchaid_runs", kind="job", state="held") == 3 + 1
    assert of(d, "batchaid_waiting_runs", cluster=cluster.name) == 5
    host.touch()
    for done in (*queued, array, after):
        done.succeed()
    assert of(d, "batchaid_runs", kind="job", state="held") == 0


def test_clusters_of_one_name_in_two_workspaces_are_two_series(site):
    d, places = site.daemon, [site, Place(site.daemon, site.group).make()]
    waiting = [place.job(place.cluster(0, name="twin")) for place in places]
    for place in places:
        assert of(d, "batchaid_waiting_runs", kind="job", group=site.group, home=place.workspace, cluster="twin") == 1
    for job in waiting:
        job.delete()


def test_a_counter_never_falls_while_jobs_end(site):
    d, cluster = site.daemon, site.cluster(1)
    jobs = [site.job(cluster, "sleep 0.3", environmentVariables=wishes(GPUS=1)) for _ in range(12)]
    seen = [0]
    while any(of(d, "batchaid_runs", kind="job", state=state) for state in ("waiting", "running", "ending")):
        seen.append(of(d, "batchaid_gpu_allocated_seconds_total", group=site.group))
    for job in jobs:
        job.succeed()
    assert seen == sorted(seen) and len(set(seen)) > 2


def test_a_stored_time_before_the_start_is_not_counted(own_daemon):
    d = own_daemon(config={"local": {"fake_gpus": 2}})
    place = Place(d).make()
    host, inside = place.flag("on")
    job = place.job(place.cluster(1), f"until test -e {inside}; do sleep 0.05; done")
    job.running()
    wait_for(lambda: of(d, "batchaid_gpu_allocated_seconds_total") > 2)
    d.restart()
    assert of(d, "batchaid_gpu_allocated_seconds_total") < 2
    host.touch()
    job.succeed()


def test_replies_are_counted_by_service(site):
    d = site.daemon
    counted = of(d, "batchaid_http_requests_total", service="metrics", code="2xx")
    assert of(d, "batchaid_http_requests_total", service="metrics", code="2xx") == counted + 1
    refused = of(d, "batchaid_http_requests_total", service="admin", code="4xx") or 0
    d.call("GET", "/batchaid/nodes/nobody", api_version=None, expect=404)
    assert of(d, "batchaid_http_requests_total", service="admin", code="4xx") == refused + 1


def test_a_scraper_needs_its_token_or_a_right(site):
    d = site.daemon
    assert page(d, token=None, expect=401).error["code"] == "AuthenticationFailed"
    assert page(d, token=TOKEN).headers["Content-Type"] == TEXT
    for wrong in (TOKEN[:-1], TOKEN + "x", TOKEN.upper(), ""):
        page(d, token=wrong or None, expect=401)
    reader, other = Person(d, READER), Person(d, "none")
    page(d, token=reader.token())
    assert "batchaid/metrics/read" in page(d, token=other.token(), expect=403).error["message"]


def test_the_token_of_a_scraper_opens_nothing_else(site):
    d = site.daemon
    for path in ("/batchaid/nodes", "/batchaid/counters", "/batchaid/usage", f"/subscriptions/{d.subscription}/resourcegroups"):
        d.call("GET", path, token=TOKEN, expect=401)


def test_clients_of_a_network_need_no_token(own_daemon):
    d = own_daemon(config={"metrics": {"networks": ["127.0.0.0/8", "::1"]}})
    page(d, token=None)
    d.call("GET", "/batchaid/nodes", api_version=None, token=None, expect=401)
    far = own_daemon(config={"metrics": {"networks": ["10.0.0.0/8"]}})
    page(far, token=None, expect=401)


def test_the_time_of_a_backup_is_shown(site, tmp_path):
    assert of(site.daemon, "batchaid_backup_timestamp_seconds") == 0
    site.daemon.tool("backup", str(tmp_path / "copy.db"))
    at = of(site.daemon, "batchaid_backup_timestamp_seconds")
    assert at >= of(site.daemon, "process_start_time_seconds") - 1


def test_the_jobs_that_run_and_their_gpus_are_a_page_of_their_own(site):
    d, cluster = site.daemon, site.cluster(1)
    host, inside = site.flag("page-of-jobs")
    job = site.job(cluster, f"until test -e {inside}; do sleep 0.05; done", environmentVariables=wishes(GPUS=2))
    job.running()
    labels = {"kind": "job", "group": site.group, "home": site.workspace, "experiment": "exp", "job": job.name, "index": "0"}
    assert of(d, "batchaid_job_info", "/metrics/jobs", **labels, cluster=cluster.name) == 1
    assert of(d, "batchaid_job_gpus", "/metrics/jobs", **labels) == 2
    assert of(d, "batchaid_job_start_timestamp_seconds", "/metrics/jobs", **labels) > of(d, "process_start_time_seconds") - 1
    text, strict = page(d, "/metrics/jobs"), page(d, "/metrics/jobs", accept=OPEN)
    assert lint(text.text) == ""
    found = samples(strict.text, strict=True)
    assert found == samples(text.text)
    (node,) = [n for n in d.call("GET", "/batchaid/nodes", api_version=None).json["value"] if n.get("job") == job.name]
    held = [dict(key[1:]) for key in found if key[0] == "batchaid_gpu_job" and ("job", job.name) in key]
    assert {h["uuid"] for h in held} <= {g.get("uuid", "") for g in node["facts"]["gpus"]}
    assert {h["gpu"] for h in held} == {"0", "1"} and {h["node"] for h in held} == {node["node"]}
    (person,) = {dict(key[1:])["person"] for key in found if key[0] == "batchaid_job_info" and ("job", job.name) in key}
    assert person != ""  # as metrics.people wants
    host.touch()
    job.succeed()
    wait_for(lambda: of(d, "batchaid_job_info", "/metrics/jobs", job=job.name) is None)
    assert "job=" not in page(d).text.replace('kind="job', "")


def test_each_node_and_its_sample_are_on_a_page_of_their_own(site):
    d = site.daemon
    site.cluster(1)
    (node,) = [n for n in d.call("GET", "/batchaid/nodes", api_version=None).json["value"]][-1:]
    name = node["name"]
    assert of(d, "batchaid_node_state", "/metrics/nodes", node=name, state=node["state"]) == 1
    assert of(d, "batchaid_node_gpus", "/metrics/nodes", node=name) == 4
    wait_for(lambda: of(d, "batchaid_node_cpu_ratio", "/metrics/nodes", node=name) is not None, 40)
    assert 0 <= of(d, "batchaid_node_cpu_ratio", "/metrics/nodes", node=name) <= 1
    assert 0 < of(d, "batchaid_node_memory_used_bytes", "/metrics/nodes", node=name) < of(d, "batchaid_node_memory_bytes", "/metrics/nodes", node=name)
    assert of(d, "batchaid_gpu_state", "/metrics/nodes", node=name, gpu="0", state="free") == 1
    assert of(d, "batchaid_gpu_power_watts", "/metrics/nodes", node=name, gpu="0") is None  # nobody knows it, so it is not 0
    text, strict = page(d, "/metrics/nodes"), page(d, "/metrics/nodes", accept=OPEN)
    assert lint(text.text) == ""
    assert set(samples(strict.text, strict=True)) == set(samples(text.text))
