# SPDX-License-Identifier: MIT
"""The Python package for tests, with the daemon in it, in an environment outside of the tree."""

import os
import re
import signal
import subprocess
import venv
from pathlib import Path

import pytest
from support.daemon import ROOT
from support.waiting import wait_for
from support.wheel import install_wheel

PAGE = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "testing.md").read_text(), re.S)[1]
EXAMPLE = '''
from datetime import timedelta
import pytest
import batchaid as package
from batchaid import BatchaidError


def group(batchaid, name="g"):
    path = f"/subscriptions/{batchaid.id}/resourceGroups/{name}"
    return batchaid.cloud.call("PUT", path + "?api-version=2019-10-01", {"location": "here"})


@pytest.mark.parametrize("turn", range(5))
def test_each_has_a_subscription_of_its_own(batchaid, turn):
    client = batchaid.batchai_client()
    group(batchaid)
    assert list(client.workspaces.list()) == []
    client.workspaces.begin_create("g", "ws", {"location": "northeurope"}).result()
    assert [w.name for w in client.workspaces.list()] == ["ws"]
    assert len(batchaid.requests(operation="Workspaces_Create")) == 1


def test_errors_say_what_was_wrong(batchaid):
    with pytest.raises(BatchaidError, match="Jobs_Crate") as e:
        batchaid.fault(operation="Jobs_Crate", hold=True)
    assert (e.value.status, e.value.code) == (400, "InvalidParameter")


def test_a_wrong_secret_and_a_cloud_that_is_not_started_are_said(batchaid):
    wrong = package.Cloud.running({**batchaid.environment, "AZURE_CLIENT_SECRET": "wrong"})
    with pytest.raises(BatchaidError, match="401 invalid_client: The client_secret is wrong"):
        wrong.token()
    with pytest.raises(RuntimeError, match="not started"):
        package.Cloud().subscription()
    package.Cloud().stop()
    with package.Cloud() as cloud:
        assert cloud.ready()
    assert not cloud.ready()


def test_a_state_is_seeded_from_a_file(batchaid, tmp_path):
    (tmp_path / "seed.yaml").write_text("groups: {g: {location: here}}")
    assert batchaid.seed(tmp_path / "seed.yaml") == {"resourceGroups": 1, "resources": 1}


def test_a_state_is_seeded_and_dumped(batchaid):
    state = {"groups": {"g": {"location": "here", "workspaces": {"ws": {"location": "there"}}}}}
    assert batchaid.seed(state) == {"resourceGroups": 1, "resources": 2}
    assert batchaid.dump() == batchaid.dump("g") == state
    assert batchaid.cloud.ready() and batchaid.cloud.health()["healthy"]
    with pytest.raises(BatchaidError, match="line 1, column 1 .*gruops"):
        batchaid.seed("gruops: {}")


def scripted_job(batchaid, size="FAKE"):
    """Queued on one fake node."""
    call, version = batchaid.cloud.call, "?api-version=2018-05-01"
    at = f"/subscriptions/{batchaid.id}/resourceGroups/g/providers/Microsoft.BatchAI/workspaces/ws"
    group(batchaid)
    call("PUT", at + version, {"location": "northeurope"})
    cluster = {"vmSize": size, "scaleSettings": {"manual": {"targetNodeCount": 1}},
               "userAccountSettings": {"adminUserName": "demo", "adminUserPassword": "never-shown-1"}}
    call("PUT", at + "/clusters/c" + version, {"properties": cluster})
    call("PUT", at + "/experiments/e" + version)
    job = {"cluster": {"id": at + "/clusters/c"}, "nodeCount": 1, "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/out",
           "customToolkitSettings": {"commandLine": "python train.py"}}
    path = at + "/experiments/e/jobs/j" + version
    call("PUT", path, {"properties": job})
    return path


def state_of(batchaid, path):
    return batchaid.cloud.call("GET", path)["properties"]["executionState"]


def wait_for(batchaid, path, state):
    """By what has happened, not by the clock."""
    seen = 0
    while state_of(batchaid, path) != state:
        for event in batchaid.events(after=seen, timeout=20):
            seen = max(seen, event["sequence"])


def test_a_job_does_what_a_rule_says(batchaid):
    unused = batchaid.rule(name="nobody", exitCode=1)
    rule = batchaid.rule(name="j", exitCode=3, hold=True)
    path = scripted_job(batchaid)
    wait_for(batchaid, path, "running")
    assert [(r.id, r.name) for r in batchaid.unused_rules()] == [(unused.id, "nobody")] and len(batchaid.rules()) == 2
    assert repr(batchaid.unused_rules()) == f"[<Rule {unused.id}: name='nobody', role='job'>]"
    assert rule.release() == 1
    wait_for(batchaid, path, "failed")
    assert batchaid.cloud.call("GET", path)["properties"]["executionInfo"]["exitCode"] == 3
    rule.remove()
    assert [r["id"] for r in batchaid.rules()] == [unused.id]


def test_a_job_waits_for_an_allocation_that_is_let_go(batchaid):
    fault = batchaid.fault(pool="c", allocation={})
    path = scripted_job(batchaid)
    assert state_of(batchaid, path) == "queued"
    fault.release()
    wait_for(batchaid, path, "succeeded")


def test_six_hours_are_over_at_once():
    import batchaid as package
    with package.Cloud() as cloud, cloud.subscription() as mine:
        cloud.clock.stop()
        mine.rule(name="j", duration="PT6H")
        path = scripted_job(mine)
        cloud.clock.rate(1)
        wait_for(mine, path, "running")
        assert cloud.clock.advance(timedelta(hours=6))["ahead"]
        assert state_of(mine, path) == "succeeded"
        assert cloud.clock.follow()["real"] and cloud.clock.look()["real"]


def test_a_cloud_as_slow_as_the_service():
    import batchaid as package
    with package.Cloud() as cloud, cloud.subscription() as mine:
        cloud.clock.stop()
        assert mine.strict(allocation="PT3M")["nodeStart"] == "PT30S"
        path = scripted_job(mine)
        cloud.clock.advance("PT3M")
        assert state_of(mine, path) == "queued"
        cloud.clock.advance("PT2M")
        assert state_of(mine, path) == "succeeded"
    with package.Cloud(testing_strict=True) as cloud, cloud.subscription() as mine:
        assert cloud.testing("GET", "/strict?subscription=" + mine.id)["value"][0]["strict"]


def test_all_nodes_are_fake_where_that_is_said(tmp_path):
    import batchaid as package
    rules = tmp_path / "rules.json"
    rules.write_text('{"rules": [{"exitCode": 7}]}')
    with package.Cloud(fake_nodes=True, rules=rules) as cloud, cloud.subscription() as mine:
        path = scripted_job(mine, "Standard_D1")
        wait_for(mine, path, "failed")
        assert cloud.call("GET", path)["properties"]["executionInfo"]["exitCode"] == 7


def test_a_client_is_had_by_its_name(batchaid):
    group(batchaid)
    assert list(batchaid.client("StorageManagementClient").storage_accounts.list()) == []
    with pytest.raises(LookupError, match=r"StorageManagmentClient \(StorageManagementClient\?\)"):
        batchaid.client("StorageManagmentClient")


def test_parts_of_a_second_are_taken_wherever_a_time_is(batchaid):
    with pytest.raises(BatchaidError, match="RequestNotSeen"):
        batchaid.expect(timeout=0.01, operation="Jobs_Create")
    assert batchaid.events(after=10**9, timeout=timedelta(milliseconds=10)) == []
    batchaid.rule(name="slow", duration=timedelta(seconds=1.5))
    assert batchaid.rules()[0]["duration"] == "PT1.5S"


def test_its_types_are_known_to_checkers():
    from pathlib import Path
    assert Path(package.__file__).with_name("py.typed").exists()


def test_the_environment_is_set(batchaid):
    import os
    assert os.environ["AZURE_SUBSCRIPTION_ID"] == batchaid.id


def test_az_speaks_to_it(batchaid):
    group(batchaid, "lab")
    assert [g["name"] for g in batchaid.az("group list")] == ["lab"]
'''


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """An interpreter with the package, with the programs under test in it, and Azure's SDK of the machine."""
    here = tmp_path_factory.mktemp("wheel")
    venv.create(here / "env", system_site_packages=True, with_pip=False)
    python = here / "env" / "bin" / "python"
    install_wheel(here / "src", next((here / "env" / "lib").iterdir()) / "site-packages")
    return python


