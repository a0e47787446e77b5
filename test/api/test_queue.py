# SPDX-License-Identifier: MIT
"""What runs, what waits and for what, and what became of jobs; replies are judged by docs/admin-api.json."""

import json

import pytest
from support.daemon import Daemon
from support.people import READER, Person
from support.refusals import refused
from support.world import In, Place, fresh, instant, job_body, wait_flag, wait_for

HOUR = {"constraints": {"maxWallClockTime": "PT1H"}}
MINUTE = {"constraints": {"maxWallClockTime": "PT1M"}}


def get(d, path, expect=200, token=True, **params):
    return d.call("GET", f"/batchaid/{path}", api_version=None, params=params, expect=expect, token=token).json


def queue(d, cluster, **more):
    return get(d, "queue", cluster=cluster.name, **more)["value"]


def waiting(d, cluster):
    return {q["name"]: q["waitsFor"] for q in queue(d, cluster) if "place" in q}


def ids(place, job):
    return f"{place.group}/{place.workspace}/exp/{job.name}"


def story(d, place, job):
    return get(d, f"jobs/{ids(place, job)}")["story"]


@pytest.fixture
def flag(own_place):
    """A running job waits for it; it is made at the end at the latest."""
    host, inside = own_place.flag(fresh("flag"))
    yield host, wait_flag(inside)
    host.touch()


def test_who_runs_and_who_waits_for_what(own_place, flag):
    d, (host, until) = own_place.daemon, flag
    cluster = own_place.cluster(2)
    runs = own_place.job(cluster, until, **HOUR).running()
    big = own_place.job(cluster, nodes=2, **HOUR)
    long = own_place.job(cluster, **HOUR)
    huge = own_place.job(cluster, nodes=3)
    got = {q["name"]: q for q in queue(d, cluster)}
    assert [len(got[runs.name]["nodes"]), "limitTime" in got[runs.name], "place" in got[runs.name]] == [1, True, False]
    assert [got[j.name]["place"] for j in (big, long, huge)] == [1, 2, 3]
    assert got[big.name]["waitsFor"] == "1 of 2 nodes free"
    assert got[long.name]["waitsFor"] == f"1 of 1 node free, behind {big.name}"
    assert got[huge.name]["waitsFor"].startswith(f"3 nodes, but cluster {cluster.name} is scaled to 2")
    ends = instant(got[runs.name]["limitTime"])
    assert ends < instant(got[big.name]["expectedStartTime"]) < instant(got[long.name]["expectedStartTime"])
    assert "expectedStartTime" not in got[huge.name]
    assert story(d, own_place, big)[-1]["text"].startswith("it waits in place 1 for 1 of 2 nodes free; by the time")
    host.touch()
    long.succeed()
    texts = [line["text"] for line in story(d, own_place, big)]
    assert texts[0] == f"queued in cluster {cluster.name}: it needs 2 nodes"
    assert texts[1].startswith(f"it waited for job {runs.name}, which ended on ")
    assert texts[2].startswith("allocated after ") and ": attempt 1, on tvm-" in texts[2]
    assert texts[3] == "all nodes are prepared"
    assert texts[4].startswith("succeeded after ") and texts[4].endswith("exit code 0") and len(texts) == 5


def test_a_part_of_a_queue_says_what_is_left_out(own_place, flag, temporary):
    d, (host, until), cluster = own_place.daemon, flag, own_place.cluster(nodes=2)
    run = [own_place.job(cluster, until).running() for _ in range(2)]
    wait = [own_place.job(cluster) for _ in range(2)]
    whole = get(d, "queue", cluster=cluster.name)
    assert [q["name"] for q in whole["value"]] == [job.name for job in run + wait] and whole["leftOut"] == []
    part = get(d, "queue", cluster=cluster.name, max=1, running=1)
    assert [q["name"] for q in part["value"]] == [run[0].name, wait[0].name]
    assert part["leftOut"] == [{"cluster": cluster.name, "running": 1, "waiting": True}]
    stranger = temporary(Person(d, READER, f"/subscriptions/{d.subscription}/resourceGroups/elsewhere"))
    assert stranger.get("/batchaid/queue?max=1&running=0", api_version=None) == {"value": [], "leftOut": []}
    refused(d.call("GET", "/batchaid/queue?running=-1", api_version=None), 400, "InvalidQueryParameterValue", "running", ["-1", "from 0 to"])
    host.touch()


