# SPDX-License-Identifier: MIT
"""Secrets that jobs and clusters refer to by their URLs in a Key Vault."""

import os

import pytest
from support.accounts import Accounts
from support.people import CONTRIBUTOR, Person
from support.vaults import ALL, Safe, Vaults, policy
from support.waiting import wait_for
from support.world import MOUNT, Place, file_share, fresh, job_body, wait_flag

BATCH_AI = "9fcb3732-5f52-4135-8c08-9d4bbaf203ea"  # Azure Batch AI, to whom the walkthroughs open vaults
YOU = "11111111-0000-0000-0000-000000000002"


def me(daemon):
    return daemon.env["AZURE_CLIENT_ID"]


@pytest.fixture
def safe(daemon, vaults):
    return Safe(daemon, vaults.vault(policy(me(daemon), **ALL)))


def reference(vault, secret, suffix="vault.azure.net"):
    vault_id = f"/subscriptions/s/resourceGroups/g/providers/Microsoft.KeyVault/vaults/{vault}"
    return {"sourceVault": {"id": vault_id}, "secretUrl": f"https://{vault}.{suffix}/secrets/{secret}"}


def secrets(**references):
    return [{"name": name, "valueSecretReference": r} for name, r in references.items()]


def refused(job, *words):
    (error,) = job.fail()["executionInfo"]["errors"]
    assert error["code"] == "KeyVaultSecretNotRead"
    text = str(error)
    for word in words:
        assert word in text, text


# --- jobs -------------------------------------------------------------------------------------------


def test_a_job_gets_what_it_refers_to(own_place, safe):
    first = safe.set("token", "old")["id"].rsplit("/", 1)[1]
    safe.set("token", "two\nlines 'and' \"quotes\" $HOME")
    own = safe.host.split(".", 1)[1]  # vault.localhost:PORT
    job = own_place.job(
        own_place.cluster(),
        'echo "$A|$B|$C"',
        secrets=[
            *secrets(A=reference(safe.name.upper(), "Token"), B=reference(safe.name, f"token/{first}", own)),
            {"name": "C", "value": "given"},
        ],
    ).succeeded()
    assert job.read("stdout.txt") == "two\nlines 'and' \"quotes\" $HOME|old|given\n"
    assert "old" not in str(job.get()) and safe.name in str(job.get())


def test_a_preparation_gets_it_too(own_place, safe):
    safe.set("token", "sesame")
    job = own_place.job(
        own_place.cluster(),
        f"cat {MOUNT}/prepared",
        jobPreparation={"commandLine": f"echo $T > {MOUNT}/prepared"},
        secrets=secrets(T=reference(safe.name, "token")),
    ).succeeded()
    assert job.read("stdout.txt") == "sesame\n"


def test_the_value_is_nowhere_in_the_clear(own_place, safe, daemon):
    value = "hidden-" + fresh("value")
    safe.set("token", value)
    job = own_place.job(
        own_place.cluster(nodes=1), f"sleep 1000 & wait; echo $T > {MOUNT}/x", secrets=secrets(T=reference(safe.name, "token"))
    ).running()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                assert value.encode() not in f.read()
        except OSError:
            continue
    files = [daemon.stderr_path, *(p for p in daemon.state_dir.rglob("*") if p.is_file() and not p.is_symlink())]
    for file in files:
        try:
            assert value.encode() not in file.read_bytes(), file
        except FileNotFoundError:
            continue
    job.terminate()
    job.wait("failed")


def test_what_is_missing_is_named(own_place, safe, vaults, daemon):
    cluster = own_place.cluster()

    def job(vault, secret):
        return own_place.job(cluster, secrets=secrets(T=reference(vault, secret)))

    safe.set("there", "x")
    safe.set("disabled", "x", attributes={"enabled": False})
    safe.set("deleted", "x")
    safe.delete("deleted")
    gone, closed = vaults.vault(policy(me(daemon), **ALL)), vaults.vault(policy(YOU, **ALL))
    vaults.delete(gone)
    none = fresh("none")
    refused(job(none, "a"), f"no vault '{none}'", "secrets: T", f"az keyvault create -n {none}")
    refused(job(gone, "a"), f"'{gone}' is soft-deleted", f"az keyvault recover -n {gone}")
    refused(job(closed, "a"), closed, f"az keyvault set-policy -n {closed}", BATCH_AI)
    refused(job(safe.name, "a"), safe.name, "does not have this secret", "az keyvault secret set", "--name a")
    refused(job(safe.name, "there/" + "0" * 32), safe.name, "or version")
    refused(job(safe.name, "disabled"), "is disabled", "--enabled true")
    refused(job(safe.name, "deleted"), "soft-deleted", "az keyvault secret recover")
    odd = {**reference("v", "a"), "secretUrl": "https://v.vault.azure.net/keys/a"}
    refused(own_place.job(cluster, secrets=secrets(T=odd)), "not the URL of a secret")
    job(safe.name, "there").succeed()


def test_who_may_read(own_place, vaults, daemon):
    """The service's own principal, as in the walkthroughs, or whoever makes the job."""
    cluster = own_place.cluster()
    for entry, works in (
        (policy(BATCH_AI, secrets=["get"]), True),
        (policy(BATCH_AI, secrets=["list"]), False),
        (policy(me(daemon), secrets=["Get"]), True),
        (policy(YOU, secrets=["get"]), False),
    ):
        name = vaults.vault(policy(me(daemon), **ALL))
        Safe(daemon, name).set("a", "x")
        vaults.daemon.call(
            "PATCH",
            f"{vaults.path}/vaults/{name}",
            {"properties": {"accessPolicies": [entry]}},
            api_version="2022-07-01",
            validate=False,
            expect=200,
        )
        job = own_place.job(cluster, secrets=secrets(T=reference(name, "a")))
        if works:
            job.succeed()
        else:
            refused(job, "neither Azure Batch AI nor the user who created this", name)
    by_role = vaults.vault(enableRbacAuthorization=True)
    Safe(daemon, by_role).set("a", "x")
    own_place.job(cluster, secrets=secrets(T=reference(by_role, "a"))).succeed()


