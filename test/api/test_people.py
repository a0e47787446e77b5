# SPDX-License-Identifier: MIT
"""Users and service principals: who may log in, and who may do what."""

import base64
import hashlib
import json
import os
import pty
import re
import subprocess
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from urllib.parse import parse_qs, urlsplit

import pytest
from support.daemon import BATCHAID
from support.people import CONTRIBUTOR, OWNER, READER, SUBMITTER, Person
from support.refusals import refused
from support.storage import StorageDaemon
from support.testing_fixtures import clock, tested  # noqa: F401
from support.waiting import wait_for
from support.world import Place, cluster_body, fresh, job_body


@pytest.fixture
def person(daemon, person):
    daemon.expect_log("login.failed")
    return person


def users(daemon, method="GET", path="", body=None, **more):
    return daemon.call(method, "/batchaid/users" + path, body, **more)


# --- users ----------------------------------------------------------------------------------------


def test_a_user_is_added_listed_and_removed(daemon, person):
    ada = person(READER)
    row = next(u for u in users(daemon).json["value"] if u["name"] == ada.name)
    assert row["roles"] == [{"role": READER, "scope": f"/subscriptions/{daemon.subscription}"}]
    assert row["kind"] == "user" and "password" not in row
    assert row["createdBy"] == daemon.env["AZURE_CLIENT_ID"]
    refused(users(daemon, "POST", body={"name": ada.name.upper()}), 409, "Conflict")
    assert ada.get("/subscriptions", api_version="2019-11-01")["value"]
    ada.remove()
    reply = ada.call("GET", "/subscriptions", api_version="2019-11-01")
    refused(reply, 401, "InvalidAuthenticationToken")
    assert ada.login().status == 400
    refused(users(daemon, "DELETE", "/" + ada.name), 404, "ResourceNotFound")


def test_the_first_principal_is_there_and_cannot_go(daemon):
    assert users(daemon).json["value"][0]["objectId"] == daemon.env["AZURE_CLIENT_ID"]
    assert users(daemon, "DELETE", "/batchaid").status == 404


def test_a_new_password_ends_the_old_one(daemon, person):
    ada = person(READER)
    before = ada.login()
    assert before.status == 200
    reply = users(daemon, "POST", f"/{ada.name}/reset", expect=200).json
    assert reply["password"] != ada.password
    assert ada.login().error == "invalid_grant"
    assert ada.login(grant_type="refresh_token", refresh_token=before.json["refresh_token"]).status == 400
    ada.password = reply["password"]
    assert ada.login().status == 200
    users(daemon, "POST", f"/{ada.name}/reset", {"password": "my own words"}, expect=200)
    assert ada.login(password="my own words").status == 200


def test_a_login_goes_on_with_its_refresh_token(daemon, person):
    ada = person(READER)
    first = ada.login(scope=f"{daemon.endpoint}/.default offline_access openid profile").json
    for resource in (daemon.endpoint + "/.default", "https://storage.azure.com/.default"):
        reply = ada.login(
            grant_type="refresh_token", refresh_token=first["refresh_token"], scope=resource, password=None
        )
        assert reply.status == 200 and reply.json["access_token"], reply
    # It is good for that alone.
    assert daemon.call("GET", "/subscriptions", token=first["refresh_token"]).status == 401
    assert daemon.call("GET", "/subscriptions", token=first["id_token"]).status == 401
    for wrong in (first["access_token"], first["id_token"], "x", first["refresh_token"][:-2]):
        reply = ada.login(grant_type="refresh_token", refresh_token=wrong)
        assert (reply.status, reply.error) == (400, "invalid_grant")


def test_a_login_ends_after_90_days_however_often_it_is_renewed(tested, clock):
    ada = Person(tested, READER)
    reply = ada.login()
    for _ in range(2):
        clock.advance("P44D")
        token = reply.json["refresh_token"]
        reply = ada.login(grant_type="refresh_token", refresh_token=token, password=None)
        assert reply.status == 200, reply
    clock.advance("P3D")
    reply = ada.login(grant_type="refresh_token", refresh_token=reply.json["refresh_token"], password=None)
    assert (reply.status, reply.error) == (400, "invalid_grant")
    assert ada.login().status == 200