def test_places_go_on_behind_what_the_plan_foresees(own_place, flag, temporary):
    """Rows are read in batches: of the plan, then 500 each, then those that are held."""
    d, (host, until), cluster = own_place.daemon, flag, own_place.cluster(nodes=1)
    first = own_place.job(cluster, until).running()
    own_place.job(cluster, environmentVariables=[{"name": "BATCHAID_JOB_ARRAY", "value": "1-1000"}])
    held = own_place.job(cluster, environmentVariables=[{"name": "BATCHAID_JOB_DEPENDS_ON", "value": first.name}])
    ada, hers = temporary(Person(d)), own_place.job_at(fresh("hers"))
    ada.call("PUT", hers.path, own_place.whole(job_body(cluster.path)), expect=(200, 202))
    whole = get(d, "queue", cluster=cluster.name, max=10000)
    waiting = [q for q in whole["value"] if "place" in q]
    assert [q["place"] for q in waiting] == list(range(1, 1002)) and waiting[-1]["name"] == hers.name
    assert [q["index"] for q in waiting[:-1]] == list(range(1, 1001))
    assert waiting[700]["waitsFor"] == "its turn: 700 others are before it"
    assert [q["name"] for q in whole["value"] if "place" not in q] == [first.name, held.name] and whole["leftOut"] == []
    mine = ada.get(f"/batchaid/queue?mine=true&max=1&cluster={cluster.name}", api_version=None)
    assert [(q["name"], q["place"]) for q in mine["value"]] == [(hers.name, 1001)] and mine["leftOut"] == []
    part = get(d, "queue", cluster=cluster.name, max=703)
    assert [q["place"] for q in part["value"] if "place" in q] == list(range(1, 704))
    assert part["leftOut"] == [{"cluster": cluster.name, "running": 0, "waiting": True}]
    host.touch()


def pages(d, rows, **more):
    """The pages of the queue."""
    found, after = [], {}
    while True:
        page = get(d, "queue", rows=rows, **more, **after)
        assert page["leftOut"] == [] and len(page["value"]) <= rows
        found.append(page["value"])
        if "next" not in page:
            return found
        after = {"after": page["next"]}


def test_the_whole_queue_comes_page_by_page(own_place, flag, temporary):
    """Rows that run, that the plan foresees, that are behind these, that are held; and the next cluster."""
    d, (host, until), cluster, other = own_place.daemon, flag, own_place.cluster(nodes=2), own_place.cluster(nodes=1)
    first = [own_place.job(cluster, until).running() for _ in range(2)]
    own_place.job(cluster, environmentVariables=[{"name": "BATCHAID_JOB_ARRAY", "value": "1-450"}])
    for _ in range(2):
        own_place.job(cluster, environmentVariables=[{"name": "BATCHAID_JOB_DEPENDS_ON", "value": first[0].name}])
    elsewhere = own_place.job(other, until).running()
    hers = own_place.job_at(fresh("hers"))
    ada = temporary(Person(d))
    ada.call("PUT", hers.path, own_place.whole(job_body(cluster.path)), expect=(200, 202))
    key = lambda q: (q["cluster"], q["name"], q.get("index"), q.get("place"), q["waitsFor"] if "waitsFor" in q else q["nodes"])  # noqa: E731
    whole = [key(q) for q in get(d, "queue", max=10000)["value"] if q["cluster"] in (cluster.name, other.name)]
    assert len(whole) == 456 and whole[-1][1] == elsewhere.name
    for rows in (1000, 100, 37, 1):
        of = {} if rows > 1 else {"user": ada.name}
        found = [key(q) for page in pages(d, rows, **of) for q in page if q["cluster"] in (cluster.name, other.name)]
        assert found == ([one for one in whole if one[1] == hers.name] if of else whole)
    (page,) = pages(d, 1000, cluster=cluster.name)
    assert [key(q) for q in page] == whole[:-1]
    host.touch()


