# SPDX-License-Identifier: MIT
"""A container of blobs that tasks and nodes of a Batch account write to."""

from datetime import datetime, timedelta, timezone

from azure.storage.blob import ContainerSasPermissions, generate_container_sas

from .accounts import Accounts
from .batch import Plane
from .batch_rm import BatchAccounts


class Store:
    """A container of the auto-storage account of a Batch account."""

    def __init__(self, daemon):
        self.batch = BatchAccounts(daemon).make()
        self.accounts = Accounts(daemon, self.batch.group)
        self.account, self.other = self.accounts.account(), self.accounts.account()
        self.name = self.batch.account(autoStorage={"storageAccountId": f"{self.accounts.path}/{self.account}"})
        for account in (self.account, self.other):
            self.accounts.share(account, "out", kind="blobs")
        self.folder = self.accounts.folder(self.account, "out", "blobs")
        self.plane = Plane(daemon, self.name, self.batch.keys(self.name)[0])

    def url(self, container="out", account=None, signed=True, hours=1, **may):
        account = account or self.account
        until = datetime.now(timezone.utc) + timedelta(hours=hours)
        may = ContainerSasPermissions(**(may or {"write": True, "create": True}))
        key = self.accounts.keys(account)[0]
        sas = generate_container_sas(account, container, account_key=key, permission=may, expiry=until)
        return f"https://{account}.blob.core.localhost/{container}" + (f"?{sas}" if signed else "")

    def blob_url(self, name):
        container, _, query = self.url(read=True).partition("?")
        return f"{container}/{name}?{query}"

    def blobs(self, prefix):
        top = self.folder / prefix
        return {str(p.relative_to(top)): p.read_text() for p in top.rglob("*") if p.is_file()}