@pytest.mark.parametrize(
    "name", ["", "@lab", "ada@", "a b@lab", "ada@lab@lab", "-ada@lab", "a/b@lab", "ä@lab", "a" * 130 + "@lab"]
)
def test_names_that_are_no_users(daemon, name):
    reply = users(daemon, "POST", body={"name": name})
    refused(reply, 400, "InvalidParameter", "userPrincipalName")


@pytest.mark.parametrize(
    "more, target",
    [
        ({"role": "King"}, "role"),
        ({"scope": "/subscriptions/other"}, "scope"),
        ({"scope": "//"}, "scope"),
        ({"scope": "/x"}, "scope"),
        ({"scope": "/subscriptions/SUB/a//b"}, "scope"),
        ({"scope": "/subscriptions/SUB/a?b"}, "scope"),
        ({"password": "short"}, "password"),
        ({"password": "x" * 257}, "password"),
        ({"displayName": ""}, "displayName"),
        ({"king": True}, None),
        ({"role": 7}, None),
    ],
)
def test_users_that_are_not_added(daemon, more, target):
    more = {k: v.replace("SUB", daemon.subscription) if isinstance(v, str) else v for k, v in more.items()}
    refused(users(daemon, "POST", body={"name": "nobody@lab", **more}), 400, "InvalidParameter", target)
    assert all(u["name"] != "nobody@lab" for u in users(daemon).json["value"])


def test_a_body_that_is_no_text(daemon):
    reply = daemon.call("POST", "/batchaid/users", data=b'{"name": "\xff@lab"}', validate=False)
    assert reply.status == 400
    assert daemon.call("DELETE", "/batchaid/users/%FF").status == 400


def test_wrong_passwords_say_no_more_than_wrong_names(own_daemon):
    d = own_daemon()
    ada = Person(d, READER)
    d.expect_log("login.failed")
    wrong = ada.login(password="wrong").json
    unknown = ada.login(username="bob@lab").json
    for reply in (wrong, unknown):
        reply.pop("correlation_id")
    assert wrong == unknown and wrong["error"] == "invalid_grant"


def test_wrong_passwords_of_one_account_shut_out_no_other(own_daemon):
    """Not from the same address either: it may be a head node's, or a job's."""
    d = own_daemon()
    ada, bob = Person(d, READER), Person(d, READER)
    d.expect_log("login.failed")
    first = {"grant_type": "client_credentials"}
    for _ in range(40):
        reply = bob.login(password="wrong")
        if reply.status == 429:
            break
    assert reply.status == 429 and "of this account" in reply.text, reply
    assert bob.login().status == 429, "nobody learns whether that was it"
    assert bob.login(username=bob.name.upper()).status == 429
    assert ada.login().status == 200 and d.token_reply(**first).status == 200
    for _ in range(40):
        d.token_reply(**first, client_secret="wrong")
    assert d.token_reply(**first).status == 429 and ada.login().status == 200


def test_an_address_that_guesses_at_many_accounts_waits_for_itself_alone(own_daemon):
    """Its secrets are compared one after the other, and none is refused for that."""
    d = own_daemon()
    ada = Person(d, READER)
    d.expect_log("login.failed")
    with ThreadPoolExecutor(40) as pool:
        wrong = [pool.submit(ada.login, username=f"nobody{i}@lab") for i in range(60)]
        right = [pool.submit(ada.login) for _ in range(8)]
        assert {f.result().status for f in right} == {200}
        assert {f.result().status for f in wrong} == {400}


# --- roles ----------------------------------------------------------------------------------------


def test_a_user_without_a_role_sees_nothing(daemon, own_place, person):
    nobody = person("none")
    assert nobody.get("/subscriptions", api_version="2019-11-01")["value"] == []
    message = nobody.may_not("GET", own_place.path)
    assert "action 'Microsoft.BatchAI/workspaces/read' over scope" in message
    assert own_place.path.lower() in message.lower()
    nobody.may_not("GET", own_place.path + "-not")
    nobody.may_not("PUT", own_place.group_path, {"location": "eastus"})
    nobody.may_not("GET", f"/subscriptions/{daemon.subscription}/resourceGroups")
    nobody.may_not("GET", "/batchaid/nodes")
    nobody.may_not("POST", "/batchaid/users", {"name": "x@lab"})