def pytest_of(python, folder, *arguments, **env):
    """The command line and environment of somebody who runs the tests in `folder`."""
    own = {k: v for k, v in os.environ.items() if not k.startswith(("BATCHA", "AZURE_", "PYTEST", "PYTHON"))}
    argv = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, folder]
    return {"args": argv, "cwd": folder, "env": {**own, **env}, "stderr": subprocess.STDOUT, "stdout": subprocess.PIPE, "text": True}


def test_the_example_runs_with_the_wheel_alone(python, tmp_path):
    (tmp_path / "test_example.py").write_text(EXAMPLE + "\n\n" + PAGE)
    done = subprocess.run(**pytest_of(python, tmp_path), timeout=240, check=False)
    assert done.returncode == 0, done.stdout
    assert "20 passed" in done.stdout


DEAD = {"BATCHAID_ENDPOINT": "https://localhost:1", "SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt",
        "AZURE_TENANT_ID": "adfs", "AZURE_CLIENT_ID": "me", "AZURE_CLIENT_SECRET": "any"}  # fmt: skip
ONE = "def test_one(batchaid):\n    assert batchaid.cloud.ready()\n"
SETTINGS = """
import pytest
@pytest.fixture(scope="session")
def batchaid_settings():
    return {"local_noods": 4}
"""


