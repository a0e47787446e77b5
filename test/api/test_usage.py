# SPDX-License-Identifier: MIT
"""The record of use: what a real node measures of a job, who may see it, and what the commands print."""
import csv
import io
import json
from datetime import datetime, timedelta, timezone
from decimal import Decimal

from support.people import READER, SUBMITTER, Person
from support.world import Place, fresh, job_body, wait_for

BURN = "import time\nx = bytearray(64 << 20)\nend = time.process_time() + 1.2\nwhile time.process_time() < end: pass"


def usage(d, path="", token=True, expect=200, **params):
    return d.call("GET", f"/batchaid/usage{path}", api_version=None, params=params, token=token, expect=expect).json


def of_job(place, job):
    return usage(place.daemon, f"/{place.group}/{place.workspace}/exp/{job.name}")


def ended(place, job):
    """Its nodes are released, which is after its end."""
    return wait_for(lambda: (got := of_job(place, job))["use"]["attempts"] > 0 and got)


def succeeded(place, command="true", **more):
    job = place.job(place.cluster(1) if "cluster" not in more else more.pop("cluster"), command, **more)
    job.succeed()
    return job


def line(place, by="group", name=None, **params):
    got = usage(place.daemon, by=by, **params)
    return next((v for v in got["value"] if v["name"] == (name or place.group)), None)


def test_a_node_measures_what_a_job_uses(own_place):
    job = succeeded(own_place, f"/usr/bin/python3 -c '{BURN}' & wait $!")
    got = ended(own_place, job)
    use, (part,) = got["use"], got["allocations"]
    assert use["userMicroseconds"] + use["kernelMicroseconds"] > 1_100_000
    assert 64 << 20 <= part["memoryUsedBytes"] <= use["memoryPeakBytes"] < 1 << 30
    assert use["unmeasured"] == 0 and use["runs"] == 1 and not part["requeued"]
    assert use["nodeMilliseconds"] > 1100
    assert got["advice"] == "It held its nodes for less than a minute, too short for advice."


def test_the_report_adds_up_and_outlives_what_it_names(own_place):
    d, cluster = own_place.daemon, own_place.cluster(1)
    jobs = [succeeded(own_place, cluster=cluster) for _ in range(3)]
    parts = [ended(own_place, j)["use"] for j in jobs]
    whole = line(own_place)
    assert all(whole[k] == sum(p[k] for p in parts) for k in whole if k not in ("name", "memoryPeakBytes"))
    assert whole["runs"] == 3
    began = datetime.now(timezone.utc) - timedelta(hours=1)  # the rows of the day are read, not its sum
    assert line(own_place, **{"from": began.strftime("%Y-%m-%dT%H:%M:%SZ")}) == whole
    experiment = line(own_place, "experiment", f"{own_place.group}/{own_place.workspace}/exp")
    assert {**experiment, "name": ""} == {**whole, "name": ""}
    name = f"{own_place.group}/{own_place.workspace}/{cluster.name}"
    assert line(own_place, "cluster", name)["gpuUnknownMilliseconds"] == whole["gpuMilliseconds"]
    for j in jobs:
        j.delete()
    assert line(own_place) == whole
    assert line(own_place, to="2020-01") is None
    assert line(own_place, **{"from": "2020-01-01"}) == whole
    reply = usage(d, by="year", expect=400)
    assert reply["error"]["message"].startswith("'year' is not a valid grouping; use user, group,")
    reply = usage(d, to="soon", expect=400)
    assert "'soon' is not a valid time; use one like 2026-11," in reply["error"]["message"]


def test_what_runs_counts_until_now(own_place):
    host, inside = own_place.flag(fresh("flag"))
    job = own_place.job(own_place.cluster(1), f"until test -e {inside}; do sleep 0.05; done")
    job.running()
    first = line(own_place)["nodeMilliseconds"]
    wait_for(lambda: line(own_place)["nodeMilliseconds"] > first)
    assert line(own_place)["runs"] == 0
    host.touch()
    job.succeed()


