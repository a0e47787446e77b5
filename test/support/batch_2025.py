# SPDX-License-Identifier: MIT
"""The version 2025-06-01 of Azure Batch, of which there is no published document beside the tree: how its operations and
properties differ from those of 2024-07-01. Both planes are as azure-batch 15.1.0 and azure-mgmt-batch 19.0.0 have them,
but for authenticationTokenSettings: the version has the property, the newest client for Python alone does not."""

NAME = "2025-06-01"
LAST = {"data": "2024-07-01.20.0", "arm": "2024-07-01"}

# A definition, a property; one of them alone: all of it.
GONE = {
    "data": {
        (None, "certificateReferences"), (None, "resourceTags"), (None, "targetNodeCommunicationMode"),
        (None, "currentNodeCommunicationMode"), ("DataDisk", "storageAccountType"),
        ("VMDiskSecurityProfile", "securityEncryptionType"), ("SecurityProfile", "securityType"),
    },
    "arm": {
        ("PoolProperties", "certificates"), (None, "resourceTags"), (None, "targetNodeCommunicationMode"),
        (None, "currentNodeCommunicationMode"), ("PoolProperties", "applicationLicenses"),
        ("DataDisk", "storageAccountType"), ("VMDiskSecurityProfile", "securityEncryptionType"),
    },
}  # fmt: skip

ENCRYPTIONS = "NonPersistedTPM|VMGuestStateOnly|DiskWithVMGuestState"
# A definition, a property, its type, its words. customerManagedKey is not here, as pools never have one, nor is
# inVMAccessControlProfileReferenceId, which excludes the mode beside it.
BOTH = [
    ("DataDisk", "managedDisk", "ManagedDisk", ""),
    ("ManagedDisk", "diskEncryptionSet", "DiskEncryptionSetParameters", ""),
    ("DiskEncryptionSetParameters", "id", "string", ""),
    ("VMDiskSecurityProfile", "securityEncryptionType", "string", ENCRYPTIONS),
    ("SecurityProfile", "proxyAgentSettings", "ProxyAgentSettings", ""),
    ("ProxyAgentSettings", "enabled", "boolean", ""),
    ("ProxyAgentSettings", "imds", "HostEndpointSettings", ""),
    ("ProxyAgentSettings", "wireServer", "HostEndpointSettings", ""),
    ("HostEndpointSettings", "mode", "string", "Audit|Enforce"),
    ("PublicIPAddressConfiguration", "ipFamilies", "[string]", ""),
    ("PublicIPAddressConfiguration", "ipTags", "[IPTag]", ""),
    ("IPTag", "ipTagType", "string", ""),
    ("IPTag", "tag", "string", ""),
]
NEW = {
    "data": [
        *BOTH,
        ("TaskSchedulingPolicy", "jobDefaultOrder", "string", "none|creationtime"),
        ("SecurityProfile", "securityType", "string", "trustedLaunch|confidentialvm"),
        ("ComputeNode", "ipv6Address", "string", ""),
        ("ComputeNodeGetRemoteLoginSettingsResult", "ipv6RemoteLoginIPAddress", "string", ""),
        ("ComputeNodeGetRemoteLoginSettingsResult", "ipv6RemoteLoginPort", "integer", ""),
    ],
    "arm": [
        *BOTH,
        ("TaskSchedulingPolicy", "jobDefaultOrder", "string", "None|CreationTime"),
        ("VMDiskSecurityProfile", "diskEncryptionSet", "DiskEncryptionSetParameters", ""),
    ],
}


def is_gone(plane, what, row):
    if what == "operations":
        return row[0].startswith("Certificate_")
    return bool(GONE[plane] & {(row[0], row[1]), (None, row[1])}) or row[0].startswith("Certificate")


def added(name, rows):
    """The rows of a table of all versions (`properties-data.tsv`), which ends with 2024-07-01, and those of this one."""
    what, plane = name.removesuffix(".tsv").split("-")
    n = 7 if what == "properties" else 10
    rows = [row + [""] * (n - len(row)) for row in rows]
    ended = [[*row[: n - 1], row[n - 1] or (LAST[plane] if is_gone(plane, what, row) else "")] for row in rows]
    new = [[definition, of, kind, "", words, NAME, ""] for definition, of, kind, words in NEW[plane]]
    return ended + (new if what == "properties" else [])
