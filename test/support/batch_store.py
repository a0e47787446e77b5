# SPDX-License-Identifier: MIT
"""A container of blobs that tasks and nodes of a Batch account write to."""

from datetime import datetime, timedelta, timezone
from urllib.parse import quote

from azure.storage.blob import ContainerSasPermissions, generate_container_sas

from .accounts import Accounts
from .batch import Plane
from .batch_rm import BatchAccounts


class Store:
    """Containers of the auto-storage account of a Batch account."""

    containers = ("out",)
    usual = {"write": True, "create": True}  # what its URLs let do

    def __init__(self, daemon):
        self.daemon = daemon
        self.batch = BatchAccounts(daemon).make()
        self.accounts = Accounts(daemon, self.batch.group)
        self.account, self.other = self.accounts.account(), self.accounts.account()
        self.name = self.batch.account(autoStorage={"storageAccountId": f"{self.accounts.path}/{self.account}"})
        for account in (self.account, self.other):
            for container in self.containers:
                self.accounts.share(account, container, kind="blobs")
        self.folder = self.accounts.folder(self.account, self.containers[0], "blobs")
        self.plane = Plane(daemon, self.name, self.batch.keys(self.name)[0])

    def remove(self):
        self.batch.remove()

    def url(self, container=None, account=None, signed=True, hours=1, **may):
        account, container = account or self.account, container or self.containers[0]
        until = datetime.now(timezone.utc) + timedelta(hours=hours)
        may = ContainerSasPermissions(**(may or self.usual))
        key = self.accounts.keys(account)[0]
        sas = generate_container_sas(account, container, account_key=key, permission=may, expiry=until)
        return f"https://{account}.blob.core.localhost/{container}" + (f"?{sas}" if signed else "")

    def blob_url(self, name):
        container, _, query = self.url(read=True).partition("?")
        return f"{container}/{name}?{query}"

    def blobs(self, prefix):
        top = self.folder / prefix
        return {str(p.relative_to(top)): p.read_text() for p in top.rglob("*") if p.is_file()}


class InputStore(Store):
    """Its containers have what tasks read."""

    containers = ("inputs", "odd")
    usual = {"read": True, "list": True}

    def put(self, name, data=b"x\n"):
        """A blob of any name, in a container of its own."""
        query = self.url("odd", write=True, create=True).partition("?")[2]
        head = {"Host": f"{self.account}.blob.core.localhost:{self.daemon.port}", "x-ms-blob-type": "BlockBlob"}
        self.daemon.call("PUT", f"/odd/{quote(name, safe='')}?{query}", data=data, headers=head, token=None,
                         api_version=None, validate=False, expect=201)  # fmt: skip

    def write(self, **files):
        for name, text in files.items():
            path = self.folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