def test_the_plugin_may_be_named_as_well(python, tmp_path):
    (tmp_path / "test_one.py").write_text(ONE)
    done = subprocess.run(**pytest_of(python, tmp_path, "-p", "batchaid.pytest_plugin"), timeout=60, check=False)
    assert "1 passed" in done.stdout, done.stdout


@pytest.mark.parametrize(
    "more, env, said",
    [
        ("", {"BATCHAID": "/nowhere"}, "BATCHAID names /nowhere, which is not a program"),
        ("", {"BATCHAID_ENDPOINT": "https://localhost:1"}, "AZURE_CLIENT_ID, AZURE_CLIENT_SECRET is not set"),
        ("", DEAD, "no daemon answers at https://localhost:1 (BATCHAID_ENDPOINT)"),
        ("", {**DEAD, "SSL_CERT_FILE": "/nowhere"}, "SSL_CERT_FILE names /nowhere, which cannot be read"),
        (SETTINGS, {}, "there is no setting local_noods (local_nodes?)"),
    ],
)
def test_a_mistake_is_said_in_a_line(python, tmp_path, more, env, said):
    (tmp_path / "test_one.py").write_text(more + ONE)
    done = subprocess.run(**pytest_of(python, tmp_path, **env), timeout=60, check=False)
    assert said in done.stdout and "1 error" in done.stdout, done.stdout
    assert "cloud.py" not in done.stdout


ENDLESS = """
import signal
def test_without_end(batchaid):
    print("of", batchaid.cloud.process.pid, batchaid.cloud._above, flush=True)
    signal.pause()
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_tests_that_are_ended_leave_nothing(python, tmp_path, how):
    """Ctrl-C, which a terminal sends to all of a group; and a death in which nothing can be done any more."""
    (tmp_path / "test_endless.py").write_text(ENDLESS)
    with subprocess.Popen(**pytest_of(python, tmp_path, "-s"), start_new_session=True) as running:
        words = running.stdout.readline().split()
        os.killpg(running.pid, how)
        said = running.stdout.read()
    assert running.returncode == (2 if how == signal.SIGINT else -how), said
    assert "refused" not in said and words[0] == "of"
    wait_for(lambda: not Path(f"/proc/{words[1]}").exists(), what="the daemon to end")
    wait_for(lambda: not Path(words[2]).exists(), what="its folder to go")
