# SPDX-License-Identifier: MIT
"""Another page on the daemon's host, at another port and with a certificate that the browser trusts, as a job could serve
it: browsers send it the cookie's owner's requests, and take it for the same site. It changes nothing and reads nothing."""

import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from support.waiting import wait_for

# Sends everything that a page may send to any origin without asking it, and says what it could read.
SCRIPT = """
const done = arguments[arguments.length - 1], to = arguments[0], body = arguments[1];
(async () => {
    const read = [];
    const types = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""];
    for (const mode of ["no-cors", "cors"])
        for (const type of types)
            for (const path of ["/batchaid/users", "/batchaid/session", "/batchaid/session/links", "/batchaid/reload"]) {
                try {
                    const reply = await fetch(to + path, {method: "POST", mode, credentials: "include",
                                                          body: new Blob([body], type ? {type} : {})});
                    if (reply.type !== "opaque") read.push(path);
                } catch (e) { /* what is to happen */ }
            }
    for (const how of [{method: "PUT"}, {method: "DELETE"}, {method: "POST", headers: {"Content-Type": "application/json"}, body}])
        try {
            await fetch(to + "/batchaid/users/mallory", {credentials: "include", ...how});
            read.push(how.method);
        } catch (e) { /* likewise */ }
    for (const mode of ["no-cors", "cors"])
        try {
            const reply = await fetch(to + "/batchaid/session", {mode, credentials: "include"});
            if (reply.type !== "opaque" || await reply.text()) read.push("GET " + mode);
        } catch (e) { /* likewise */ }
    for (const tag of ["img", "script", "link", "iframe"]) {
        const part = document.createElement(tag);
        part.rel = "stylesheet";
        await new Promise(resolve => {
            part.onload = part.onerror = resolve;
            part[tag === "link" ? "href" : "src"] = to + "/batchaid/session?" + tag;
            document.body.append(part);
            setTimeout(resolve, 3000);
        });
        if (tag === "iframe")
            try { if (part.contentDocument.body.innerText) read.push(tag); } catch (e) { /* likewise */ }
    }
    done(read);
})();
"""
FORM = """
document.body.innerHTML = '<form method="post" enctype="text/plain"><input name="x"></form>';
const form = document.forms[0];
form.action = arguments[0] + arguments[1];
form.elements.x.name = arguments[2];
form.submit();
"""


@pytest.fixture(scope="module")
def attacker(served):
    """Its address, and the cookies that it gets."""
    got = []

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            got.append(self.headers.get("Cookie", ""))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!DOCTYPE html><title>a job</title><body>a job</body>")

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(served.state_dir / "server.pem", served.state_dir / "server.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"https://localhost:{server.server_port}", got
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def visiting(chromium, attacker):
    """A browser that is logged in, on the other page. What that page asks is no complaint about ours."""
    chromium.forget()
    chromium.log_in()
    chromium.driver.get(attacker[0])
    yield chromium
    chromium.driver.get("about:blank")
    chromium.forget()
    chromium.complaints()


def names(daemon):
    return {user["name"] for user in daemon.get("/batchaid/users", api_version=None)["value"]}


def test_another_page_changes_and_reads_nothing(served, visiting, attacker):
    before, events = names(served), served.log_tail(100000).count("session.link_made")
    body = json.dumps({"name": "mallory@lab", "role": "Owner"})
    visiting.driver.set_script_timeout(120)
    read = visiting.driver.execute_async_script(SCRIPT, f"https://localhost:{served.port}", body)
    assert read == [], "what it could read"
    assert names(served) == before and served.log_tail(100000).count("session.link_made") == events
    assert any(f"__Host-batchaid-{served.port}=" in cookies for cookies in attacker[1]), "cookies ignore ports: the attack was one"


@pytest.mark.parametrize("path", ["/batchaid/users", "/batchaid/session/links", "/batchaid/reload"])
def test_a_form_of_another_page_is_refused_in_words(served, visiting, path):
    before = names(served)
    visiting.driver.execute_script(FORM, f"https://localhost:{served.port}", path, '{"name": "mallory@lab", "x": "')
    wait_for(lambda: path in visiting.driver.current_url, 20, visiting.text)
    visiting.see("AuthorizationFailed", "is for pages of")
    assert names(served) == before


def test_the_login_goes_on(served, visiting):
    visiting.open(visiting.origin + "/").see("Log out")
