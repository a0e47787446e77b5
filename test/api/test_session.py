# SPDX-License-Identifier: MIT
"""Logins by cookie: who gets one, what it is good for, when it ends; and what an attacker makes of it."""

import json
import uuid
from datetime import datetime, timedelta, timezone

import pytest
from support.browser import (
    Browser,
    claims,
    claims_of,
    encoded,
    first,
    good,
    lives,
    plainly,
    refused,
    signed,
    token_key,
    user,
)
from support.people import CONTRIBUTOR, OWNER, READER, Person
from support.testing_fixtures import clock, tested  # noqa: F401
from support.world import fresh, instant

SUBSCRIPTIONS = "/subscriptions?api-version=2019-11-01"
HOUR = timedelta(hours=1)


@pytest.fixture
def browser(daemon):
    daemon.expect_log("login.failed")
    return Browser(daemon)


@pytest.fixture
def ada(person):
    return person(READER)


# --- who gets one ------------------------------------------------------------------------------------------------------


def test_a_user_logs_in_and_uses_the_page(daemon, browser, ada):
    answer = browser.log_in(**user(ada))
    name, value, attributes = answer.cookie
    assert name == f"__Host-batchaid-{daemon.port}" and len(value) < 800
    assert sorted(attributes) == ["httponly", "path=/", "samesite=strict", "secure"]
    assert answer.json["user"] == {"name": ada.name, "objectId": ada.id, "kind": "user"}
    assert answer.json["may"] == {"readLists": True, "readMachines": True, "readPeople": True, "readBatchAccounts": True, "changeMachines": False, "changePeople": False, "changeJobs": False, "changeBatch": False}
    assert answer.json["subscriptionId"] == daemon.subscription and answer.json["version"]
    lives(answer, 12 * HOUR)
    assert good(browser.call("GET", "/batchaid/session")).json == answer.json
    assert good(browser.call("GET", SUBSCRIPTIONS)).json["value"]
    assert good(browser.call("GET", "/batchaid/nodes")).json
    refused(browser.call("POST", "/batchaid/nodes/nosuch/drain"), 403, "AuthorizationFailed", ada.name, "batchaid/nodes/write")
    group = f"/subscriptions/{daemon.subscription}/resourceGroups/{fresh('g')}?api-version=2021-04-01"
    refused(browser.call("PUT", group, {"location": "eastus"}), 403, "AuthorizationFailed", ada.name)


def test_a_name_may_be_without_the_domain_of_the_daemon(daemon, browser):
    bob = Person(daemon, CONTRIBUTOR, name=fresh("bob"))
    answer = browser.log_in(user=bob.name.split("@")[0], password=bob.password)
    assert answer.json["may"] == {"readLists": True, "readMachines": True, "readPeople": True, "readBatchAccounts": True, "changeMachines": True, "changePeople": False, "changeJobs": True, "changeBatch": True}
    bob.remove()
    refused(browser.call("GET", "/batchaid/session"), 401, "InvalidAuthenticationToken", "does not exist any more")


@pytest.mark.parametrize("role, jobs, batch", [("Batch AI Job Submitter", True, False), ("Reader", False, False), ("Owner", True, True), ("Contributor", True, True),
                                               ("Azure Batch Data Contributor", False, True), ("Azure Batch Account Reader", False, False)])
def test_what_a_role_may_somewhere(daemon, browser, person, role, jobs, batch):
    """In one group, which need not be there."""
    ada = person(role, f"/subscriptions/{daemon.subscription}/resourceGroups/here")
    may = browser.log_in(**user(ada)).json["may"]
    assert (may["changeJobs"], may["changeBatch"]) == (jobs, batch) and not may["changeMachines"]
    assert may["readLists"] and not may["readMachines"] and not may["readPeople"]


@pytest.mark.parametrize("role, machines, people, accounts", [("Batch AI Job Submitter", True, True, True), ("Azure Batch Account Contributor", False, True, True),
                                                              ("Azure Batch Job Submitter", False, False, False), ("Key Vault Secrets User", False, False, False)])