def test_a_reader_reads(daemon, own_place, person):
    reader = person(READER)
    cluster = own_place.cluster(0, "c", steady=False)
    for path in (own_place.group_path, own_place.path, cluster.path, own_place.path + "/clusters"):
        reader.get(path)
    reader.call("HEAD", own_place.group_path, expect=204)
    reader.call("POST", cluster.path + "/listRemoteLoginInformation", expect=200)
    reader.get("/batchaid/counters")
    message = reader.may_not("DELETE", cluster.path)
    assert "'Microsoft.BatchAI/workspaces/clusters/delete'" in message
    reader.may_not("PUT", own_place.path + "/clusters/d", cluster_body())
    reader.may_not("PATCH", own_place.group_path, {"tags": {}})
    reader.may_not("POST", "/batchaid/nodes/x/drain")
    reader.may_not("POST", "/batchaid/users", {"name": "x@lab"})


def test_roles_count_below_their_scope_only(daemon, person, temporary):
    mine, other = temporary(Place(daemon).make()), temporary(Place(daemon).make())
    ada = person(CONTRIBUTOR, mine.group_path.rsplit("/", 1)[1])
    ada.call("PUT", mine.path + "/experiments/x", {}, expect=(200, 201, 202))
    ada.get(mine.group_path)
    ada.may_not("GET", other.group_path)
    ada.may_not("PUT", other.path + "/experiments/x", {})
    ada.may_not("GET", mine.group_path + "2")  # not below, but begins alike
    sub = f"/subscriptions/{daemon.subscription}"
    groups = ada.get(sub + "/resourceGroups", api_version="2019-05-01")["value"]
    assert [g["name"] for g in groups] == [mine.group_path.rsplit("/", 1)[1]]
    seen = ada.get(sub + "/providers/Microsoft.BatchAI/workspaces")["value"]
    assert [w["name"] for w in seen] == [mine.path.rsplit("/", 1)[1]]
    assert len(daemon.get(sub + "/providers/Microsoft.BatchAI/workspaces")["value"]) > 1
    # Page by page it is the same list.
    url, names = sub + "/resourceGroups?$top=1", []
    while url:
        page = ada.get(url, api_version=None if "api-version" in url else "2019-05-01")
        names += [g["name"] for g in page["value"]]
        url = page.get("nextLink")
    assert names == [g["name"] for g in groups]


def test_a_role_on_one_resource_shows_that_one(daemon, own_place, person):
    one = own_place.cluster(0, "one", steady=False)
    own_place.cluster(0, "two", steady=False)
    ada = person(READER, one.path)
    ada.get(one.path)
    ada.may_not("GET", own_place.path + "/clusters/two")
    ada.may_not("GET", own_place.path)
    assert [c["name"] for c in ada.get(own_place.path + "/clusters")["value"]] == ["one"]
    everywhere = f"/subscriptions/{daemon.subscription}/providers/Microsoft.BatchAI/clusters"
    assert [c["name"] for c in ada.get(everywhere)["value"]] == ["one"]
    assert ada.get(own_place.path + "/experiments")["value"] == []


def test_a_contributor_gives_no_roles_and_an_owner_does(daemon, person):
    contributor, owner = person(CONTRIBUTOR), person(OWNER)
    contributor.may_not("POST", "/batchaid/users", {"name": "x@lab"})
    reply = owner.call("POST", "/batchaid/users", {"name": "made-by-owner@lab"})
    assert reply.status == 201 and reply.json["createdBy"] == owner.id
    owner.call("DELETE", "/batchaid/users/made-by-owner@lab", expect=204)


@pytest.mark.parametrize("role", ["Contributor", "none"])
def test_an_owner_who_is_removed_makes_no_more_users(daemon, person, role):
    """Not by requests either that wait for the hashes of their passwords: one at a time of each address."""
    owner = person(OWNER)
    owner.token()
    names = [fresh("late") + "@lab" for _ in range(30)]
    with ThreadPoolExecutor(len(names)) as pool:
        replies = [pool.submit(owner.call, "POST", "/batchaid/users", {"name": name, "role": role}) for name in names]
        wait(replies, 60, FIRST_COMPLETED)
        users(daemon, "DELETE", "/" + owner.name, expect=204)
        made = {u["name"] for u in users(daemon).json["value"]}.intersection(names)
    assert {r.result().status for r in replies} <= {201, 401, 403, 404}
    assert {u["name"] for u in users(daemon).json["value"]}.intersection(names) == made
    for name in made:
        users(daemon, "DELETE", "/" + name, expect=204)


