# SPDX-License-Identifier: MIT
"""Key Vaults as tests speak of them: a group of their own, and requests that are judged by the published
documents."""

from urllib.parse import urlsplit

from . import cloud_spec
from .provider import Provided
from .world import fresh

RM_VERSION = "2022-07-01"
RM = cloud_spec.load("keyvault-rm/2022-07-01", "keyvault.json", "common.json", error="CloudError")
DATA_VERSION = "7.4"
DATA = cloud_spec.load("keyvault-data/7.4", "secrets.json", "common.json", error="KeyVaultError")
ALL = {"keys": ["all"], "secrets": ["all"], "certificates": ["all"]}


def policy(object_id, **permissions):
    return {"tenantId": "adfs", "objectId": object_id, "permissions": permissions}


def vault_body(*policies, tags=None, **properties):
    body = {
        "location": "eastus",
        "properties": {
            "tenantId": "adfs",
            "sku": {"family": "A", "name": "standard"},
            "accessPolicies": list(policies),
            **properties,
        },
    }
    return body if tags is None else {**body, "tags": tags}


class Vaults(Provided):
    """A resource group, and the vaults in it."""

    provider, collection, version, judge, made = "Microsoft.KeyVault", "/vaults", RM_VERSION, RM, 200
    body = staticmethod(vault_body)

    def vault(self, *policies, name=None, **properties):
        """A new vault's name."""
        name = name or fresh("vault")
        self.put(name, vault_body(*policies, **properties))
        return name

    def deleted(self, name, tail="", method="GET", expect=200, location="eastus"):
        path = f"{self.above}/locations/{location}/deletedVaults/{name}{tail}"
        return self.call(method, path, expect=expect)


class Safe:
    """The secrets of a vault, at its own host. The host is said in the request's head, so that no name need
    be known to this machine."""

    def __init__(self, daemon, name, token=None):
        self.daemon, self.name = daemon, name
        self.site = f"localhost:{urlsplit(daemon.endpoint).port}"
        self.host = f"{name}.vault.{self.site}"
        self.url = f"https://{self.host}"
        self._token = token

    def token(self):
        if self._token is None:
            reply = self.daemon.token_reply(scope=f"https://vault.{self.site}/.default")
            assert reply.status == 200, reply
            self._token = reply.json["access_token"]
        return self._token

    def call(self, method, path, body=None, token=True, api_version=DATA_VERSION, headers=None, judged=True, **more):
        reply = self.daemon.call(
            method,
            path.replace(self.url, ""),
            body,
            api_version=api_version,
            token=self.token() if token is True else token,
            headers={"Host": self.host, **(headers or {})},
            validate=False,
            **more,
        )
        return DATA.judge(reply) if judged else reply

    def set(self, name, value, expect=200, **more):
        return self.call("PUT", f"/secrets/{name}", {"value": value, **more}, expect=expect).json

    def get(self, name, version="", expect=200):
        # The document has the path with the version alone.
        path = f"/secrets/{name}/{version}" if version else f"/secrets/{name}"
        return self.call("GET", path, expect=expect, judged=bool(version)).json

    def delete(self, name, expect=200):
        return self.call("DELETE", f"/secrets/{name}", expect=expect).json

    def names(self, path="/secrets", **params):
        """The ids of a list, page by page."""
        found, reply = [], self.call("GET", path, params=params, expect=200)
        while True:
            assert len(reply.json["value"]) <= params.get("maxresults", 25)
            found += [x["id"].replace(f"{self.url}/secrets/", "") for x in reply.json["value"]]
            link = reply.json.get("nextLink")
            if not link:
                return found
            assert link.startswith(self.url)
            reply = self.call("GET", link, api_version=None, expect=200)
