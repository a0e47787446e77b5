# SPDX-License-Identifier: MIT
"""How the programs of this folder sign in: with azure.identity, or with a token where a client is older than that."""

import os

endpoint = os.environ["BATCHAID_ENDPOINT"]
subscription = os.environ["AZURE_SUBSCRIPTION_ID"]


def credential():
    from azure.identity import ClientSecretCredential

    return ClientSecretCredential(
        tenant_id=os.environ["AZURE_TENANT_ID"],
        client_id=os.environ["AZURE_CLIENT_ID"],
        client_secret=os.environ["AZURE_CLIENT_SECRET"],
        authority=os.environ["AZURE_AUTHORITY_HOST"],
    )


def management(client):
    """A client of this class, signed in with azure.identity."""
    return client(credential(), subscription, base_url=endpoint, credential_scopes=[endpoint + "/.default"])


def old_management(client):
    """A client of this class, signed in with a token."""
    import requests
    from msrest.authentication import BasicTokenAuthentication

    token = requests.post(endpoint + "/adfs/oauth2/token", timeout=30, data={
        "grant_type": "client_credentials",
        "client_id": os.environ["AZURE_CLIENT_ID"],
        "client_secret": os.environ["AZURE_CLIENT_SECRET"],
    }).json()  # fmt: skip
    return client(BasicTokenAuthentication(token), subscription, base_url=endpoint)