def test_what_is_made_names_its_maker_and_so_does_the_log(daemon, own_place, person):
    ada = person(CONTRIBUTOR)
    ada.call("PUT", own_place.path + "/experiments/hers", {}, expect=(200, 201, 202))
    assert any("experiment.created" in line and f"by={ada.name}" in line for line in daemon.log())
    assert daemon.rows("SELECT created_by FROM experiment WHERE name = 'hers'") == [(ada.id,)]


def test_keys_of_accounts_are_not_for_readers(daemon, own_place, person):
    reader, submitter, keys = person(READER), person(), person("Reader and Data Access")
    account = own_place.group_path + "/providers/Microsoft.Storage/storageAccounts/" + fresh("keys")
    body = {"sku": {"name": "Standard_LRS"}, "kind": "StorageV2", "location": "eastus"}
    daemon.call("PUT", account, body, api_version="2022-09-01", expect=(200, 202), validate=False)
    more = {"api_version": "2022-09-01", "validate": False}
    for one in (reader, submitter):
        one.get(account, **more)
        for verb in ("listKeys", "LISTKEYS", "regenerateKey", "ListAccountSas", "ListServiceSas"):
            message = one.may_not("POST", f"{account}/{verb}", {"keyName": "key1"}, **more)
            assert f"Microsoft.Storage/storageAccounts/{verb}/action" in message
    keys.call("POST", account + "/listKeys", expect=200, **more)
    keys.may_not("POST", account + "/regenerateKey", {"keyName": "key1"}, **more)
    listed = f"/subscriptions/{daemon.subscription}/providers/Microsoft.Storage/storageAccounts"
    assert any(a["id"].endswith(account.rsplit("/", 1)[1]) for a in reader.get(listed, **more)["value"])
    stranger = person(READER, "/subscriptions/" + daemon.subscription + "/resourceGroups/nowhere")
    assert stranger.get(listed, **more)["value"] == []


# --- submitters -----------------------------------------------------------------------------------


def test_fifteen_people_see_but_do_not_end_each_others_jobs(own_daemon):
    d = own_daemon()
    place = Place(d).make()
    cluster = place.cluster(1, "c")
    experiment = place.path + "/experiments/lab"
    d.do("PUT", experiment, {})
    people = [Person(d) for _ in range(15)]
    body = job_body(cluster.id, "sleep 600")
    for i, one in enumerate(people):
        one.call("PUT", f"{experiment}/jobs/j{i}", body, expect=(200, 202))
    for i, one in enumerate(people):
        assert len(one.get(experiment + "/jobs")["value"]) == 15
        for k in range(15):
            job = f"{experiment}/jobs/j{k}"
            assert one.get(job)["name"] == f"j{k}"
            if k != i:
                one.may_not("POST", job + "/terminate")
                one.may_not("DELETE", job)
                one.may_not("PUT", job, body)
        one.call("PUT", f"{experiment}/jobs/j{i}", body, expect=(200, 202))  # the same again
        one.may_not("DELETE", experiment)
        one.may_not("DELETE", cluster.path)
        one.may_not("PUT", place.path + "/clusters/mine", cluster_body())
    states = [j["properties"]["executionState"] for j in people[0].get(experiment + "/jobs")["value"]]
    assert set(states) <= {"queued", "running"}, states
    for i, one in enumerate(people):
        one.call("POST", f"{experiment}/jobs/j{i}/terminate", expect=(200, 202))
        one.call("DELETE", f"{experiment}/jobs/j{i}", expect=(200, 202, 204))
    wait_for(lambda: not d.get(experiment + "/jobs")["value"], 60, "all jobs gone")


def test_a_submitter_deletes_its_experiment_unless_others_work_in_it(daemon, own_place, person):
    ada, bob = person(), person()
    cluster = own_place.cluster(0, "c", steady=False)
    experiment = own_place.path + "/experiments/adas"
    ada.call("PUT", experiment, {}, expect=(200, 201, 202))
    wait_for(lambda: daemon.call("GET", experiment).status == 200, 30, "the experiment")
    bob.may_not("DELETE", experiment)
    bob.call("PUT", experiment + "/jobs/bobs", job_body(cluster.id), expect=(200, 202))
    ada.may_not("DELETE", experiment)
    daemon.do("DELETE", experiment + "/jobs/bobs")
    wait_for(lambda: daemon.call("GET", experiment + "/jobs/bobs").status == 404, 30, "the job gone")
    ada.call("DELETE", experiment, expect=(200, 202, 204))
    assert ada.call("DELETE", own_place.path + "/experiments/none").status in (200, 204, 404)


