# SPDX-License-Identifier: MIT
"""The life of secrets through azure-keyvault-secrets, unmodified: vault_secrets.py VAULT-URL"""

import sys
from datetime import datetime, timezone

from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.keyvault.secrets import SecretClient, __version__
from signing_in import credential

client = SecretClient(sys.argv[1], credential())
EXPIRES = datetime(2030, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


def refused(kind, call, *arguments):
    try:
        call(*arguments)
    except kind as e:
        return e
    raise AssertionError(f"{call} {arguments} was not refused")


def set_and_get():
    made = client.set_secret("first", "one", tags={"a": "b"}, content_type="text/plain", expires_on=EXPIRES)
    assert (made.value, made.properties.tags, made.properties.expires_on) == ("one", {"a": "b"}, EXPIRES)
    client.set_secret("first", "two")
    assert client.get_secret("first").value == "two"
    assert client.get_secret("first", made.properties.version).value == "one"
    newest, oldest = client.list_properties_of_secret_versions("first")
    assert oldest.version == made.properties.version != newest.version
    changed = client.update_secret_properties("first", made.properties.version, enabled=False)
    assert changed.enabled is False and changed.expires_on == EXPIRES
    refused(HttpResponseError, client.get_secret, "first", made.properties.version)
    refused(ResourceNotFoundError, client.get_secret, "second")


def delete_and_recover():
    client.begin_delete_secret("first").wait()
    deleted = client.get_deleted_secret("first")
    assert (deleted.scheduled_purge_date - deleted.deleted_date).days == 90
    refused(ResourceExistsError, client.set_secret, "first", "three")
    assert [s.name for s in client.list_deleted_secrets()] == ["first"]
    assert client.begin_recover_deleted_secret("first").result().name == "first"
    assert client.get_secret("first").value == "two"


def back_up_and_restore():
    backup = client.backup_secret("first")
    client.begin_delete_secret("first").wait()
    client.purge_deleted_secret("first")
    refused(ResourceNotFoundError, client.get_deleted_secret, "first")
    client.restore_secret_backup(backup)
    assert client.get_secret("first").value == "two"


def lists():
    names = [f"s{i}" for i in range(30)]
    for name in names:
        client.set_secret(name, "x")
    assert sorted(s.name for s in client.list_properties_of_secrets()) == sorted([*names, "first"])


set_and_get()
delete_and_recover()
back_up_and_restore()
lists()
print(f"ok azure-keyvault-secrets-{__version__} {client._client._config.api_version}")
