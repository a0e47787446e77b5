# SPDX-License-Identifier: MIT
"""Signatures that somebody makes who has logged in."""

from datetime import datetime, timedelta, timezone
from xml.etree import ElementTree

from azure.storage.blob import ContainerSasPermissions, UserDelegationKey, generate_container_sas

from .people import Person

PARTS = {"signed_oid": "SignedOid", "signed_tid": "SignedTid", "signed_start": "SignedStart", "signed_expiry": "SignedExpiry",
         "signed_service": "SignedService", "signed_version": "SignedVersion", "value": "Value"}  # fmt: skip


def key_of(who, account, start, end):
    login, daemon = (who.login, who.daemon) if isinstance(who, Person) else (who.token_reply, who)
    token = login(scope="https://storage.azure.com/.default").json["access_token"]
    head = {"Host": f"{account}.blob.core.localhost", "x-ms-version": "2021-12-02", "Authorization": f"Bearer {token}"}
    body = f"<KeyInfo><Start>{start:%FT%TZ}</Start><Expiry>{end:%FT%TZ}</Expiry></KeyInfo>".encode()
    reply = daemon.call("POST", "/?restype=service&comp=userdelegationkey", data=body, headers=head, token="",
                        api_version=None, validate=False, expect=200)  # fmt: skip
    said = {child.tag: child.text for child in ElementTree.fromstring(reply.content.decode("utf-8-sig"))}
    key = UserDelegationKey()
    for name, part in PARTS.items():
        setattr(key, name, said[part])
    return key


def delegated(who, account, container, **may):
    """The query of a container's URL; `who`: a person, or a daemon, whose first principal it is then."""
    now = datetime.now(timezone.utc)
    start, end = now - timedelta(minutes=1), now + timedelta(hours=1)
    may = ContainerSasPermissions(**(may or {"read": True, "list": True}))
    key = key_of(who, account, start, end)
    return generate_container_sas(account, container, user_delegation_key=key, permission=may, expiry=end)