def test_people_see_their_own_use(own_place):
    """A role at the group shows the use of all in it; one at a workspace alone does not."""
    d, cluster = own_place.daemon, own_place.cluster(1)
    ended(own_place, succeeded(own_place, cluster=cluster))
    reader = Person(d, role=READER, scope=f"/subscriptions/{d.subscription}/resourceGroups/{own_place.group}")
    person = Person(d, role=SUBMITTER, scope=own_place.path)
    seen = lambda who: {v["name"]: v["runs"] for v in usage(d, token=who.token())["value"]}  # noqa: E731
    assert seen(person) == {} and sum(seen(reader).values()) == 1
    own = own_place.job_at(fresh("own"), "exp")
    person.call("PUT", own.path, own_place.whole(job_body(cluster.path)), expect=(200, 202))
    own.succeed()
    ended(own_place, own)
    assert seen(person) == {person.name: 1} and sum(seen(reader).values()) == 2
    for who in (person, reader):
        who.remove()
    nobody = Person(d, role="none")
    usage(d, token=nobody.token(), expect=403)
    nobody.remove()


def test_the_commands_print_it(own_place):
    d = own_place.daemon
    job = succeeded(own_place, name=fresh("used"))
    ended(own_place, job)
    told = d.tool("job", job.name).stdout.splitlines()
    assert told[0] == f"{job.name} in {own_place.group}/{own_place.workspace}/exp, succeeded"
    assert [text.split()[0] for text in told[1:-1]] == ["nodes", "GPUs", "processors", "memory", "read", "written", "waited"]
    assert told[-1].endswith("too short for advice.")
    assert json.loads(d.tool("job", "--json", job.name).stdout) == of_job(own_place, job)
    table = d.tool("report", "--by", "group").stdout.splitlines()
    assert table[0].split()[:4] == ["GROUP", "RUNS", "NODE-H", "GPU-H"] and table[-1].startswith("total ")
    rows = list(csv.DictReader(io.StringIO(d.tool("report", "--by", "group", "--csv").stdout)))
    mine = next(row for row in rows if row["group"] == own_place.group)
    assert float(mine["node_seconds"]) * 1000 == line(own_place)["nodeMilliseconds"]


def report(d, *arguments):
    return d.tool("report", *arguments).stdout


def of_csv(place, *arguments):
    """The numbers of the group's row; none if it has no row."""
    rows = list(csv.DictReader(io.StringIO(report(place.daemon, "--by", "group", "--csv", *arguments))))
    found = [{k: Decimal(v) for k, v in row.items() if k != "group"} for row in rows if row["group"] == place.group]
    return found[0] if found else {}


def instant(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def test_the_command_cuts_time_so_that_parts_add_up(own_place):
    """The first cut is in the midst of an allocation."""
    cluster = own_place.cluster(1)
    first, second = ended(own_place, succeeded(own_place, "sleep 0.4", cluster=cluster)), ended(own_place, succeeded(own_place, cluster=cluster))
    begin, end = (instant(first["allocations"][0][k]) for k in ("begin", "end"))
    a = (begin + (end - begin) / 2).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    b = second["allocations"][0]["begin"]
    whole = of_csv(own_place)
    parts = [of_csv(own_place, "--to", a), of_csv(own_place, "--from", a, "--to", b), of_csv(own_place, "--from", b)]
    for column in set(whole) - {"memory_peak_bytes"}:
        assert sum(p.get(column, 0) for p in parts) == whole[column], column
    assert [p["runs"] for p in parts] == [0, 1, 1] and all(p["node_seconds"] > 0 for p in parts)
    assert of_csv(own_place, "--from", first["allocations"][0]["begin"][:7]) == whole  # its month
    assert of_csv(own_place, "--from", first["allocations"][0]["begin"][:10]) == whole
    assert of_csv(own_place, "--to", first["allocations"][0]["begin"][:7]) == {}
    done = own_place.daemon.tool("report", "--from", "soon", check=False)
    assert done.returncode != 0 and "'soon' is not a valid time; use one like 2026-11" in done.stderr


def test_the_command_reports_in_every_way_what_the_api_says(own_daemon):
    """Of a daemon on which nothing else runs."""
    place = Place(own_daemon()).make()
    ended(place, succeeded(place))
    d = place.daemon
    totals = []
    for by in ("user", "group", "cluster", "gpu", "experiment"):
        said = json.loads(report(d, "--by", by, "--to", "2999-01", "--json"))
        assert said == usage(d, by=by, to="2999-01")
        totals.append(said["total"])
        assert report(d, "--by", by).split()[0] == by.upper()
    assert all(total == totals[0] for total in totals) and totals[0]["runs"] == 1