def test_what_a_role_may_read(daemon, browser, person, role, machines, people, accounts):
    may = browser.log_in(**user(person(role))).json["may"]
    assert may["readLists"] and (may["readMachines"], may["readPeople"], may["readBatchAccounts"]) == (machines, people, accounts)


def test_who_has_no_role_may_read_nothing(browser, person):
    assert not any(browser.log_in(**user(person("none"))).json["may"].values())


def test_service_principals_log_in_by_their_secrets(daemon, browser):
    answer = browser.log_in(**first(daemon))
    assert answer.json["user"]["kind"] == "servicePrincipal" and all(answer.json["may"].values())
    graph = {"api_version": None, "validate": False}
    app = daemon.call("POST", "/v1.0/applications", {"displayName": fresh("tool")}, expect=201, **graph).json
    daemon.call("POST", "/v1.0/servicePrincipals", {"appId": app["appId"]}, expect=201, **graph)
    secrets = [daemon.call("POST", f"/v1.0/applications/{app['id']}/addPassword", {}, expect=200, **graph).json for _ in "ab"]
    tools = [Browser(daemon) for _ in secrets]
    for tool, secret in zip(tools, secrets):
        assert tool.log_in(user=app["appId"], password=secret["secretText"]).json["user"]["kind"] == "servicePrincipal"
    browser.log_in(user=app["appId"], password="wrong", expect=401)
    browser.log_in(user=str(uuid.uuid4()), password="wrong", expect=401)
    gone = {"keyId": secrets[0]["keyId"]}
    daemon.call("POST", f"/v1.0/applications/{app['id']}/removePassword", gone, expect=204, **graph)
    assert [tool.is_in() for tool in tools] == [False, True], "a login ends with its own secret"
    daemon.call("DELETE", f"/v1.0/applications/{app['id']}", expect=204, **graph)
    assert not tools[1].is_in()


def test_a_login_by_token_ends_with_the_token(daemon, browser, ada):
    answer = browser.log_in(token=ada.token())
    assert answer.json["user"]["objectId"] == ada.id
    lives(answer, HOUR)
    assert good(browser.call("POST", "/batchaid/session/renew")).json["expiresTime"] == answer.json["expiresTime"]
    assert browser.log_in(token=daemon.token()).json["user"]["objectId"] == daemon.env["AZURE_CLIENT_ID"]
    refresh = ada.login().json["refresh_token"]
    lives(browser.log_in(token=refresh), 12 * HOUR)
    daemon.call("POST", f"/batchaid/users/{ada.name}/reset", expect=200)
    assert not browser.is_in()
    refused(browser.log_in(token=refresh, expect=401), 401, "InvalidLogin")
    for resource in ("https://storage.azure.com", "https://graph.microsoft.com"):
        other = daemon.token_reply(scope=resource + "/.default").json["access_token"]
        refused(browser.log_in(token=other, expect=401), 401, "InvalidLogin", "another audience")


def test_a_bearer_token_shows_who_one_is(daemon, ada):
    reply = ada.get("/batchaid/session", api_version=None)
    assert reply["user"]["objectId"] == ada.id and instant(reply["expiresTime"]) < datetime.now(timezone.utc) + 2 * HOUR
    for method, path in (("POST", "/renew"), ("DELETE", "")):
        reply = ada.call(method, "/batchaid/session" + path, api_version=None)
        assert reply.status == 400 and "has a bearer token" in reply.error["message"]


