# SPDX-License-Identifier: MIT
"""Requests to a daemon, with a bearer token that is renewed before it expires.

Connections go straight to the daemon, without a proxy. Each thread has its own, and so has each download: others may ask
between two pieces of it. A request that fails on a connection that was open before is sent again on a new one; all requests of
this package may be repeated.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import ssl
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Optional

from .errors import BatchaidError, FileChanged, InvalidArgument, LoginNeeded, Unreachable, refused

TOKEN_PATH = "/adfs/oauth2/token"
STORAGE = "https://storage.azure.com/.default"
# The id of az's application, as `batchaid login` uses it: a login needs some application, and the daemon accepts any.
APPLICATION = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"
CONNECT_S, TIMEOUT_S = 10.0, 60.0
RENEWED_S = 300.0  # a token is renewed so long before its end, or at four fifths of its life
PIECE = 1 << 18
WRONG_NAME = (62, 64)  # X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH
AUTHORITIES = (  # of Debian, Arch, Alpine; Fedora, RHEL; Fedora from 43 on; SUSE; Alpine without ca-certificates
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
)  # fmt: skip
IN_URLS = "/?&=%:~+!$,;'@()*[]"  # what is not escaped again


class Reply(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> Any:
        """Its body; None if it has none, or no JSON."""
        try:
            return json.loads(self.content) if self.content else None
        except ValueError:
            return None

    def error(self) -> BatchaidError:
        """That of a refusal, in the words of the daemon or of its login."""
        said = self.json()
        said = said if isinstance(said, dict) else {}
        error = said.get("error")
        if isinstance(error, dict):
            return refused(self.status, str(error.get("code", "")), str(error.get("message", "")))
        if isinstance(error, str):
            return refused(self.status, error, str(said.get("error_description", "")))
        text = self.content[:300].decode(errors="replace")
        return refused(self.status, http.client.responses.get(self.status, ""), text or "the daemon gave no reason")


class Version:
    """That of a file of which several requests read parts."""

    def __init__(self) -> None:
        self.etag: Optional[str] = None

    def check(self, etag: Optional[str]) -> None:
        """Keeps the first reply's; FileChanged if a later one has another."""
        if self.etag is not None and etag != self.etag:
            raise FileChanged("the file has changed while it was read; read it again from its beginning")
        self.etag = etag


def plain_endpoint(url: str) -> str:
    """In lower case and without a slash; InvalidArgument unless it is https://HOST or https://HOST:PORT."""
    parts = urllib.parse.urlsplit(url.strip().lower()) if isinstance(url, str) else None
    try:
        valid = parts is not None and parts.scheme == "https" and bool(parts.hostname) and (parts.port or 443) > 0
    except ValueError:  # of the port
        valid = False
    if parts is None or not valid or parts.path not in ("", "/") or parts.query or parts.username is not None:
        raise InvalidArgument(
            f"{url!r} is not a valid endpoint; write how you reach the daemon, as in https://gpu-head.lab:7443"
        )
    return f"https://{parts.netloc}"