def test_a_submitter_uses_only_clusters_that_it_sees(daemon, own_place, person, temporary):
    elsewhere = temporary(Place(daemon).make())
    cluster = elsewhere.cluster(0, "c", steady=False)
    ada = person(SUBMITTER, own_place.group_path)
    experiment = own_place.path + "/experiments/x"
    ada.call("PUT", experiment, {}, expect=(200, 201, 202))
    message = ada.may_not_link("PUT", experiment + "/jobs/j", job_body(cluster.id))
    assert "'Microsoft.BatchAI/workspaces/clusters/read'" in message and cluster.id in message
    assert "'Microsoft.BatchAI/workspaces/experiments/jobs/write'" in message


def test_old_versions_follow_the_same_rules(daemon, own_place, person):
    reader = person(READER)
    flat = own_place.group_path + "/providers/Microsoft.BatchAI"
    for version in ("2018-03-01", "2017-09-01-preview"):
        reader.get(flat + "/clusters", api_version=version)
        message = reader.may_not("PUT", flat + "/jobs/j", {"location": "eastus"}, api_version=version)
        assert "'Microsoft.BatchAI/jobs/write'" in message
    ada = person()
    ada.call("DELETE", flat + "/jobs/none", api_version="2018-03-01", expect=(200, 204))
    # A version that is none is refused, not followed.
    assert ada.call("DELETE", flat + "/jobs/none", api_version="1999-01-01").status == 400


# --- codes ----------------------------------------------------------------------------------------


def page(daemon, method, path, **more):
    return daemon.session().request(
        method, daemon.endpoint + path, timeout=30, allow_redirects=False, **more
    )