@pytest.mark.parametrize("body, words", [
    ({}, "none of them"),
    ({"user": "a"}, "it has user"),
    ({"password": "a"}, "it has password"),
    ({"user": "a", "password": "hidden", "code": "hidden"}, "it has user password code"),
    ({"token": "hidden", "code": "hidden"}, "it has token code"),
    ({"user": "a", "password": 5}, "password"),
    ({"user": "", "password": "hidden"}, "user"),
    ({"user": "a" * 300, "password": "hidden"}, "user"),
    ({"user": "a", "password": "hidden", "remember": True}, "remember"),
    ({"token": "hidden" * 2000}, "token"),
    ([], "an array"),
    ("hidden", "not valid JSON"),
])  # fmt: skip
def test_what_is_no_login_is_refused(browser, body, words):
    answer = browser.call("POST", "/batchaid/session", body)
    assert answer.status == 400 and words in answer.error["message"], answer
    assert b"hidden" not in answer.content and "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("body, words", [
    ({"user": "nobody@lab", "password": "x"}, "name or the password is wrong"),
    ({"user": "a\0b@lab", "password": "x"}, ""),
    ({"user": "\u202eada@lab'\"<script>", "password": "x"}, "name or the password is wrong"),
    ({"token": "x"}, "malformed"),
    ({"token": "a.b.c"}, "malformed"),
    ({"code": "0" * 40}, "works once, for a minute"),
    ({"code": "x"}, "works once, for a minute"),
])  # fmt: skip
def test_a_wrong_login_is_refused(browser, body, words):
    answer = browser.call("POST", "/batchaid/session", body)
    assert answer.status in (400, 401) and words in answer.error["message"], answer
    assert "Set-Cookie" not in answer.headers


def test_tries_are_limited_as_for_every_login(own_daemon):
    daemon = own_daemon()
    daemon.expect_log("login.failed")
    ada, browser = Person(daemon, READER), Browser(daemon)
    wrong = {**user(ada), "password": "wrong"}
    answers = []
    while not answers or answers[-1].status == 401:
        answers.append(browser.call("POST", "/batchaid/session", wrong))
        assert len(answers) < 60
    right = browser.call("POST", "/batchaid/session", user(ada))
    assert [right.status, right.error] == [429, answers[-1].error], "it does not tell whether the password is right"
    assert ada.login().status == 429, "one limit for all ways"
    bob = Person(daemon, READER)
    browser.log_in(**user(bob))
    for kind in ("token", "code"):
        statuses = [browser.call("POST", "/batchaid/session", {kind: "x"}).status for _ in range(40)]
        assert set(statuses) == {401}, "no limit, which others at the address would hit"
    browser.log_in(code=daemon.call("POST", "/batchaid/session/links", api_version=None, expect=201).json["code"])
    browser.log_in(**user(bob))


# --- only over https, at one origin ----------------------------------------------------------------------------------------


def test_plain_http_is_refused_by_name(own_daemon):
    daemon = own_daemon(config={"http": {"serve": True}})
    browser = Browser(daemon)
    browser.log_in(**first(daemon))
    answer = browser.send("POST", "/batchaid/session", first(daemon), connection=plainly(daemon))
    refused(answer, 400, "BadRequest", "over https alone", f"https://localhost:{daemon.port}", "bearer token")
    answer = browser.send("GET", "/batchaid/nodes", headers=[("Cookie", browser.cookie)], connection=plainly(daemon))
    refused(answer, 401, "InvalidAuthenticationToken", "plain HTTP")
    bearer = [("Authorization", f"Bearer {daemon.token()}")]
    answer = browser.send("POST", "/batchaid/session/links", headers=bearer, connection=plainly(daemon))
    refused(answer, 400, "BadRequest", "over https alone")


def test_the_port_is_in_the_name(daemon, browser):
    for host, port in (("127.0.0.1", "443"), ("localhost:443", "443"), ("LOCALHOST:0444", "444"), ("[::1]:7443", "7443"), ("[::1]", "443")):
        at = Browser(daemon, host)
        name, value, _ = at.log_in(**first(daemon)).cookie
        assert name == f"__Host-batchaid-{port}" and at.is_in()
        assert claims_of(value)["aud"] == "https://" + host.lower().removesuffix(":443").replace(":0", ":")
        # What a browser sends to other ports of the host: cookies ignore ports.
        other = Browser(daemon, "localhost:1234", at.cookie)
        refused(other.call("GET", "/batchaid/session"), 401, "AuthenticationFailed", "is missing")
        # And what somebody sends by hand.
        other.cookie = f"__Host-batchaid-1234={value}"
        refused(other.call("GET", "/batchaid/session"), 401, "InvalidAuthenticationToken", "another host or port")


