# SPDX-License-Identifier: MIT
"""Blobs that tasks of Azure Batch are given: a container of an account of the daemon, and URLs with signatures."""

from datetime import datetime, timedelta, timezone

from azure.storage.blob import BlobSasPermissions, generate_blob_sas

from .accounts import Accounts


class Container:
    def __init__(self, daemon):
        self.accounts = Accounts(daemon).make()
        self.account = self.accounts.account()
        self.accounts.share(self.account, "inputs", kind="blobs")
        self.key = self.accounts.keys(self.account)[0]
        self.folder = self.accounts.folder(self.account, "inputs", "blobs")

    def remove(self):
        self.accounts.remove()

    def url(self, name, signed=True, **may):
        url = f"https://{self.account}.blob.core.localhost/inputs/{name}"
        until = datetime.now(timezone.utc) + timedelta(hours=1)
        may = BlobSasPermissions(**(may or {"read": True}))
        sas = generate_blob_sas(self.account, "inputs", name, account_key=self.key, permission=may, expiry=until)
        return f"{url}?{sas}" if signed else url