def test_a_full_reply_says_so_and_the_command_prints_all():
    """Of 4 MiB. Such a queue is of two clusters, and a third one comes last."""
    with Daemon(arguments=["--testing", "--fake-nodes"]) as d:
        place = Place(d).make()
        many = [place.cluster(nodes=0) for _ in range(2)]
        for cluster in many:
            for n in range(8):
                place.job(cluster, name=f"{n}-{cluster.name}".ljust(60, "x"), environmentVariables=[{"name": "BATCHAID_JOB_ARRAY", "value": "0-999"}])
        last = place.job(place.cluster(nodes=0), name="last")
        reply = get(d, "queue", max=10000)
        assert reply["cut"] is True and last.name not in {q["name"] for q in reply["value"]}
        assert "cut" not in get(d, "queue")
        whole = json.loads(d.tool("queue", "--json").stdout)
        assert len(whole["value"]) == 16001 and whole["value"][-1]["name"] == "last" and whole["leftOut"] == []


def test_what_comes_between_two_pages_of_the_queue(own_place, flag):
    """A row that has gone, and a row that was put in front, move no other."""
    d, (host, until), cluster = own_place.daemon, flag, own_place.cluster(nodes=1)
    own_place.job(cluster, until).running()
    wait = [own_place.job(cluster) for _ in range(5)]
    page = get(d, "queue", cluster=cluster.name, rows=3)
    assert [q["name"] for q in page["value"]][1:] == [wait[0].name, wait[1].name]
    wait[1].terminate()
    wait[1].wait("failed")
    own_place.job(cluster, schedulingPriority="high")
    rest = get(d, "queue", cluster=cluster.name, after=page["next"])
    assert [q["name"] for q in rest["value"]] == [job.name for job in wait[2:]] and "next" not in rest
    host.touch()


@pytest.mark.parametrize("params, words", [
    ({"after": "x"}, "'x' is not a valid position in the queue"), ({"after": "1/9/0/1/0"}, "'1/9/0/1/0'"), ({"rows": "0"}, "'0'"), ({"rows": "1001"}, "'1001'")])
def test_a_page_of_the_queue_that_cannot_be(daemon, params, words):
    refused(daemon.call("GET", "/batchaid/queue", api_version=None, params=params), 400, "InvalidQueryParameterValue", next(iter(params)), [words])


def test_no_job_hides_behind_those_of_others(own_place, flag, temporary):
    d, (host, until), cluster = own_place.daemon, flag, own_place.cluster(nodes=1)
    own_place.job(cluster, until).running()
    others = [own_place.job(cluster) for _ in range(2)]
    ada = temporary(Person(d))
    mine = [own_place.job_at(fresh("hers")) for _ in range(2)]
    for job in mine:
        ada.call("PUT", job.path, own_place.whole(job_body(cluster.path)), expect=(200, 202))
    for asked in (lambda **more: ada.get("/batchaid/queue?" + "&".join(f"{k}={v}" for k, v in more.items()), api_version=None),
                  lambda **more: get(d, "queue", user=ada.name, **{k: v for k, v in more.items() if k != "mine"})):
        one = asked(cluster=cluster.name, mine="true", max=1)
        assert [(q["name"], q["place"]) for q in one["value"]] == [(mine[0].name, 3)]
        assert one["leftOut"] == [{"cluster": cluster.name, "running": 0, "waiting": True}]
        assert [q["name"] for q in asked(cluster=cluster.name, mine="true", max=2)["value"]] == [job.name for job in mine]
        assert asked(cluster=cluster.name, mine="true", max=2)["leftOut"] == []
    assert [q["name"] for q in get(d, "queue", cluster=cluster.name, max=1)["value"] if "place" in q] == [others[0].name]
    host.touch()