@pytest.mark.parametrize("host", ["localhost:0", "localhost:65536", "localhost:99999999", "localhost:", "a:b:c", "[::1]:x", ""])
def test_a_host_that_is_none_gets_no_cookie(daemon, host):
    browser = Browser(daemon)
    browser.host = host
    answer = browser.call("POST", "/batchaid/session", first(daemon), Origin=None)
    assert answer.status == 400 and "host" in answer.error["message"], answer
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("host", ["h; Domain=lab", "h\tx", "h/..", "h?", "h,h", "h%0d%0aSet-Cookie:x=y", "h\u00e4"])
def test_a_host_puts_nothing_into_the_cookie(daemon, host):
    at = Browser(daemon)
    at.host = host.encode("latin-1")
    head = [("Host", at.host), ("Content-Type", "application/json")]
    connection = at.connect()
    body = json.dumps(first(daemon)).encode()
    connection.putrequest("POST", "/batchaid/session", skip_host=True, skip_accept_encoding=True)
    for name, value in [*head, ("Content-Length", str(len(body)))]:
        connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    assert answer.status == 400 and not answer.headers.get("Set-Cookie"), answer.read()


FOREIGN = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": ""},
    {"Origin": "https://localhost"},
    {"Origin": "https://localhost:1"},
    {"Origin": "http://localhost:PORT"},
    {"Origin": "https://localhost:PORT.evil.example"},
    {"Origin": "https://localhost:PORT@evil.example"},
    {"Origin": "https://localhost:PORT/"},
    {"Origin": "https://localhost:PORT https://evil.example"},
    {"Origin": "https://127.0.0.1:PORT"},
    {"Origin": "localhost:PORT"},
    {"Origin": "\u00e4<script>" + "x" * 1000},
    {"Sec_Fetch_Site": "cross-site"},
    {"Sec_Fetch_Site": "same-site"},
    {"Sec_Fetch_Site": ""},
    {"Sec_Fetch_Site": "same-origin, none"},
]


@pytest.mark.parametrize("head", FOREIGN, ids=lambda head: str(*head.values())[:50])
def test_requests_of_other_pages_are_refused(daemon, browser, head):
    head = {name: value.replace("PORT", str(daemon.port)) for name, value in head.items()}
    browser.log_in(**first(daemon))
    (value,) = head.values()
    for method, path in (("GET", "/batchaid/session"), ("GET", SUBSCRIPTIONS), ("POST", "/batchaid/session/links"),
                         ("DELETE", "/batchaid/session"), ("DELETE", "/batchaid/users/nobody")):  # fmt: skip
        answer = browser.call(method, path, **head)
        words = [browser.origin] if not value.isascii() else [browser.origin, value[:200]]
        refused(answer, 403, "AuthorizationFailed", "a bearer token", *words)
    # Nobody is logged in as somebody else by another page.
    answer = browser.call("POST", "/batchaid/session", first(daemon), **head)
    refused(answer, 403, "AuthorizationFailed")
    assert "Set-Cookie" not in answer.headers and browser.is_in()