def test_a_role_at_one_secret_opens_it_to_jobs(own_place, vaults, daemon, temporary):
    name, cluster = vaults.vault(enableRbacAuthorization=True), own_place.cluster()
    ada = temporary(Person(daemon, CONTRIBUTOR, own_place.group_path))
    ada.give("Key Vault Secrets User", f"{vaults.get(name)['id']}/secrets/mine")
    own_place.experiment("exp")
    for secret in ("mine", "other"):
        Safe(daemon, name).set(secret, "x")
        job = own_place.job_at(fresh("job"))
        ada.call("PUT", job.path, job_body(cluster.id, secrets=secrets(T=reference(name, secret))), expect=(200, 202))
        if secret == "mine":
            job.succeed()
        else:
            refused(job, "neither Azure Batch AI nor the user who created this", name)


@pytest.mark.parametrize("whose", ["maker", BATCH_AI])
def test_a_queued_job_of_somebody_who_has_left_gets_no_secret(own_place, vaults, daemon, whose):
    """Who may read is asked when the job begins, and whether its maker is there; policies keep ids of the gone."""
    ada, bob = (Person(daemon, CONTRIBUTOR, own_place.group_path) for _ in range(2))
    reads = policy(ada.id if whose == "maker" else whose, secrets=["get"])
    name = vaults.vault(policy(me(daemon), **ALL), reads, policy(bob.id, secrets=["get"]))
    Safe(daemon, name).set("a", "x")
    cluster = own_place.cluster(0)
    own_place.experiment("exp")
    jobs = []
    for one in (ada, bob):
        body = job_body(cluster.id, secrets=secrets(T=reference(name, "a")))
        job = own_place.job_at(fresh("job"))
        one.call("PUT", job.path, body, expect=(200, 202))
        jobs.append(job)
    ada.remove()
    cluster.resize(1)
    refused(jobs[0], "the user who created this job does not exist any more")
    jobs[1].succeed()
    bob.remove()


def test_a_job_that_runs_goes_on_without_its_secret(own_daemon):
    """What it got is kept, sealed, for as long as it runs."""
    d = own_daemon()
    safe = Safe(d, Vaults(d).make().vault(policy(me(d), **ALL)))
    safe.set("token", "kept-for-the-run")
    place = Place(d).make()
    flag, path = place.flag("go")
    cluster = place.cluster()
    job = place.job(cluster, f"{wait_flag(path)}; echo $T", secrets=secrets(T=reference(safe.name, "token")))
    job.wait("running")
    safe.delete("token")
    d.crash()
    assert job.properties["executionState"] == "running"
    flag.touch()
    job.succeed()
    assert job.read("stdout.txt") == "kept-for-the-run\n"
    refused(place.job(cluster, secrets=secrets(T=reference(safe.name, "token"))), "soft-deleted")
    assert d.stop() == 0
    assert d.rows("SELECT count(*) FROM run_secret") == [(0,)]
    for file in d.state_dir.glob("batchaid.db*"):
        assert b"kept-for-the-run" not in file.read_bytes()


# --- clusters ---------------------------------------------------------------------------------------


def setup(**references):
    task = {"commandLine": f"echo $T > {MOUNT}/setup", "stdOutErrPathPrefix": MOUNT, "secrets": secrets(**references)}
    return {"setupTask": task}


def test_a_set_up_task_gets_what_it_refers_to(own_place, safe):
    safe.set("token", "sesame")
    own_place.cluster(nodeSetup=setup(T=reference(safe.name, "token")))
    assert (own_place.share() / "setup").read_text() == "sesame\n"


def test_a_node_that_cannot_read_it_says_so(own_place, safe, daemon):
    daemon.expect_log(rf"node\.unusable .*KeyVaultSecretNotRead: .*{safe.name}")
    cluster = own_place.cluster(steady=False, nodeSetup=setup(T=reference(safe.name, "token")))
    wait_for(lambda: cluster.properties.get("errors"), 30, "the cluster's error")
    (error,) = cluster.properties["errors"]
    assert error["code"] == "KeyVaultSecretNotRead"
    assert safe.name in str(error) and "az keyvault secret set" in str(error)
    safe.set("token", "late")
    cluster.resized(0)
    cluster.resized(1)
    assert (own_place.share() / "setup").read_text() == "late\n"


def test_a_nodes_mount_by_a_secret_needs_a_key_of_the_account(own_place, safe, daemon):
    """The vault is read when the node mounts, not when the cluster is accepted."""
    accounts = Accounts(daemon, own_place.group)
    name = accounts.account()
    accounts.share(name, "data")
    safe.set("key", "not-a-key")
    daemon.expect_log(rf"node\.unusable .*AZFMountError: .*{safe.name}.*is not a key of the storage account {name}")
    share = file_share("data", "data", account=name, credentials={"accountKeySecretReference": reference(safe.name, "key")})
    cluster = own_place.cluster(steady=False, nodeSetup={"mountVolumes": {"azureFileShares": [share]}})
    wait_for(lambda: cluster.properties.get("errors"), 30, "the cluster's error")
    (error,) = cluster.properties["errors"]
    assert error["code"] == "AZFMountError" and "az storage account keys list" in str(error)
    safe.set("key", accounts.keys(name)[1])
    cluster.resized(0)
    cluster.resized(1)