def test_a_short_job_starts_in_a_gap(own_place, flag):
    host, until = flag
    cluster = own_place.cluster(2)
    runs = own_place.job(cluster, until, **HOUR).running()
    big = own_place.job(cluster, nodes=2, **HOUR)
    own_place.job(cluster, **MINUTE).succeed()
    assert big.state == "queued"
    host.touch()
    big.succeed()


@pytest.mark.parametrize("patterns", [["other", "*/else"], []])
def test_where_there_is_no_backfill_all_wait(patterns):
    with Daemon({"jobs": {"backfill": patterns}}) as d:
        place = Place(d).make()
        host, inside = place.flag("go")
        cluster = place.cluster(2)
        place.job(cluster, wait_flag(inside), **HOUR).wait("running")
        big, small = place.job(cluster, nodes=2, **HOUR), place.job(cluster, **MINUTE)
        assert waiting(d, cluster)[small.name] == f"1 of 1 node free, behind {big.name}"
        host.touch()
        small.succeed()


def test_a_story_tells_of_the_preparation(own_place):
    job = own_place.job(own_place.cluster(1), jobPreparation={"commandLine": "true"}).succeeded()
    told = story(own_place.daemon, own_place, job)
    assert [line["text"].split()[0] for line in told] == ["queued", "allocated", "prepared", "succeeded"]
    assert told == sorted(told, key=lambda line: instant(line["time"]))


def test_a_story_tells_of_failures(own_place):
    d = own_place.daemon
    job = own_place.job(own_place.cluster(1), "exit 3")
    job.fail()
    last = story(d, own_place, job)[-1]["text"]
    assert last.startswith("failed after ") and "exit code 3: JobFailed" in last
    refused(d.call("GET", f"/batchaid/jobs/{ids(own_place, job)}x", api_version=None), 404, "JobNotFound")


def test_who_waits_for_ends_stands_in_no_queue(own_place, flag):
    d, (host, until) = own_place.daemon, flag
    cluster = own_place.cluster(1)
    first = own_place.job(cluster, until).running()
    after = [{"name": "BATCHAID_JOB_DEPENDS_ON", "value": f"{first.name}:end"}]
    second = own_place.job(cluster, environmentVariables=after)
    (held,) = [q for q in queue(d, cluster) if q["name"] == second.name]
    assert held["waitsFor"] == f"job {first.name} to end" and "place" not in held
    assert story(d, own_place, second)[-1]["text"] == f"it waits for job {first.name} to end"
    host.touch()
    second.succeed()
    texts = [line["text"] for line in story(d, own_place, second)]
    assert texts[1:3] == [f"waits for {first.name}:end", f"released: {first.name} has succeeded"]


def test_an_array_is_there_index_by_index(own_place, flag):
    d, (host, until) = own_place.daemon, flag
    cluster = own_place.cluster(1)
    wishes = [{"name": "BATCHAID_JOB_ARRAY", "value": "3-5"}, {"name": "BATCHAID_JOB_ARRAY_LIMIT", "value": "2"}]
    job = own_place.job(cluster, until, environmentVariables=wishes)
    wait_for(lambda: [q for q in queue(d, cluster) if "nodes" in q], 30, "the first to run")
    got = {q["index"]: q.get("waitsFor") for q in queue(d, cluster)}
    assert got == {3: None, 4: "0 of 1 node free", 5: "earlier indexes of its array to end"}
    assert [(q["index"], q["state"], "startTime" in q) for q in queue(d, cluster)] == [(3, "running", True), (4, "queued", False), (5, "queued", False)]
    texts = [line["text"] for line in story(d, own_place, job)]
    assert texts[-3].startswith("index 3 runs on tvm-") and texts[-2] == "2 indexes wait, 4 to 5"
    assert texts[-1].startswith("index 4 waits "), texts
    host.touch()
    job.succeed()
    assert [line["text"] for line in story(d, own_place, job)][-3:] == [f"index {i} has ended" for i in (3, 4, 5)]