def test_a_change_needs_an_origin(daemon, browser):
    browser.log_in(**first(daemon))
    group = f"/subscriptions/{daemon.subscription}/resourceGroups/{fresh('g')}?api-version=2021-04-01"
    for method, path in (("POST", "/batchaid/reload"), ("PUT", group), ("PATCH", group), ("DELETE", group)):
        for site in ("same-origin", "none", None):
            answer = browser.call(method, path, {"location": "eastus"}, Origin=None, Sec_Fetch_Site=site)
            refused(answer, 403, "AuthorizationFailed", "Origin is missing", browser.origin)
    assert browser.call("PUT", group, {"location": "eastus"}).status == 201
    assert browser.call("DELETE", group).status in (200, 202)
    good(browser.call("GET", SUBSCRIPTIONS, Sec_Fetch_Site=None))
    good(browser.call("GET", SUBSCRIPTIONS, Sec_Fetch_Site="none"))
    good(browser.call("GET", SUBSCRIPTIONS, Origin=browser.origin.upper().replace("HTTPS", "https")))


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", None])
def test_a_form_of_another_page_changes_nothing(daemon, browser, kind):
    """What a page can send to any host without being asked: three types of bodies, and a body without a type."""
    browser.log_in(**first(daemon))
    body = json.dumps({"name": "mallory", "role": OWNER}).encode()
    head = [("Content-Type", kind), ("Cookie", browser.cookie)]
    for more in ([], [("Origin", "null")], [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site")]):
        refused(browser.send("POST", "/batchaid/users", body, [*head, *more]), 403, "AuthorizationFailed")
        login = json.dumps(first(daemon)).encode()
        answer = browser.send("POST", "/batchaid/session", login, [("Content-Type", kind), *more])
        assert answer.status == (415 if kind else 403 if more else 200), answer  # who sends no Origin is no browser
    assert not [u for u in daemon.get("/batchaid/users", api_version=None)["value"] if u["name"].startswith("mallory")]


# --- forged ones -----------------------------------------------------------------------------------------------------------


def test_forged_cookies_are_refused(daemon, browser, ada):
    key = token_key(daemon)
    name = f"__Host-batchaid-{daemon.port}"
    browser.log_in(**user(ada))
    value, who = browser.value, claims_of(browser.value)
    now = who["iat"]
    forged = {
        "of another key": signed(claims(browser), b"x" * 32),
        "of no key": signed(claims(browser), b"", "none"),
        "of no key, of the algorithm": signed(claims(browser), b""),
        "with a good signature of other claims": signed(claims(browser), b"x" * 32).rsplit(".", 1)[0] + "." + value.rsplit(".", 1)[1],
        "with another algorithm": signed(claims(browser), key, "HS512"),
        "an access token": daemon.token(),
        "a refresh token": ada.login().json["refresh_token"],
        "an id token": ada.login().json["id_token"],
        "an issuer of tokens": signed(claims(browser, iss="batchaid"), key),
        "without an issuer": signed(claims(browser, iss=None), key),
        "without an owner": signed(claims(browser, oid=None), key),
        "without an id": signed(claims(browser, sid=None), key),
        "of a long id": signed(claims(browser, sid="0" * 33), key),
        "without a secret": signed(claims(browser, key=None), key),
        "without a host": signed(claims(browser, aud=None), key),
        "of another host": signed(claims(browser, aud="https://localhost:1"), key),
        "of plain HTTP": signed(claims(browser, aud=browser.origin.replace("https", "http")), key),
        "of nobody": signed(claims(browser, oid=str(uuid.uuid4())), key),
        "of the first with another's secret": signed(claims(browser, key=who["key"]), key),
        "of another's secret": signed({**who, "key": str(uuid.uuid4())}, key),
        "from the future": signed(claims(browser, iat=now + 3600), key),
        "that has ended": signed(claims(browser, exp=now - 1), key),
        "whose login has ended": signed(claims(browser, end=now - 1), key),
        "without an end": signed(claims(browser, exp=None), key),
        "without an end of the login": signed(claims(browser, end=None), key),
        "with an end that is a text": signed(claims(browser, exp=str(now + 3600)), key),
        "with an end that is too large": signed(claims(browser, exp=2**62), key),
        "of an array": encoded({"alg": "HS256"}) + "." + encoded([]) + ".x",
        "cut off": value[:-1],
        "with a tail": value + "x",
        "in quotes": f'"{value}"',
        "twice in itself": value + "." + value,
        "empty": "",
        "a dot": ".",
        "oversized": value + "x" * 2000,
        "huge": "x" * 20000,
        "bytes": "\xff\xfe\x01",
    }  # fmt: skip
    for what, cookie in forged.items():
        answer = browser.call("GET", "/batchaid/session", Cookie=f"{name}={cookie}")
        assert answer.status == 401, (what, answer)
        assert answer.error["code"] in ("InvalidAuthenticationToken", "ExpiredAuthenticationToken"), (what, answer)
        assert answer.headers["WWW-Authenticate"].startswith("Bearer "), "as for tokens"
    good(browser.call("GET", "/batchaid/session", Cookie=f"{name}={signed(claims(browser), key)}"))


def test_two_cookies_of_the_name_are_refused_and_others_ignored(daemon, browser):
    browser.log_in(**first(daemon))
    one, name = browser.cookie, browser.cookie.split("=")[0]
    for more in ("a=b; {}", "{}; a=b", ";;{} ;", f"x{name}=1; {{}}", f"{name}x=1; {{}}", f"{name.lower()}=1; {{}}", "a; {}; =;"):
        good(browser.call("GET", "/batchaid/session", Cookie=more.format(one)))
    for two in (f"{one}; {name}=x", f"{name}=x; {one}", f"{one}; {one}", f"{one};{name}="):
        refused(browser.call("GET", "/batchaid/session", Cookie=two), 401, "InvalidAuthenticationToken", "two cookies of the same name")
    answer = browser.send("GET", "/batchaid/session", headers=[("Cookie", one), ("Cookie", one)])
    refused(answer, 401, "InvalidAuthenticationToken", "two cookies of the same name")
    for none in ("", ";", "=", name, f"{name} =x", f"batchaid-{daemon.port}={browser.value}"):
        refused(browser.call("GET", "/batchaid/session", Cookie=none), 401, "AuthenticationFailed", "is missing")


def test_a_cookie_is_no_token_and_a_token_no_cookie(daemon, browser):
    browser.log_in(**first(daemon))
    refused(browser.send("GET", SUBSCRIPTIONS, headers=[("Authorization", f"Bearer {browser.value}")]), 401, "InvalidAuthenticationToken")
    refused(browser.log_in(token=browser.value, expect=401), 401, "InvalidLogin", "not signed by this daemon")
    reply = daemon.token_reply(grant_type="refresh_token", refresh_token=browser.value, client_secret=None)
    assert reply.status == 400


def test_with_a_token_nobody_looks_at_the_cookie(daemon, browser, ada):
    browser.log_in(**first(daemon))
    for bad in ("Bearer x", "Bearer ", "Basic eDp5", ""):
        refused(browser.call("GET", "/batchaid/session", Authorization=bad), 401, *(
            ["InvalidAuthenticationToken"] if bad.startswith("Bearer") else ["AuthenticationFailed"]))  # fmt: skip
    by = f"Bearer {ada.token()}"
    answer = good(browser.call("GET", "/batchaid/session", Authorization=by, Origin="https://evil.example", Cookie="x"))
    assert answer.json["user"]["objectId"] == ada.id


def test_a_cookie_is_good_for_no_data_and_no_login(daemon, browser):
    """The rest: test_who_may.py."""
    browser.log_in(**first(daemon))
    assert browser.call("GET", "/v1.0/users").status == 401
    assert browser.call("GET", "/metrics").status == 401
    assert browser.call("GET", "/batchaid/health").json.keys() == {"healthy", "wrong"}, "what nobody needs a login for"


# --- its end ------------------------------------------------------------------------------------------------------------------


def test_it_survives_a_restart_and_ends_with_its_password(own_daemon):
    daemon = own_daemon()
    ada, bob = Person(daemon, READER), Person(daemon, READER)
    of_ada, of_bob, of_first = (Browser(daemon) for _ in range(3))
    of_ada.log_in(**user(ada))
    of_bob.log_in(**user(bob))
    of_first.log_in(**first(daemon))
    left = Browser(daemon, cookie=of_bob.cookie)
    good(of_bob.call("POST", "/batchaid/session/renew"))
    assert of_bob.cookie != left.cookie or claims_of(of_bob.value)["sid"] == claims_of(left.value)["sid"]
    answer = good(of_bob.call("DELETE", "/batchaid/session"))
    assert answer.status == 204 and answer.cookie[1] == "" and "max-age=0" in answer.cookie[2]
    assert {"path=/", "secure", "httponly", "samesite=strict"} <= set(answer.cookie[2])
    refused(left.call("GET", "/batchaid/session"), 401, "InvalidAuthenticationToken", "logged out")
    daemon.crash()
    for browser in (of_ada, of_bob, of_first, left):
        browser.connection = None
    assert of_ada.is_in() and of_first.is_in()
    assert not left.is_in(), "a logout is not forgotten"
    assert left.call("POST", "/batchaid/session/renew").status == 401
    assert left.call("POST", "/batchaid/session/links").status == 401
    daemon.call("POST", f"/batchaid/users/{ada.name}/reset", api_version=None, expect=200)
    refused(of_ada.call("GET", "/batchaid/session"), 401, "InvalidAuthenticationToken", "password or secret was changed")


def test_a_login_begins_with_an_id_of_its_own(daemon, browser, ada):
    """Nobody can plant a cookie and have it filled: session fixation."""
    browser.log_in(**first(daemon))
    planted = browser.cookie
    before = claims_of(browser.value)
    browser.log_in(**user(ada))
    after = claims_of(browser.value)
    assert after["sid"] != before["sid"] and after["oid"] == ada.id
    assert Browser(daemon, cookie=planted).call("GET", "/batchaid/session").json["user"]["objectId"] == before["oid"]
    # A second user's cookie is of the second user alone.
    good(browser.call("DELETE", "/batchaid/session"))
    assert Browser(daemon, cookie=planted).is_in()


def test_it_is_renewed_while_it_is_used_and_ends_after_90_days(tested, clock):  # noqa: F811
    ada = Person(tested, READER)
    browser = Browser(tested)
    browser.log_in(**user(ada))
    unused = Browser(tested, cookie=browser.cookie)
    clock.advance("PT11H")
    good(browser.call("POST", "/batchaid/session/renew"))
    clock.advance("PT2H")
    refused(unused.call("GET", "/batchaid/session"), 401, "ExpiredAuthenticationToken", "ended at", "Log in again")
    assert browser.is_in()
    renewals = 0
    while browser.is_in():
        good(browser.call("POST", "/batchaid/session/renew"))
        clock.advance("PT11H59M")
        renewals += 1
        assert renewals < 200
    assert 178 <= renewals <= 181, "90 days"


def test_ended_ones_are_forgotten_when_they_would_have_ended(tested, clock):  # noqa: F811
    ended = "SELECT count(*) FROM ended_session"
    for _ in range(3):
        browser = Browser(tested)
        browser.log_in(**first(tested))
        good(browser.call("DELETE", "/batchaid/session"))
    assert tested.rows(ended)[0][0] >= 3
    clock.advance("PT12H1M")
    browser.log_in(**first(tested))
    good(browser.call("DELETE", "/batchaid/session"))
    assert tested.rows(ended) == [(1,)]


def test_many_logouts_end_all_that_have_begun(own_daemon):
    """What is kept of each is bounded; nothing that was ended works again."""
    daemon = own_daemon()
    ada = Person(daemon, READER)
    of_ada, of_first, browser = Browser(daemon), Browser(daemon), Browser(daemon)
    of_ada.log_in(token=ada.token())
    of_first.log_in(**first(daemon))
    ended = []
    for _ in range(250):
        browser.log_in(token=daemon.token())
        ended.append(browser.cookie)
        good(browser.call("DELETE", "/batchaid/session"))
    (count,) = daemon.rows("SELECT count(*) FROM ended_session")[0]
    assert count <= 101
    assert not any(Browser(daemon, cookie=cookie).is_in() for cookie in (ended[0], ended[99], ended[100], ended[150], ended[-1]))
    assert of_ada.is_in(), "of another"
    assert not of_first.is_in()
    browser.log_in(token=daemon.token())
    assert browser.is_in()
