# SPDX-License-Identifier: MIT
"""What a browser sends to the daemon's page: its cookie, and from where a request comes. Each header may be wrong."""

import base64
import hashlib
import hmac
import json
import ssl
import time
from datetime import datetime, timedelta, timezone
from http.client import HTTPConnection, HTTPSConnection
from http.cookies import SimpleCookie

from .daemon import JUDGE, PATIENCE
from .world import instant


class Answer:
    def __init__(self, method, url, response):
        self.method, self.url, self.status = method, url, response.status
        self.headers, self.content = response.headers, response.read()

    @property
    def json(self):
        return json.loads(self.content)

    @property
    def error(self):
        return self.json["error"]

    @property
    def cookie(self):
        """(name, value, attributes in lower case) of what the reply sets."""
        (line,) = self.headers.get_all("Set-Cookie")
        (found,) = SimpleCookie(line).values()
        return found.key, found.value, line.lower().split("; ")[1:]

    def __repr__(self):
        return f"<{self.method} {self.url} -> {self.status} {self.content[:400]!r}>"


class Browser:
    """`host` is what the requests name; `cookie` is what it sends, name=value."""

    def __init__(self, daemon, host=None, cookie=None):
        self.daemon = daemon
        self.host = host or f"localhost:{daemon.port}"
        self.cookie = cookie
        self.connection = None

    @property
    def origin(self):
        return "https://" + self.host

    def connect(self):
        context = ssl.create_default_context(cafile=self.daemon.ca)
        context.check_hostname = False
        return HTTPSConnection("127.0.0.1", self.daemon.port, context=context, timeout=60 * PATIENCE)

    def send(self, method, path, body=None, headers=(), connection=None):
        """Exactly these headers, besides Host and those of the body."""
        connection = connection or self.connection or self.connect()
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        head = [("Host", self.host), ("Content-Length", str(len(data or b"")))]
        if data is not None and "content-type" not in (name.lower() for name, _ in headers):
            head.append(("Content-Type", "application/json"))
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in [*head, *headers]:
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(data)
        answer = Answer(method, self.origin + path, connection.getresponse())
        self.connection = connection if isinstance(connection, HTTPSConnection) and answer.headers["Connection"] != "close" else None
        if path.startswith("/batchaid/session") and answer.status < 405 and b"{" in (answer.content or b"{"):
            assert JUDGE.hear(method, answer.url, answer.status, answer.headers, answer.content) == []
        return answer

    def call(self, method, path, body=None, **more):
        """As a script of the page does; a header that is None is left out."""
        head = {"Sec-Fetch-Site": "same-origin", "Cookie": self.cookie}
        if method not in ("GET", "HEAD"):
            head["Origin"] = self.origin
        head.update({name.replace("_", "-"): value for name, value in more.items()})
        answer = self.send(method, path, body, list(head.items()))
        if answer.status < 300 and answer.headers.get("Set-Cookie"):
            name, value, _ = answer.cookie
            self.cookie = f"{name}={value}" if value else None
        return answer

    def log_in(self, expect=200, **body):
        answer = self.call("POST", "/batchaid/session", body)
        assert answer.status == expect, answer
        return answer

    @property
    def value(self):
        return self.cookie.split("=", 1)[1]

    def is_in(self):
        answer = self.call("GET", "/batchaid/session")
        assert answer.status in (200, 401), answer
        return answer.status == 200


def good(answer):
    assert answer.status < 300, answer
    return answer


def refused(answer, status, code, *words):
    assert (answer.status, answer.error["code"]) == (status, code), answer
    for word in words:
        assert word in answer.error["message"], answer
    return answer


def lives(answer, until):
    left = instant(answer.json["expiresTime"]) - datetime.now(timezone.utc)
    assert abs(left - until) < timedelta(minutes=2), answer.json


def plainly(daemon):
    return HTTPConnection("127.0.0.1", daemon.port, timeout=60 * PATIENCE)


def user(person):
    return {"user": person.name, "password": person.password}


def first(daemon):
    return {"user": daemon.env["AZURE_CLIENT_ID"], "password": daemon.env["AZURE_CLIENT_SECRET"]}


# --- cookies as an attacker makes them --------------------------------------------------------------------------------


def encoded(data):
    return base64.urlsafe_b64encode(data if isinstance(data, bytes) else json.dumps(data).encode()).rstrip(b"=").decode()


def decoded(text):
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def claims_of(value):
    return decoded(value.split(".")[1])


def signed(claims, key, alg="HS256"):
    text = encoded({"typ": "JWT", "alg": alg}) + "." + encoded(claims)
    return text + "." + (encoded(hmac.new(key, text.encode(), hashlib.sha256).digest()) if key else "")


def token_key(daemon):
    return (daemon.state_dir / "token.key").read_bytes()


def claims(browser, **more):
    """Those of a good cookie of the first principal."""
    now = int(time.time())
    oid = browser.daemon.env["AZURE_CLIENT_ID"]
    good = {"iss": "batchaid-session", "aud": browser.origin, "sid": "0" * 32, "oid": oid, "key": ""}
    good.update(iat=now, beg=now * 1000000, exp=now + 3600, end=now + 7200)
    good.update(more)
    return {name: value for name, value in good.items() if value is not None}