def test_indexes_that_wait_for_others_are_left_out_in_words(own_place, flag):
    d, (host, until) = own_place.daemon, flag
    cluster = own_place.cluster(1)
    wishes = [{"name": "BATCHAID_JOB_ARRAY", "value": "1-9"}, {"name": "BATCHAID_JOB_ARRAY_LIMIT", "value": "1"}]
    job = own_place.job(cluster, until, environmentVariables=wishes)
    wait_for(lambda: [q for q in queue(d, cluster) if "nodes" in q], 30, "the first to run")
    part = get(d, "queue", cluster=cluster.name, max=3)
    assert [q["index"] for q in part["value"]] == [1, 2, 3, 4] and part["leftOut"] == [{"cluster": cluster.name, "running": 0, "waiting": True}]
    assert get(d, "queue", cluster=cluster.name, max=8)["leftOut"] == []
    host.touch()
    job.succeed()


def test_a_job_of_another_subscription_says_so(own_place, flag):
    d, (host, until) = own_place.daemon, flag
    guid = d.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
    there = Place(In(d, guid), "other", "ws").make()
    cluster = there.cluster(1)
    job = there.job(cluster, until).running()
    assert [(q["name"], q["subscription"]) for q in queue(d, cluster)] == [(job.name, guid)]
    assert "running" in d.tool("explain", job.name).stdout and d.tool("job", job.name).stdout
    assert d.tool("exec", job.name, "--", "echo", "here").stdout == "here\n"
    assert d.tool("cancel", job.name).returncode == 0
    job.wait("failed")
    assert d.tool("logs", job.name).returncode == 0
    host.touch()


def test_jobs_of_all_groups_are_filtered(own_place):
    d = own_place.daemon
    cluster = own_place.cluster(1)
    good, bad = own_place.job(cluster), own_place.job(cluster, "exit 1")
    good.succeed()
    bad.fail()

    def names(**params):
        found, before = [], {}
        while True:
            page = get(d, "jobs", cluster=cluster.name, **params, **before)
            found += [j["name"] for j in page["value"]]
            if "next" not in page:
                return found
            before = {"before": page["next"]}

    assert names() == [bad.name, good.name] == names(max=1)
    assert names(state="failed") == [bad.name] and names(state="queued") == []
    assert names(experiment="exp", name=good.name) == [good.name] and names(experiment="none") == []
    assert names(user="nobody") == [] and len(names(user=get(d, "users")["value"][0]["name"])) == 2
    made = get(d, "jobs", cluster=cluster.name, name=bad.name)["value"][0]["createdTime"]
    assert names(since=made) == [bad.name]
    for wrong in ({"state": "done"}, {"since": "yesterday"}, {"max": 0}):
        assert d.call("GET", "/batchaid/jobs", api_version=None, params=wrong).status == 400


def test_people_see_what_their_roles_let_them_read(own_place, flag):
    d, (host, until) = own_place.daemon, flag
    cluster = own_place.cluster(1)
    runs = own_place.job(cluster, until).running()
    waits = own_place.job(cluster)
    everything = [runs.name, waits.name]
    for role, scope, seen in (
        (READER, own_place.group, everything),
        (READER, None, everything),
        (READER, own_place.experiment_path() + "/jobs/" + waits.name, [waits.name]),
    ):
        with_role = Person(d, role=role, scope=scope)
        token = with_role.token()
        assert [q["name"] for q in queue(d, cluster, token=token)] == seen
        assert sorted(j["name"] for j in get(d, "jobs", token=token, cluster=cluster.name)["value"]) == sorted(seen)
        status = 200 if runs.name in seen else 404
        get(d, f"jobs/{ids(own_place, runs)}", expect=status, token=token)
        d.call("DELETE", f"/batchaid/users/{with_role.name}", expect=204)
    nobody = Person(d, role="none")
    for path in ("queue", "jobs", f"jobs/{ids(own_place, runs)}"):
        get(d, path, expect=403, token=nobody.token())
    d.call("DELETE", f"/batchaid/users/{nobody.name}", expect=204)


