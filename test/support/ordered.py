# SPDX-License-Identifier: MIT
"""What tests of the order and the defaults of replies have in common."""

SECRET = "hush-hush"
VAULT = {
    "sourceVault": {"id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.KeyVault/vaults/v"},
    "secretUrl": "https://v.vault.azure.net/secrets/key/1",
}


def keys(pairs):
    return [k for k, _ in pairs]


def sub(pairs, *path):
    """Walks an ordered body; an integer picks from an array."""
    for step in path:
        pairs = pairs[step] if isinstance(step, int) else dict(pairs)[step]
    return pairs
