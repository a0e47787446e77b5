# SPDX-License-Identifier: MIT
"""People with logins of their own, beside the daemon's own service principal."""

import uuid

from .world import fresh

OWNER, READER = "Owner", "Reader"
CONTRIBUTOR, SUBMITTER = "Contributor", "Batch AI Job Submitter"


class Person:
    """A user. `role` None: the usual one; "none": no role at all."""

    def __init__(self, daemon, role=None, scope=None, name=None):
        self.daemon = daemon
        body = {"name": name or fresh("ada") + "@lab", "role": role, "scope": scope}
        body = {key: value for key, value in body.items() if value is not None}
        self.made = daemon.call("POST", "/batchaid/users", body, expect=201).json
        self.name, self.id, self.password = (self.made[k] for k in ("name", "objectId", "password"))
        self._token = None

    def login(self, **form):
        more = {"username": self.name, "password": self.password, "client_id": "a-client"}
        return self.daemon.token_reply(**{**more, "grant_type": "password", "client_secret": None, **form})

    def token(self):
        if self._token is None:
            reply = self.login()
            assert reply.status == 200, reply
            self._token = reply.json["access_token"]
        return self._token

    def call(self, method, path, body=None, **more):
        return self.daemon.call(method, path, body, token=self.token(), **more)

    def get(self, path, **more):
        return self.call("GET", path, expect=200, **more).json

    def may_not(self, method, path, body=None, **more):
        """The refusal, which has Azure's words."""
        reply = self.call(method, path, body, **more)
        assert (reply.status, reply.error["code"]) == (403, "AuthorizationFailed"), reply
        message = reply.error["message"]
        assert f"The client '{self.name}' with object id '{self.id}' does not have" in message
        return message

    def may_not_link(self, method, path, body, **more):
        """The refusal of something that the body names, in Azure's words."""
        reply = self.call(method, path, body, **more)
        assert (reply.status, reply.error["code"]) == (403, "LinkedAuthorizationFailed"), reply
        message = reply.error["message"]
        assert f"The client '{self.name}' with object id '{self.id}' has permission to perform action" in message
        return message

    def give(self, role, scope=None):
        """One more role."""
        scope = (scope or f"/subscriptions/{self.daemon.subscription}") + "/providers/Microsoft.Authorization"
        more = {"api_version": "2022-04-01", "validate": False}
        roles = self.daemon.call("GET", scope + "/roleDefinitions", expect=200, **more).json["value"]
        id = next(one["id"] for one in roles if one["properties"]["roleName"] == role)
        body = {"properties": {"roleDefinitionId": id, "principalId": self.id}}
        self.daemon.call("PUT", f"{scope}/roleAssignments/{uuid.uuid4()}", body, expect=201, **more)

    def take_all(self):
        """Takes all roles in the subscription away."""
        scope = f"/subscriptions/{self.daemon.subscription}/providers/Microsoft.Authorization"
        more = {"api_version": "2022-04-01", "validate": False}
        own = self.daemon.call("GET", f"{scope}/roleAssignments?$filter=principalId eq '{self.id}'", expect=200, **more).json["value"]
        for one in own:
            self.daemon.call("DELETE", one["id"], expect=200, **more)

    def remove(self):
        """Also of somebody who is gone already."""
        self.daemon.call("DELETE", f"/batchaid/users/{self.name}", expect=(204, 404))