def clock() -> float:
    """Seconds, of which those count, too, that the computer sleeps; time.monotonic() leaves them out."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Login:
    """Who asks: the credentials, and tokens made of them for the requests of each scope."""

    def __init__(
        self, grant: Mapping[str, str], user: Optional[str] = None, again: str = "",
        kept: Callable[[], Optional[Login]] = lambda: None,
    ) -> None:  # fmt: skip
        """`grant`: the form of a request for a token, or {"token": TEXT}; `again`: how to log in again; `kept`: a login of the
        same user at the same daemon, who may have logged in again elsewhere."""
        self._grant, self.user, self.again, self._kept = dict(grant), user, again, kept
        self._tokens: dict[Optional[str], tuple[str, float]] = {}
        self._lock = threading.RLock()

    @property
    def renewable(self) -> bool:
        """Whether there can be a new token."""
        return "token" not in self._grant

    def token(self, connection: Connection, scope: Optional[str] = None, new: bool = False) -> str:
        """One that is valid for a while; it may be a new one, and is with `new`, unless this login cannot be renewed."""
        with self._lock:
            token, until = self._tokens.get(scope, ("", 0.0))
            if not token or new or clock() >= until:
                token, lifetime = self._ask(connection, scope)
                until = clock() + max(lifetime - RENEWED_S, lifetime * 0.8)
                self._tokens[scope] = (token, until)
            return token

    def take_over(self, other: Login) -> bool:
        """Uses the credentials of another login of the same user from now on. False: it has them already."""
        with self._lock:
            if other._grant == self._grant:
                return False
            self._grant, self._tokens = dict(other._grant), dict(other._tokens)
            self.again, self._kept = other.again, other._kept
            return True

    def _logged_in_again(self) -> bool:
        """Whether there are other credentials than those that were refused. A password that was refused stays refused."""
        kept = self._kept() if self._grant["grant_type"] == "refresh_token" else None
        return kept is not None and self.take_over(kept)

    def forget(self, token: str) -> None:
        """The daemon has refused it."""
        with self._lock:
            self._tokens = {scope: kept for scope, kept in self._tokens.items() if kept[0] != token}

    def _ask(self, connection: Connection, scope: Optional[str]) -> tuple[str, float]:
        if not self.renewable:
            if scope is None:
                return self._grant["token"], float("inf")
            raise LoginNeeded(0, "", "a bearer token alone is not valid at storage accounts, to which a folder is copied: use "
                                     "folder=None, or log in with user= and password=")  # fmt: skip
        form = {**self._grant, **({"scope": scope} if scope else {})}
        reply = connection.exchange(
            "POST", TOKEN_PATH, urllib.parse.urlencode(form).encode(), {"Content-Type": "application/x-www-form-urlencoded"}
        )
        said = reply.json()
        if 400 <= reply.status < 500 and reply.status != 429:
            if self._logged_in_again():
                return self._ask(connection, scope)
            error = reply.error()
            raise LoginNeeded(error.status, error.code, f"{error.message} {self.again}".strip())
        if reply.status != 200 or not isinstance(said, dict) or not isinstance(said.get("access_token"), str):
            raise reply.error()
        if self._grant["grant_type"] == "password" and isinstance(said.get("refresh_token"), str):
            self._grant = {"grant_type": "refresh_token", "client_id": self._grant["client_id"],
                           "refresh_token": said["refresh_token"]}  # fmt: skip
        return said["access_token"], float(said.get("expires_in", 3600))


class _HTTPS(http.client.HTTPSConnection):
    """With a limit for the connection itself."""

    def __init__(self, host: str, port: int, tls: ssl.SSLContext) -> None:
        super().__init__(host, port, timeout=TIMEOUT_S, context=tls)
        self._tls = tls

    def connect(self) -> None:
        limit = self.timeout if self.timeout is not None else CONNECT_S
        sock = socket.create_connection((self.host, self.port), min(limit, CONNECT_S))
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sock = self._tls.wrap_socket(sock, server_hostname=self.host)
            self.sock.settimeout(limit)
        except BaseException:
            sock.close()
            raise

    def limit(self, seconds: float) -> None:
        """For each wait for bytes of the next request."""
        self.timeout = seconds
        if self.sock is not None:
            self.sock.settimeout(seconds)


class Connection:
    """To one daemon, as one login."""

    def __init__(self, endpoint: str, login: Login, cafile: Optional[str] = None) -> None:
        self.endpoint, self.login, self.cafile = plain_endpoint(endpoint), login, cafile
        try:
            self._tls = ssl.create_default_context(cafile=cafile)
        except OSError as e:  # an SSLError too
            raise InvalidArgument(f"the file of the daemon's authority, {cafile}, cannot be read: {e.strerror or e}") from None
        self._local = threading.local()

    def authorities(self) -> str:
        """The file with the authorities that are trusted. Python may know a folder instead, which programs cannot use."""
        system = ssl.get_default_verify_paths()
        for file in (self.cafile, system.cafile, system.openssl_cafile, *AUTHORITIES):
            if file and os.access(file, os.R_OK):
                return file
        raise InvalidArgument(
            f"submit() needs a file of the authorities that are trusted, and {', '.join(AUTHORITIES)} cannot be read here; name one: "
            f'connect("{self.endpoint}", cafile="FILE")'
        )

    def close(self) -> None:
        """Closes this thread's connection; a later request opens a new one."""
        connection = self._take()
        if connection is not None:
            connection.close()

    @contextlib.contextmanager
    def until(self, instant: float) -> Iterator[None]:
        """No request of this thread waits beyond this instant of time.monotonic(), but for a second."""
        before = getattr(self._local, "until", float("inf"))
        self._local.until = instant
        try:
            yield
        finally:
            self._local.until = before

    def _limit(self) -> float:
        return max(1.0, min(TIMEOUT_S, getattr(self._local, "until", float("inf")) - time.monotonic()))

    # --- one exchange ---------------------------------------------------------------------------

    def _take(self) -> Optional[_HTTPS]:
        """This thread's open connection, which nobody else uses until _give()."""
        kept: tuple[int, Optional[_HTTPS]] = getattr(self._local, "kept", (0, None))
        self._local.kept = (0, None)
        return kept[1] if kept[0] == os.getpid() else None  # a fork must not write to its parent's connections

    def _give(self, connection: _HTTPS) -> None:
        """To be used again, after a whole reply."""
        self.close()
        self._local.kept = (os.getpid(), connection)

    def _begin(
        self, method: str, path: str, body: Optional[bytes], headers: Mapping[str, str]
    ) -> tuple[_HTTPS, http.client.HTTPResponse]:
        """Sends a request; the caller reads the reply, and gives the connection back or closes it."""
        parts = urllib.parse.urlsplit(self.endpoint)
        target = urllib.parse.quote(path, safe=IN_URLS)
        connection = self._take()
        while True:
            new = connection is None
            connection = connection or _HTTPS(parts.hostname or "", parts.port or 443, self._tls)
            try:
                connection.limit(self._limit())
                connection.request(method, target, body=body, headers=dict(headers))
                return connection, connection.getresponse()
            except (http.client.HTTPException, OSError) as e:
                connection.close()
                if new or isinstance(e, socket.timeout):
                    raise self._unreachable(e) from None
                connection = None
            except BaseException:
                connection.close()
                raise

    def _unreachable(self, e: Exception) -> Unreachable:
        if isinstance(e, ssl.SSLCertVerificationError) and e.verify_code in WRONG_NAME:
            return Unreachable(
                f"the certificate of {self.endpoint} is not for this name ({e.verify_message}): use a name of the daemon that is in "
                "its certificate; the administrator adds names in the setting tls.names", temporary=False,
            )  # fmt: skip
        if isinstance(e, ssl.SSLCertVerificationError):
            authority = f"the authority in {self.cafile}" if self.cafile else "the authorities of this system"
            return Unreachable(
                f"the certificate of {self.endpoint} is not one of {authority} ({e.verify_message}). If this computer does not know "
                f"the daemon's authority yet, or it has a new one: batchaid login {self.endpoint} in a terminal makes it known, or "
                "name its file in cafile=. Otherwise something else answers there", temporary=False,
            )  # fmt: skip
        if isinstance(e, socket.gaierror):
            return Unreachable(f"the host of {self.endpoint} has no address here: {e.strerror}")
        reason = getattr(e, "strerror", None) or str(e) or type(e).__name__
        return Unreachable(f"the daemon at {self.endpoint} does not answer: {reason}")

    def _read(self, connection: _HTTPS, response: http.client.HTTPResponse) -> Reply:
        try:
            reply = Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        except (http.client.HTTPException, OSError) as e:
            connection.close()
            raise self._unreachable(e) from None
        except BaseException:
            connection.close()
            raise
        self._give(connection)
        return reply

    def exchange(self, method: str, path: str, body: Optional[bytes] = None, headers: Optional[Mapping[str, str]] = None) -> Reply:
        """A request without a token; any status is a success."""
        return self._read(*self._begin(method, path, body, headers or {}))

    # --- with a token ---------------------------------------------------------------------------

    def _begin_with_token(
        self, method: str, path: str, body: Optional[bytes], headers: Mapping[str, str]
    ) -> tuple[_HTTPS, http.client.HTTPResponse]:
        """Like _begin(), with a new token if the daemon refuses the first."""
        for last in (False, True):
            token = self.login.token(self)
            connection, response = self._begin(method, path, body, {**headers, "Authorization": f"Bearer {token}"})
            if response.status != 401:
                break
            error = self._read(connection, response).error()
            self.login.forget(token)
            if last or not self.login.renewable:
                raise LoginNeeded(error.status, error.code, f"{error.message} {self.login.again}".strip())
        return connection, response

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of the reply; a BatchaidError if the daemon refuses."""
        data = b"" if body is None and method != "GET" else None if body is None else json.dumps(body).encode()
        headers = {"Accept": "application/json", **({} if data is None else {"Content-Type": "application/json"})}
        reply = self._read(*self._begin_with_token(method, path, data, headers))
        if reply.status >= 400:
            raise reply.error()
        said = reply.json()
        if said is None and reply.content:
            raise BatchaidError(0, "", f"what answers at {self.endpoint} is not batchaid: its answer to {path} is not JSON")
        return said

    # --- bytes ----------------------------------------------------------------------------------

    def pieces(self, path: str, begin: int = 0, end: Optional[int] = None, version: Optional[Version] = None) -> Iterator[bytes]:
        """The bytes of a file from `begin` to before `end`. No byte from there on: no error. Calls with the same `version`
        read the same file: FileChanged if it is another by now."""
        if end is not None and end <= begin:
            return
        headers = {"Range": f"bytes={begin}-{'' if end is None else end - 1}"} if begin or end is not None else {}
        if version is not None and version.etag is not None and headers:
            headers["If-Range"] = version.etag  # another file comes whole
        connection, response = self._begin_with_token("GET", path, None, headers)
        try:
            if response.status in (200, 206) and version is not None:
                version.check(response.getheader("ETag"))
            if response.status == 416:
                response.read()
                return
            if response.status >= 400:
                raise Reply(response.status, {}, response.read()).error()
            while piece := response.read(PIECE):
                yield piece
            if response.length:  # http.client takes a connection that ends early for the end
                raise http.client.IncompleteRead(b"", response.length)
        except (http.client.HTTPException, OSError) as e:
            connection.close()
            raise self._unreachable(e) from None
        finally:
            if response.isclosed() and connection.sock is not None:
                self._give(connection)
            else:
                connection.close()
