# SPDX-License-Identifier: MIT
"""The real Python SDK (azure.mgmt.batchai) pointed at a daemon, with the judge listening."""

import requests
from azure.core.pipeline.transport import RequestsTransport
from azure.identity import ClientSecretCredential
from azure.mgmt.batchai import BatchAI

from .daemon import JUDGE


def credential(daemon):
    env = daemon.env
    return ClientSecretCredential(
        env["AZURE_TENANT_ID"],
        env["AZURE_CLIENT_ID"],
        env["AZURE_CLIENT_SECRET"],
        authority=env["AZURE_AUTHORITY_HOST"],
        connection_verify=daemon.ca,
    )


class Exchange:
    """What the SDK asked and got, one request."""

    def __init__(self, response):
        self.method, self.url = response.request.method, response.request.url
        self.status, self.headers = response.status_code, response.headers
        self.body = response.content


class Listener:
    """Hangs on a requests session; keeps every exchange and passes it to the judge."""

    def __init__(self, session):
        self.exchanges = []
        session.hooks["response"].append(self.hear)

    def hear(self, response, **_):
        seen = Exchange(response)
        self.exchanges.append(seen)
        complaints = JUDGE.hear(seen.method, seen.url, seen.status, seen.headers, seen.body)
        assert not complaints, "against the published spec:\n" + "\n".join(complaints)


def client(daemon):
    """(the SDK's client, its listener)"""
    session = requests.Session()
    session.trust_env = False
    session.verify = daemon.ca
    listener = Listener(session)
    transport = RequestsTransport(session=session, session_owner=False, connection_verify=daemon.ca)
    endpoint = daemon.env["BATCHAID_ENDPOINT"]
    sdk = BatchAI(
        credential(daemon),
        daemon.subscription,
        base_url=endpoint,
        credential_scopes=[endpoint + "/.default"],
        transport=transport,
        retry_total=0,
        # A missing Retry-After then shows as a test that takes half a minute.
        polling_interval=30,
    )
    return sdk, listener
