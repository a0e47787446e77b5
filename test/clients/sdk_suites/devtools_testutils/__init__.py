# SPDX-License-Identifier: MIT
"""What the tests of Azure's own SDKs ask of the framework that their repository has: here it makes resources in the
subscription of the fixture `batchaid`, and nothing is recorded or played back."""

import datetime
import functools
import inspect
import uuid
from collections import namedtuple

import pytest
from azure.mgmt.resource import ResourceManagementClient
from azure.mgmt.storage import StorageManagementClient
from azure.storage.blob import ContainerClient, generate_container_sas
from msrest.authentication import BasicTokenAuthentication

from .resource_testcase import RESOURCE_GROUP_PARAM

FakeResource = namedtuple("FakeResource", ["name", "id"])
here = {}  # "batchaid": the subscription of the test that runs


class AzureTestError(Exception):
    pass


@pytest.fixture(scope="session")
def test_proxy():
    return None


def recorded_by_proxy(test):
    return test


def nothing_is_recorded(**_):
    """Of what would be hidden in a record."""


add_general_regex_sanitizer = add_header_regex_sanitizer = add_body_key_sanitizer = nothing_is_recorded


class Settings:
    def get(self, name):
        return here["batchaid"].environment[name]

    def get_credentials(self, resource):
        token = here["batchaid"].credential().get_token(resource.rstrip("/") + "//.default").token
        return BasicTokenAuthentication({"access_token": token})


class AzureMgmtRecordedTestCase:
    is_live = True
    settings = Settings()

    def create_mgmt_client(self, kind, base_url=None, **more):
        return here["batchaid"].client(kind, **more)

    def get_settings_value(self, name):
        return here["batchaid"].environment["AZURE_" + name]

    def create_basic_client(self, kind, **arguments):
        return kind(**arguments)

    def get_resource_name(self, prefix):
        return prefix + uuid.uuid4().hex[:12]

    def container_url(self):
        """A new container that may be written to, in the place of the suite's own."""
        group, name = ResourceGroupPreparer(), self.get_resource_name("logs")
        made = group.create_resource(name)
        made.update(StorageAccountPreparer().create_resource(name, **made))
        key, until = made["storage_account_key"], datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
        url = made["storage_account"].primary_endpoints.blob + "container"
        ContainerClient.from_container_url(url, credential=key).create_container()
        return f"{url}?{generate_container_sas(name, 'container', account_key=key, permission='rwl', expiry=until)}"

    def served_here(self, call, *arguments, **named):
        """What the service refused when the suite was written."""
        call(*arguments, **named)


class AzureMgmtPreparer(AzureMgmtRecordedTestCase):
    """A decorator: makes a resource before a test, and removes it after that."""

    def __init__(self, name_prefix, length=24, **_):
        self.prefix, self.length = name_prefix, length

    def __call__(self, test):
        wanted = inspect.signature(test).parameters.values()
        takes_all = any(p.kind == p.VAR_KEYWORD for p in wanted)

        @functools.wraps(test)
        def run(case, **made):
            self.test_class_instance = case
            name = (self.prefix + uuid.uuid4().hex)[: self.length]
            made.update(self.create_resource(name, **made))
            try:
                test(case, **(made if takes_all or hasattr(test, "prepares") else self.trimmed(wanted, made)))
            finally:
                self.remove_resource(name, **made)

        del run.__wrapped__  # its parameters are no fixtures
        run.prepares = True
        return run

    @staticmethod
    def trimmed(wanted, made):
        names = {p.name for p in wanted}
        return {name: value for name, value in made.items() if name in names}


class ResourceGroupPreparer(AzureMgmtPreparer):
    def __init__(self, name_prefix="rg", location="eastus", **_):
        super().__init__(name_prefix)
        self.location = location

    def create_resource(self, name, **_):
        groups = self.create_mgmt_client(ResourceManagementClient).resource_groups
        return {RESOURCE_GROUP_PARAM: groups.create_or_update(name, {"location": self.location}), "location": self.location}

    def remove_resource(self, name, **_):
        self.create_mgmt_client(ResourceManagementClient).resource_groups.begin_delete(name)


CachedResourceGroupPreparer = ResourceGroupPreparer


class StorageAccountPreparer(AzureMgmtPreparer):
    def __init__(self, name_prefix="store", location="eastus", **_):
        super().__init__(name_prefix)
        self.location = location

    def create_resource(self, name, resource_group, **_):
        accounts = self.create_mgmt_client(StorageManagementClient).storage_accounts
        body = {"location": self.location, "kind": "StorageV2", "sku": {"name": "Standard_LRS"}}
        account = accounts.begin_create(resource_group.name, name, body).result()
        key = accounts.list_keys(resource_group.name, name).keys[0].value
        return {"storage_account": account, "storage_account_key": key}

    def remove_resource(self, name, **_):
        pass  # it goes with its group
