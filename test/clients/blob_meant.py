# SPDX-License-Identifier: MIT
"""Where batchaid and Azurite differ and shall: patterns of `story/step: difference` by the reason."""

MEANT = {
    "Azurite gives some of its refusals no code; ours have the service's": [
        "*: status: 400 * Azurite 400",
    ],
    "the service's codes are NoAuthenticationInformation, InvalidAuthenticationInfo and AuthenticationFailed": [
        "access/*: status: 40? * Azurite 403 AuthorizationFailure",
    ],
    "Azurite ends in an error of its own": [
        "*: status: * Azurite 500",
    ],
    "the service shows prefix, marker and maxresults if they were given": [
        "*: xml EnumerationResults/Marker only Azurite's: ",
        "*: xml EnumerationResults/MaxResults only Azurite's: 5000",
        "*: xml EnumerationResults/Prefix only Azurite's: ",
    ],
    "markers are opaque": [
        "lists/the next two: xml EnumerationResults/Marker: *",
    ],
    "the service's lists have these elements when they are empty": [
        "*: xml EnumerationResults/Blobs/Blob/Properties/Content-* only ours: ",
        "*: xml EnumerationResults/Blobs/Blob/Properties/Cache-Control only ours: ",
        "*: xml EnumerationResults/Blobs/Blob/Metadata only ours: ",
        "*: xml EnumerationResults/Containers/Container/Metadata only ours: ",
    ],
    "tiers are noted without the time": [
        "*: header x-ms-access-tier-change-time only Azurite's: a time",
        "*: xml EnumerationResults/Blobs/Blob/Properties/AccessTierChangeTime only Azurite's: a time",
    ],
    "the service says of a tier that it is inferred, and of a copy that it is incremental, only if they are": [
        "tiers/*: header x-ms-access-tier-inferred only Azurite's: false",
        "copies/*: header x-ms-incremental-copy only Azurite's: false",
        "copies/*: xml EnumerationResults/Blobs/Blob/Properties/IncrementalCopy only Azurite's: false",
    ],
    "the MD5 of the whole has a header of its own in answers with a range only": [
        "*: header x-ms-blob-content-md5 only Azurite's: *",
    ],
    "the MD5 of a blob is what the client gave or what one request brought; Azurite computes more": [
        "blocks/get*: header content-md5 only Azurite's: *",
        "append blobs/get*: header content-md5 only Azurite's: *",
        "ranges/*: header content-md5 only Azurite's: *",
    ],
    "Azurite answers a block list with the MD5 of the list": [
        "blocks/*: header content-md5 only Azurite's: *",
        "conditions of block lists/*: header content-md5 only Azurite's: *",
    ],
    "the service answers puts with CRC64, and appends with MD5 as well": [
        "*: header x-ms-content-crc64 only ours: *",
        "append blobs/*: header content-md5 only ours: *",
        "blocks/with MD5: header content-md5 only ours: *",
    ],
    "a refusal by MD5 says that they differ, not both": [
        "*: xml Error/*Md5 only Azurite's: *",
    ],
    "the service names what was wrong": [
        "bad leases/*: xml Error/Header* only ours: *",
        "append blobs/nothing: xml Error/HeaderName: Content-Length, Azurite content-length",
    ],
    "the service has a code of its own for a lease that is not there": [
        "*leases/*: status: 409 LeaseNotPresentWithLeaseOperation, Azurite 409 LeaseIdMismatchWithLeaseOperation",
    ],
    "the service wants the duration": [
        "bad leases/without duration: status: 400 MissingRequiredHeader, Azurite 201",
    ],
    "the service's conditions count for containers too": [
        "conditions of containers/*: status: 412 ConditionNotMet, Azurite 200",
    ],
    "If-None-Match: * is a condition that is not met": [
        "conditions of metadata/if-none-match [*]: status: 412 ConditionNotMet, Azurite 200",
        "conditions of DELETE/if-none-match [*]: status: 412 ConditionNotMet, Azurite 202",
    ],
    "that there is nothing is said before any condition": [
        "conditions of nothing/get *: status: 404 BlobNotFound, Azurite 4*",
    ],
    "Azurite sends 304 with the type of a body": [
        "conditions of GET/*: header content-type only Azurite's: application/xml",
    ],
    "Azurite sends the blob with its metadata": [
        "blobs/get metadata: header content-type only Azurite's: *",
        "blobs/get metadata: body: b'', Azurite b'hello'",
    ],
    "the MD5 of a range needs a range": [
        "blobs/MD5 without a range: status: 400 MissingRequiredHeader, Azurite 200",
    ],
    "in the service all writes of blobs are answered as encrypted": [
        "blobs/*: header x-ms-request-server-encrypted only ours: true",
    ],
    "a range beyond the end is answered with what the blob is": [
        "blobs/range of the empty: header * only ours: *",
        "ranges/bytes=100-200: header * only ours: *",
    ],
    "a range may not begin at the end": [
        "ranges/bytes=10-*: status: 416 InvalidRange, Azurite 206",
    ],
    "policies are five at most, and public access is known words": [
        "containers/acl of six: status: 400 InvalidXmlDocument, Azurite 200",
        "containers/public as nobody knows: status: 400 InvalidHeaderValue, Azurite 200",
    ],
    "names that are too short are names that may not be": [
        "containers/short name: status: 400 InvalidResourceName, Azurite 400 OutOfRangeInput",
    ],
    "the service refuses other methods with 405": [
        "blobs/POST: status: 405 UnsupportedHttpVerb, Azurite 400",
    ],
    "accounts here are locally redundant, and say whether they have a namespace": [
        "*: header x-ms-sku-name: Standard_LRS, Azurite Standard_RAGRS",
        "*: header x-ms-is-hns-enabled only ours: false",
    ],
    "caches are told of a rule for all origins, whoever asks": [
        "settings/*: header access-control-allow-origin only ours: [*]",
        "settings/*: header access-control-expose-headers only ours: *",
    ],
    "settings begin as nobody has set them": [
        "*: xml StorageServiceProperties/DefaultServiceVersion only Azurite's: *",
        "*: xml StorageServiceProperties/DeleteRetentionPolicy/Enabled only ours: false",
        "*: xml StorageServiceProperties/Logging/*: false, Azurite true",
    ],
    "a blob with uncommitted blocks alone is listed with what a blob has, and its block list has no ETag": [
        "blocks/list with uncommitted: xml EnumerationResults/Blobs*",
        "blocks/uncommitted: header * only Azurite's: *",
    ],
    "a block list has the kinds that were asked for": [
        "blocks/*: xml BlockList/*committedBlocks only Azurite's: ",
        "blocks/*: xml BlockList/CommittedBlocks only Azurite's: ",
    ],
    "Put Blob throws uncommitted blocks away": [
        "blocks/no blocks: xml BlockList/*",
    ],
    "a block is put without a look at the blob": [
        "blocks/of another length: status: 201, Azurite 400 InvalidBlobOrBlock",
    ],
    "the service has a code for ids of blocks": [
        "blocks/no base64: status: 400 InvalidBlockId, Azurite 400 InvalidQueryParameterValue",
    ],
    "an append blob is made without a body": [
        "append blobs/with a body: status: 400 InvalidHeaderValue, Azurite 400 InvalidOperation",
    ],
    "only a sealed append blob says whether it is": [
        "append blobs/*: header x-ms-blob-sealed only Azurite's: false",
        "lists/*: xml EnumerationResults/Blobs/Blob/Properties/Sealed only Azurite's: false",
    ],
    "a tag with a character that none may have is a bad tag": [
        "tags/bad tags: status: 400 InvalidTags, Azurite 400 DuplicateTagNames",
    ],
    "a tier that nobody knows is a wrong value": [
        "tiers/unknown: status: 400 InvalidHeaderValue, Azurite 400 AccessTierNotSupportedForBlobType",
    ],
    "the service says that the source of a copy cannot be verified, and has codes for its conditions": [
        "copies/*: status: 404 CannotVerifyCopySource, Azurite 404 *NotFound",
        "copies/source if *: status: 412 SourceConditionNotMet, Azurite *",
    ],
    "the service says which bytes a copy at once has": [
        "copies/synchronous: header x-ms-content-crc64 only ours: *",
    ],
    "copies are done at once, so none is pending": [
        "copies/abort: status: 409 NoPendingCopyOperation, Azurite 409 CopyIdMismatch",
    ],
    "no page of a browser executes the bytes of a user, which may be served beside the daemon's own page": [
        "*: header content-security-policy only ours: sandbox; *",
        "*: header x-content-type-options only ours: nosniff",
    ],
    "page blobs are refused": [
        "page blobs/make: status: 400 UnsupportedHeader, Azurite 201",
    ],
}