def device_token(daemon, code, client_id="x"):
    form = {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": code, "client_secret": None}
    return daemon.token_reply(**form, client_id=client_id)


def test_a_device_is_logged_in_on_the_page(own_daemon):
    d = own_daemon()
    ada = Person(d, READER)
    found = page(d, "GET", "/adfs/.well-known/openid-configuration").json()
    assert found["device_authorization_endpoint"].endswith("/adfs/oauth2/devicecode")
    made = page(d, "POST", "/adfs/oauth2/devicecode", data={"client_id": "x", "scope": "openid"}).json()
    assert made["user_code"] in made["message"] and made["verification_uri"] in made["message"]
    assert device_token(d, made["device_code"]).error == "authorization_pending"
    shown = page(d, "GET", "/adfs/oauth2/deviceauth")
    assert shown.status_code == 200 and "<form" in shown.text
    assert "default-src 'none'" in shown.headers["Content-Security-Policy"]
    form = {"user_code": made["user_code"].lower(), "username": ada.name, "password": ada.password}
    d.expect_log("login.failed")
    wrong = page(d, "POST", "/adfs/oauth2/deviceauth", data={**form, "password": "<x>"})
    assert wrong.status_code == 401 and "<x>" not in wrong.text
    wrong = page(d, "POST", "/adfs/oauth2/deviceauth", data={**form, "user_code": '"><b>'})
    assert wrong.status_code == 401 and "<b>" not in wrong.text
    assert device_token(d, made["device_code"]).error == "authorization_pending"
    assert page(d, "POST", "/adfs/oauth2/deviceauth", data=form).status_code == 200
    other = device_token(d, made["device_code"], client_id="y")
    assert (other.status, other.error) == (400, "expired_token"), "it was given to another program"
    reply = device_token(d, made["device_code"])
    assert reply.status == 200
    assert d.call("GET", "/subscriptions", token=reply.json["access_token"], api_version="2019-11-01").status == 200
    assert device_token(d, made["device_code"]).error == "expired_token"


def test_a_program_on_ones_own_machine_is_called_back(daemon, person):
    ada = person(READER)
    verifier = "v" * 50
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    query = {
        "redirect_uri": "http://localhost:8400",
        "state": "a b&c",
        "code_challenge": challenge,
        "nonce": "n",
        "client_id": "x",
    }
    shown = page(daemon, "GET", "/adfs/oauth2/authorize", params=query)
    assert shown.status_code == 200 and "a b&amp;c" in shown.text
    form = {**query, "username": ada.name, "password": ada.password}
    called = page(daemon, "POST", "/adfs/oauth2/authorize", data=form)
    assert called.status_code == 302, called.text
    back = urlsplit(called.headers["Location"])
    assert back.netloc == "localhost:8400"
    answer = parse_qs(back.query)
    assert answer["state"] == ["a b&c"]
    program = {"client_id": "x", "redirect_uri": "http://localhost:8400"}
    ask = {"grant_type": "authorization_code", "code": answer["code"][0], "client_secret": None, **program}
    assert daemon.token_reply(**ask).status == 400
    assert daemon.token_reply(**ask, code_verifier="w" * 50).status == 400
    for name, value in (("client_id", "y"), ("redirect_uri", "http://localhost:8401"), ("redirect_uri", None)):
        reply = daemon.token_reply(**{**ask, name: value}, code_verifier=verifier)
        assert (reply.status, reply.error) == (400, "invalid_grant"), (name, value)
    reply = daemon.token_reply(**ask, code_verifier=verifier)
    assert reply.status == 200 and reply.json["id_token"]
    assert daemon.token_reply(**ask, code_verifier=verifier).status == 400, "a code is good once"
    by_form = page(daemon, "POST", "/adfs/oauth2/authorize", data={**form, "response_mode": "form_post"})
    assert by_form.status_code == 200 and 'action="http://localhost:8400"' in by_form.text
    ask["code"] = re.search('name="code" value="([0-9a-f]{40})"', by_form.text).group(1)
    assert 'name="state" value="a b&amp;c"' in by_form.text
    assert daemon.token_reply(**ask, code_verifier=verifier).status == 200
    for elsewhere in ("https://evil.example", "http://localhost.evil", "http://localhost@evil", "x", None):
        shown = page(daemon, "GET", "/adfs/oauth2/authorize", params={**query, "redirect_uri": elsewhere})
        assert shown.status_code == 400, elsewhere
        posted = page(daemon, "POST", "/adfs/oauth2/authorize", data={**form, "redirect_uri": elsewhere})
        assert posted.status_code == 400, elsewhere


# --- data -----------------------------------------------------------------------------------------


def test_data_is_open_to_tokens_by_role():
    with StorageDaemon() as d:
        everybody = {
            "Storage Blob Data Reader": ["GET"],
            "Storage Blob Data Contributor": ["GET", "PUT", "DELETE"],
            "Storage File Data Privileged Contributor": [],
            OWNER: [],  # of the resources, not of what is in them
            "none": [],
        }
        assert d.blob.call("PUT", "/ccc?restype=container").status == 201
        for role, allowed in everybody.items():
            d.blob.call("PUT", "/ccc/b", b"x", x_ms_blob_type="BlockBlob")
            one = Person(d, role)
            token = one.login(scope="https://storage.azure.com/.default").json["access_token"]
            for method, body in (("GET", b""), ("PUT", b"x"), ("DELETE", b"")):
                more = {"x_ms_blob_type": "BlockBlob"} if method == "PUT" else {}
                reply = d.blob.call(
                    method, "/ccc/b", body, signed=False, Authorization="Bearer " + token, x_ms_date=None, **more
                )
                if method in allowed:
                    assert reply.status in (200, 201, 202), (role, method, reply)
                else:
                    assert (reply.status, reply.code) == (403, "AuthorizationPermissionMismatch"), (role, method)
            # Settings of the service are not data.
            reply = d.blob.call(
                "PUT", "/?restype=service&comp=properties", b"<StorageServiceProperties/>", signed=False,
                Authorization="Bearer " + token, x_ms_date=None, Content_Type="application/xml",
            )
            assert reply.status == (202 if role == OWNER else 403), role
            # The resource manager's token is none for data.
            reply = d.blob.call("GET", "/ccc/b", signed=False, Authorization="Bearer " + one.token())
            assert reply.status == 401 and "resource_id=https://storage.azure.com" in reply.headers["WWW-Authenticate"]


# --- the command line -----------------------------------------------------------------------------


@pytest.mark.parametrize("answer, added", [("y\n", True), ("n\n", False), ("", False)])
def test_a_person_is_asked_about_a_scope_that_is_not_there(daemon, answer, added):
    name = f"ask{len(answer)}{added}"
    ours, theirs = pty.openpty()
    argv = [BATCHAID, "user", "add", name, "--scope", "no-such-lab", "--state-dir", daemon.state_dir]
    with subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, text=True) as process:
        os.write(ours, answer.encode() or b"\x04")  # or the end of the input
        said = process.stderr.read()
    os.close(theirs)
    os.close(ours)
    assert "'no-such-lab' does not exist as a resource group" in said
    assert (process.returncode == 0) == added and ("was not added" in said) != added
    assert (f"{name}@batchaid" in daemon.tool("user").stdout) == added


