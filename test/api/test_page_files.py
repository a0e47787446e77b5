# SPDX-License-Identifier: MIT
"""The files of the page at "/": what a browser is told about them, and what they may do."""

import re

import pytest
import requests
from support.daemon import ROOT

OURS, OTHERS = ROOT / "api/page/files", ROOT / "api/page/vendor"


def fetch(daemon, path, method="GET", **headers):
    return requests.request(method, daemon.endpoint + path, headers=headers, verify=daemon.env["SSL_CERT_FILE"], timeout=30)


@pytest.fixture
def shell(daemon):
    return fetch(daemon, "/")


def served(shell):
    """The path of the page's files in this build."""
    return re.search(r'"(/page/\w+/)app\.js"', shell.text)[1]


def test_the_shell_runs_only_what_the_daemon_serves(shell):
    assert shell.status_code == 200 and shell.headers["Content-Type"] == "text/html; charset=utf-8"
    policy = dict(part.split(" ", 1) for part in shell.headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'" and policy["script-src"] == policy["connect-src"] == policy["style-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'" and shell.headers["X-Frame-Options"] == "DENY"
    assert shell.headers["Referrer-Policy"] == "no-referrer" and shell.headers["Cache-Control"] == "no-cache"


def test_the_shell_names_each_module_once(shell):
    modules = re.findall(r'"/page/\w+/(\w[\w-]*\.js)"', shell.text)
    assert sorted(modules) == sorted(file.name for file in [*OURS.glob("*.js"), *OTHERS.glob("*.js")]) and "{" not in shell.text


def test_without_scripts_a_reader_learns_what_answers_and_how_to_log_in(shell):
    plain = shell.text[shell.text.index("<noscript>") :]
    assert "It is not Azure." in plain and "batchaid az-login" in plain


def test_every_file_is_served_as_it_is_in_the_sources(daemon, shell):
    for file in [*OURS.iterdir(), *OTHERS.glob("*.js"), *OTHERS.glob("*.css")]:
        if file.name == "index.html":
            continue
        reply = fetch(daemon, served(shell) + file.name)
        assert reply.status_code == 200 and reply.content == file.read_bytes(), file.name
        assert reply.headers["Content-Encoding"] == "gzip" and "immutable" in reply.headers["Cache-Control"]
        assert reply.headers["X-Content-Type-Options"] == "nosniff" and reply.headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize("accepted", ["identity", "gzip;q=0", "br", ""])
def test_a_client_without_gzip_gets_the_file_unpacked(daemon, shell, accepted):
    reply = fetch(daemon, served(shell) + "app.js", **{"Accept-Encoding": accepted})
    assert "Content-Encoding" not in reply.headers and reply.content == (OURS / "app.js").read_bytes()


def test_files_of_another_build_are_not_mixed_in(daemon):
    reply = fetch(daemon, "/page/0123456789abcdef/app.js")
    assert reply.status_code == 404 and "this daemon has the build" in reply.json()["error"]["message"]


@pytest.mark.parametrize("name", ["..%2Fapp.js", "nothing.js", "app.js%00", "%5C..%5Capp.js", "README.md", "htm.LICENSE"])
def test_other_names_are_not_found(daemon, shell, name):
    assert fetch(daemon, served(shell) + name).status_code in (400, 404)


def test_other_methods_are_refused(daemon):
    refused = fetch(daemon, "/", "POST")
    assert refused.status_code == 405 and "allowed: GET" in refused.text


def test_each_module_imports_modules_of_the_page_alone():
    there = {file.name for file in [*OURS.iterdir(), *OTHERS.iterdir()]}
    for file in OURS.glob("*.js"):
        for name in re.findall(r'^import .* from "(.*)";$', file.read_text(), re.M):
            assert name.startswith("./") and name[2:] in there, f"{file.name} imports {name}"


# Ways in which a text of a user could become markup or a program.
def test_no_module_makes_markup_of_texts():
    ways = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|dangerouslySetInnerHTML|srcdoc|javascript:")
    for file in OURS.glob("*.js"):
        assert not ways.search(file.read_text()), file.name
