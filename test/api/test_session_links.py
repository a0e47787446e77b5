# SPDX-License-Identifier: MIT
"""Links that log a browser in once, and `batchaid open`, which makes them."""

import subprocess
from datetime import datetime, timedelta, timezone
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from support.browser import Browser, claims_of, first, good, lives, refused, user
from support.daemon import BATCHAID
from support.deep import DEEP
from support.late_bodies import LateBody
from support.people import READER
from support.testing_fixtures import clock, tested  # noqa: F401
from support.waiting import wait_for
from support.world import instant

HOUR = timedelta(hours=1)


@pytest.fixture
def browser(daemon):
    daemon.expect_log("login.failed")
    return Browser(daemon)


@pytest.fixture
def ada(person):
    return person(READER)


def test_a_link_works_once(daemon, browser, ada):
    made = ada.call("POST", "/batchaid/session/links", api_version=None, expect=201)
    assert "no-store" in made.headers["Cache-Control"]
    link = made.json
    assert link["url"] == f"{daemon.endpoint}/#code={link['code']}" and len(link["code"]) == 40
    assert instant(link["expiresTime"]) < datetime.now(timezone.utc) + timedelta(seconds=62)
    answer = browser.log_in(code=link["code"])
    assert answer.json["user"]["objectId"] == ada.id
    lives(answer, HOUR)  # of the token that made it
    refused(browser.log_in(code=link["code"], expect=401), 401, "InvalidLogin", "works once")
    assert ada.call("GET", "/subscriptions", api_version="2019-11-01").status == 200


def test_a_link_may_be_for_one_user_alone(daemon, browser, ada, person):
    """So a page learns that it is another's, before it replaces a login."""
    bob, code = person(READER), ada.call("POST", "/batchaid/session/links", api_version=None, expect=201).json["code"]
    body = {"code": code, "objectId": bob.id}
    answer = browser.call("POST", "/batchaid/session", body)
    assert answer.status == 204 and "Set-Cookie" not in answer.headers
    assert browser.log_in(code=code, objectId=ada.id.upper()).json["user"]["objectId"] == ada.id
    refused(browser.call("POST", "/batchaid/session", {**user(bob), "objectId": bob.id}), 400, "InvalidParameter", "objectId without code")


def test_a_link_leads_to_the_login_that_made_it(daemon, browser, ada):
    browser.log_in(**user(ada))
    link = good(browser.call("POST", "/batchaid/session/links")).json
    other = Browser(daemon)
    lives(other.log_in(code=link["code"]), 12 * HOUR)
    assert claims_of(other.value)["sid"] != claims_of(browser.value)["sid"]
    assert claims_of(other.value)["end"] == claims_of(browser.value)["end"]
    late = good(browser.call("POST", "/batchaid/session/links")).json
    good(browser.call("DELETE", "/batchaid/session"))
    assert other.is_in(), "another browser"
    refused(Browser(daemon).log_in(code=late["code"], expect=401), 401, "InvalidLogin", "login that made the link is over")
    link = ada.call("POST", "/batchaid/session/links", user(ada), api_version=None, expect=201).json
    late = ada.call("POST", "/batchaid/session/links", user(ada), api_version=None, expect=201).json
    lives(other.log_in(code=link["code"]), 12 * HOUR)
    daemon.call("POST", f"/batchaid/users/{ada.name}/reset", api_version=None, expect=200)
    assert not other.is_in()
    refused(other.log_in(code=late["code"], expect=401), 401, "InvalidLogin", "password was reset")
    wrong = {**user(ada), "password": "wrong"}
    assert daemon.call("POST", "/batchaid/session/links", wrong, api_version=None).status == 401


def test_a_link_is_late_after_a_minute(tested, clock):  # noqa: F811
    tested.expect_log("login.failed")
    links = [tested.call("POST", "/batchaid/session/links", api_version=None, expect=201).json["code"] for _ in range(2)]
    clock.advance("PT55S")
    Browser(tested).log_in(code=links[0])
    clock.advance("PT6S")
    Browser(tested).log_in(code=links[1], expect=401)


def test_many_links_of_one_are_few_at_a_time(daemon, browser, ada):
    """The oldest are dropped, and those of others stay."""
    theirs = ada.call("POST", "/batchaid/session/links", api_version=None, expect=201).json["code"]
    bearer = [("Authorization", f"Bearer {daemon.token()}")]
    codes = []
    for _ in range(10000 if DEEP else 300):
        codes.append(good(browser.send("POST", "/batchaid/session/links", headers=bearer)).json["code"])
    assert len(set(codes)) == len(codes)
    for code, status in ((codes[0], 401), (codes[-12], 401), (codes[-1], 200), (codes[-2], 200), (theirs, 200)):
        browser.log_in(code=code, expect=status)


def test_a_code_of_one_login_is_none_of_another(daemon, browser, ada):
    link = ada.call("POST", "/batchaid/session/links", api_version=None, expect=201).json["code"]
    for grant, field in (("authorization_code", "code"), ("device_code", "device_code")):
        for client in ("a-client", "", None):
            assert ada.login(grant_type=grant, **{field: link}, client_id=client, redirect_uri="http://localhost:1").status == 400
    device = daemon.session().post(f"{daemon.endpoint}/adfs/oauth2/devicecode", data={"client_id": "a-client"}, timeout=30).json()
    page = {"user_code": device["user_code"], "username": ada.name, "password": ada.password}
    assert daemon.session().post(device["verification_uri"], data=page, timeout=30).status_code == 200
    browser.log_in(code=device["device_code"], expect=401)
    assert browser.log_in(code=link).json["user"]["objectId"] == ada.id