def test_a_scope_that_is_there_is_not_asked_about(daemon, place):
    for scope in (place.group, f"{place.group_path}/providers/Microsoft.BatchAI/workspaces/{place.workspace}", "/"):
        assert daemon.tool("user", "add", f"there{len(scope)}", "--scope", scope).stderr == ""
    beyond = f"{place.group_path}/providers/Microsoft.BatchAI/workspaces/nowhere"
    assert f"'{beyond}' does not exist" in daemon.tool("user", "add", "beyond", "--scope", beyond).stderr


@pytest.mark.parametrize("scope", ["my group", "PLACE?b", "PLACE#b", "a%2fb", "a/b", "GROUP?b", "GROUP/providers/a b"])
def test_a_scope_that_is_no_part_of_a_path_is_asked_about_as_it_is(daemon, place, scope):
    scope = scope.replace("PLACE", place.group).replace("GROUP", place.group_path)
    done = daemon.tool("user", "add", "odd", "--scope", scope, check=False)
    assert done.stderr.startswith(f"batchaid: '{scope}' does not exist")
    daemon.tool("user", "remove", "odd", check=False)


def test_the_command_line_adds_lists_resets_and_removes(daemon):
    daemon.expect_log("login.failed")
    said = daemon.tool("user", "add", "cli", "--role", READER, "--scope", "some-group").stdout.splitlines()
    assert said[0].startswith("password of cli@batchaid") and len(said) == 2
    form = {"grant_type": "password", "username": "cli@batchaid", "client_secret": None}
    assert daemon.token_reply(**form, password=said[1]).status == 200
    lines = daemon.tool("user").stdout.splitlines()
    assert lines == daemon.tool("user", "list").stdout.splitlines()
    row = next(line for line in lines if line.startswith("cli@batchaid "))
    assert f"Reader at /subscriptions/{daemon.subscription}/resourceGroups/some-group" in row
    # The columns stand below their heads.
    assert row.index("user") == lines[0].index("KIND") and row.index("Reader") == lines[0].index("ROLES")
    reset = json.loads(daemon.tool("user", "reset", "cli", "--json").stdout)
    assert daemon.token_reply(**form, password=said[1]).status == 400
    assert daemon.token_reply(**form, password=reset["password"]).status == 200
    assert all("password" not in u for u in json.loads(daemon.tool("user", "list", "--json").stdout)["value"])
    assert daemon.tool("user", "remove", "cli@batchaid").stdout == "cli@batchaid is removed\n"
    assert daemon.token_reply(**form, password=reset["password"]).status == 400


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        (["king"], 2, "there is no command 'user king'"),
        (["add"], 2, "it takes one name"),
        (["add", "a", "b"], 2, "it takes one name"),
        (["list", "a"], 2, "it takes no name"),
        (["list", "--role", "Reader"], 2, "it does not take --role"),
        (["remove", "a", "--json"], 2, "it does not take --json"),
        (["add", "a b"], 1, "is not a valid user name"),
        (["add", "a", "--role", "King"], 1, "There is no role 'King'"),
        (["add", "a", "--scope", "/x"], 1, "is in no subscription here"),
        (["add", b"\xff"], 1, "not UTF-8"),
        (["remove", "nobody"], 1, "There is no user 'nobody@batchaid'"),
        (["reset", "nobody"], 1, "There is no user 'nobody@batchaid'"),
    ],
)
def test_wrong_command_lines(daemon, arguments, code, words):
    said = daemon.tool("user", *arguments, check=False)
    assert said.returncode == code and words in said.stderr, said