def test_the_oldest_jobs_are_listed_first(own_place):
    d, cluster = own_place.daemon, own_place.cluster(1)
    names = [own_place.job(cluster).name for _ in range(3)]
    listed = lambda *more: [j["name"] for j in json.loads(d.tool("jobs", "--cluster", cluster.name, "--json", *more).stdout)["value"]]  # noqa: E731
    assert listed("--sort", "createdTime") == names and listed("--sort", "-createdTime") == listed() == names[::-1]
    assert "'name'" in d.tool("jobs", "--sort", "name", check=False).stderr


def test_the_commands_print_it(own_place, flag):
    d, (host, until) = own_place.daemon, flag
    cluster = own_place.cluster(1)
    runs = own_place.job(cluster, until, **HOUR).running()
    waits = own_place.job(cluster, name=fresh("waits"))
    table = d.tool("queue", "--cluster", cluster.name).stdout.splitlines()
    assert table[0].split()[:4] == ["CLUSTER", "PLACE", "JOB", "USER"] and len(table) == 3
    assert runs.name in table[1] and waits.name in table[2] and f"behind {runs.name}" not in table[2]
    listed = json.loads(d.tool("queue", "--cluster", cluster.name, "--json").stdout)
    assert listed["value"] == queue(d, cluster)
    rows = d.tool("jobs", "--cluster", cluster.name, "--state", "running").stdout.splitlines()
    assert len(rows) == 2 and runs.name in rows[1]
    assert json.loads(d.tool("jobs", "--json", "--cluster", cluster.name).stdout)["value"][0]["name"] == waits.name
    recent = d.tool("jobs", "--cluster", cluster.name, "--since", "2h").stdout.splitlines()
    assert len(recent) == 3 and d.tool("jobs", "--cluster", cluster.name, "--since", "0s").stderr.startswith("batchaid: no job fits")
    nobody = d.tool("queue", "--cluster", cluster.name, "--user", "nobody")
    assert nobody.stderr == f"batchaid: no job fits --cluster {cluster.name} --user nobody; `batchaid queue` shows all running and waiting jobs\n"
    for command in ("queue", "jobs"):
        assert waits.name in d.tool(command, "--cluster", cluster.name, "--mine").stdout
    assert waits.name not in d.tool("jobs", "--begins", runs.name[:-1] + "-").stdout
    assert waits.name in d.tool("jobs", "--begins", waits.name[:-1].upper()).stdout
    nothing = d.tool("jobs", "--begins", "nothing-has-this-name")
    assert nothing.stderr == "batchaid: no job fits --begins nothing-has-this-name; `batchaid jobs` lists all\n"
    wrong = d.tool("jobs", "--since", "2x", check=False)
    assert wrong.returncode == 1 and "'2x' is not a valid time" in wrong.stderr
    lines = d.tool("explain", waits.name).stdout.splitlines()
    assert lines[0] == f"job {waits.name} in {own_place.group}/{own_place.workspace}/exp, queued"
    assert "queued in cluster" in lines[1] and lines[2].startswith("now ")
    assert json.loads(d.tool("explain", "--json", f"exp/{waits.name}").stdout)["job"]["name"] == waits.name
    host.touch()
    wait_for(lambda: not waiting(d, cluster), 30, "the queue to be empty")
