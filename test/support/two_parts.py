# SPDX-License-Identifier: MIT
"""A request to a data plane whose body comes later than its head."""

import http.client
from email.utils import formatdate

from .storage import ACCOUNT, VERSION, Answer, sign


class TwoParts:
    """Has sent the head, and the daemon has accepted it."""

    def __init__(self, plane, method, path, length, **headers):
        path = f"/{ACCOUNT}{path}"
        sent = {"x-ms-version": VERSION, "x-ms-date": formatdate(usegmt=True), "Content-Length": str(length)}
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        sent["Authorization"] = sign(method, path, sent)
        self.connection = http.client.HTTPConnection("127.0.0.1", plane.port, timeout=30)
        self.connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in {**sent, "Expect": "100-continue"}.items():
            self.connection.putheader(name, value)
        self.connection.endheaders()
        said = b""
        while b"\r\n\r\n" not in said:
            said += self.connection.sock.recv(1)
        assert said.startswith(b"HTTP/1.1 100"), said

    def send(self, body):
        """The body, and the answer."""
        try:
            self.connection.send(body)
            return Answer(self.connection.getresponse())
        finally:
            self.connection.close()