def test_confirmed_codes_of_one_are_few_at_a_time(daemon, ada):
    """Whoever does not use them leaves room for the logins of others."""
    program = {"client_id": "a-client", "redirect_uri": "http://localhost:1"}
    form = {**program, "username": ada.name, "password": ada.password}
    codes = []
    for _ in range(11):
        reply = daemon.session().post(f"{daemon.endpoint}/adfs/oauth2/authorize", data=form, timeout=30, allow_redirects=False)
        codes += parse_qs(urlsplit(reply.headers["Location"]).query)["code"]
    statuses = [ada.login(grant_type="authorization_code", code=code, **program).status for code in codes]
    assert statuses == [400] + 10 * [200]


def test_a_code_of_an_old_password_is_worth_nothing(daemon, ada):
    """A login that was confirmed before the reset gives no login after it."""
    program = {"client_id": "a-client", "redirect_uri": "http://localhost:1"}
    device = daemon.session().post(f"{daemon.endpoint}/adfs/oauth2/devicecode", data=program, timeout=30).json()
    page = {"user_code": device["user_code"], "username": ada.name, "password": ada.password}
    assert daemon.session().post(device["verification_uri"], data=page, timeout=30).status_code == 200
    called = daemon.session().post(f"{daemon.endpoint}/adfs/oauth2/authorize", data={**page, **program}, timeout=30, allow_redirects=False)
    (code,) = parse_qs(urlsplit(called.headers["Location"]).query)["code"]
    daemon.call("POST", f"/batchaid/users/{ada.name}/reset", api_version=None, expect=200)
    for by in ({"grant_type": "device_code", "device_code": device["device_code"]}, {"grant_type": "authorization_code", "code": code}):
        reply = ada.login(**by, **program)
        assert (reply.status, reply.error) == (400, "invalid_grant") and "password was reset" in reply.json["error_description"]


def test_an_old_password_that_waits_to_be_compared_is_worth_nothing(daemon, ada):
    """Passwords of one address are compared one after another: most of these logins wait while the password is reset."""
    daemon.expect_log("login.failed")
    form = urlencode({"grant_type": "password", "client_id": "x", "username": ada.name, "password": ada.password}).encode()
    head = {"Content-Type": "application/x-www-form-urlencoded"}
    logins = [LateBody(daemon, "POST", "/adfs/oauth2/token", head, form) for _ in range(12)]
    for login in logins:
        login.connection.send(login.last)
    daemon.call("POST", f"/batchaid/users/{ada.name}/reset", api_version=None, expect=200)
    assert 400 in [login.connection.getresponse().status for login in logins]


# --- the command ------------------------------------------------------------------------------------------------------


def opened(daemon, *arguments, **environment):
    env = {"PATH": "/usr/bin:/bin", "HOME": str(daemon.dir), "BATCHAID_STATE_DIR": str(daemon.state_dir), **environment}
    return subprocess.run([BATCHAID, "open", *arguments], env=env, capture_output=True, text=True, timeout=60, check=True)


def test_open_prints_a_link(daemon, browser):
    browser.host = urlsplit(daemon.env["BATCHAID_ENDPOINT"]).netloc
    for done in (opened(daemon), opened(daemon, "--print", DISPLAY=":9")):
        url, code = done.stdout.strip().split("/#code=")
        assert url == daemon.env["BATCHAID_ENDPOINT"] and "once, within a minute" in done.stderr
        answer = browser.log_in(code=code)
        assert answer.json["user"]["objectId"] == daemon.env["AZURE_CLIENT_ID"]
        lives(answer, 12 * HOUR)


def test_open_opens_a_browser(daemon, browser, tmp_path):
    """With a file of one's own: others may read the arguments of a process."""
    opener = tmp_path / "xdg-open"
    opener.write_text(f'#!/bin/sh\nstat -c %a "$1" > {tmp_path}/mode\ncp "$1" {tmp_path}/part\nmv {tmp_path}/part {tmp_path}/page\n')
    opener.chmod(0o755)
    for screen in ("DISPLAY", "WAYLAND_DISPLAY"):
        (tmp_path / "page").unlink(missing_ok=True)
        done = opened(daemon, PATH=f"{tmp_path}:/usr/bin:/bin", XDG_CONFIG_HOME=str(tmp_path / "config"), **{screen: ":9"})
        assert daemon.env["BATCHAID_ENDPOINT"] in done.stdout and "code=" not in done.stdout + done.stderr
        wait_for((tmp_path / "page").exists)
        text = (tmp_path / "page").read_text()
        assert (tmp_path / "mode").read_text().strip() == "600"
        browser.log_in(code=text.split("/#code=")[1].split('"')[0])
    done = opened(daemon, PATH=str(tmp_path / "none"), XDG_CONFIG_HOME=str(tmp_path / "config"), DISPLAY=":9")
    assert "There is no xdg-open" in done.stderr and "/#code=" in done.stdout


def test_open_is_of_the_login_that_is_kept(daemon, browser, ada, tmp_path):
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    login = [BATCHAID, "login", daemon.endpoint, "--user", ada.name, "--ca", str(daemon.ca)]
    subprocess.run(login, env=env, input=ada.password + "\n", capture_output=True, text=True, timeout=60, check=True)
    done = subprocess.run([BATCHAID, "open"], env=env, capture_output=True, text=True, timeout=60, check=True)
    answer = browser.log_in(code=done.stdout.strip().split("/#code=")[1])
    assert answer.json["user"]["objectId"] == ada.id
    lives(answer, 12 * HOUR)
