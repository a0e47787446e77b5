# SPDX-License-Identifier: MIT
"""Certificates of tests' own, as clients give them to Azure Batch."""

import base64
import hashlib
import ssl
import subprocess

from .world import fresh


class Made:
    """A certificate of our own, as files that clients send."""

    def __init__(self, folder, password="pw", rounds=2048):
        name, key, cer, pfx = fresh("cert"), folder / "key", folder / "cer", folder / "pfx"
        run = lambda *args: subprocess.run(["openssl", *map(str, args)], check=True, capture_output=True)  # noqa: E731
        run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cer, "-subj", f"/CN={name}", "-days", 9)
        run("pkcs12", "-export", "-inkey", key, "-in", cer, "-out", pfx, "-passout", f"pass:{password}", "-iter", rounds)
        self.pem = cer.read_bytes()
        self.der = ssl.PEM_cert_to_DER_cert(self.pem.decode())
        self.pfx = base64.b64encode(pfx.read_bytes()).decode()
        self.thumbprint = hashlib.sha1(self.der).hexdigest()
        self.path = f"/certificates(thumbprintAlgorithm=sha1,thumbprint={self.thumbprint})"

    def body(self, **more):
        body = {"thumbprint": self.thumbprint, "thumbprintAlgorithm": "sha1", "data": self.pfx, "password": "pw", **more}
        return {k: v for k, v in body.items() if v is not None}

    def cer(self, **more):
        return self.body(**{"data": base64.b64encode(self.der).decode(), "password": None, "certificateFormat": "cer", **more})
