/* SPDX-License-Identifier: MIT
 *
 * The errors of this service: XML and x-ms-error-code, as clients of the storage data plane expect.
 */
#ifndef API_PLANE_STORAGE_ERRORS_H
#define API_PLANE_STORAGE_ERRORS_H

#include "api/http/error.h"

#define AZSTORAGE_OWN(X)                                                                           \
    X(AZSTORAGE_LINK_EXPIRED, 403, "AuthenticationFailed", 0)                                      \
    X(AZSTORAGE_RANGE, 416, "InvalidRange", 0)                                                     \
    X(AZSTORAGE_AUTHENTICATION, 403, "AuthenticationFailed", 0)                                    \
    X(AZSTORAGE_AUTHORIZATION, 403, "AuthorizationFailure", 0)                                     \
    X(AZSTORAGE_SOURCE_ADDRESS, 403, "AuthorizationSourceIPMismatch", 0)                           \
    X(AZSTORAGE_PROTOCOL, 403, "AuthorizationProtocolMismatch", 0)                                 \
    X(AZSTORAGE_SERVICE, 403, "AuthorizationServiceMismatch", 0)                                   \
    X(AZSTORAGE_RESOURCE_TYPE, 403, "AuthorizationResourceTypeMismatch", 0)                        \
    X(AZSTORAGE_KEYS_OFF, 403, "KeyBasedAuthenticationNotPermitted", 0)                            \
    X(AZSTORAGE_PERMISSION, 403, "AuthorizationPermissionMismatch", 0)                             \
    X(AZSTORAGE_OVERWRITE, 403, "UnauthorizedBlobOverwrite", 0)                                    \
    X(AZSTORAGE_AUTHENTICATION_INFO, 400, "InvalidAuthenticationInfo", 0)                          \
    X(AZSTORAGE_READ_ONLY, 403, "InsufficientAccountPermissions", 0)                               \
    X(AZSTORAGE_NO_ACCOUNT, 404, "ResourceNotFound", 0)                                            \
    X(AZSTORAGE_HEADER, 400, "InvalidHeaderValue", 0)                                              \
    X(AZSTORAGE_HEADER_MISSING, 400, "MissingRequiredHeader", 0)                                   \
    X(AZSTORAGE_HEADER_UNSUPPORTED, 400, "UnsupportedHeader", 0)                                   \
    X(AZSTORAGE_QUERY_UNSUPPORTED, 400, "UnsupportedQueryParameter", 0)                            \
    X(AZSTORAGE_INPUT, 400, "InvalidInput", 0)                                                     \
    X(AZSTORAGE_INPUT_RANGE, 400, "OutOfRangeInput", 0)                                            \
    X(AZSTORAGE_QUERY_RANGE, 400, "OutOfRangeQueryParameterValue", 0)                              \
    X(AZSTORAGE_QUERY_MISSING, 400, "MissingRequiredQueryParameter", 0)                            \
    X(AZSTORAGE_NODE_MISSING, 400, "MissingRequiredXmlNode", 0)                                    \
    X(AZSTORAGE_NODE_VALUE, 400, "InvalidXmlNodeValue", 0)                                         \
    X(AZSTORAGE_NODE_UNSUPPORTED, 400, "UnsupportedXmlNode", 0)                                    \
    X(AZSTORAGE_METADATA, 400, "InvalidMetadata", 0)                                               \
    X(AZSTORAGE_METADATA_EMPTY, 400, "EmptyMetadataKey", 0)                                        \
    X(AZSTORAGE_METADATA_SIZE, 400, "MetadataTooLarge", 0)                                         \
    X(AZSTORAGE_MD5, 400, "InvalidMd5", 0)                                                         \
    X(AZSTORAGE_MD5_MISMATCH, 400, "Md5Mismatch", 0)                                               \
    X(AZSTORAGE_CRC64_MISMATCH, 400, "Crc64Mismatch", 0)                                           \
    X(AZSTORAGE_NO_LENGTH, 411, "MissingContentLengthHeader", 0)                                   \
    X(AZSTORAGE_NOT_MODIFIED, 304, "ConditionNotMet", 0)                                           \
    X(AZSTORAGE_CONDITION, 412, "ConditionNotMet", 0)                                              \
    X(AZSTORAGE_UNSATISFIABLE, 400, "UnsatisfiableCondition", 0)                                   \
    X(AZSTORAGE_TOO_MANY_CONDITIONS, 400, "MultipleConditionHeadersNotSupported", 0)               \
    X(AZSTORAGE_SOURCE_CONDITION, 412, "SourceConditionNotMet", 0)                                 \
    X(AZSTORAGE_COPY_SOURCE, 404, "CannotVerifyCopySource", 0)                                     \
    X(AZSTORAGE_COPY_SOURCE_UNSIGNED, 401, "CannotVerifyCopySource", 0)                            \
    X(AZSTORAGE_COPY_SOURCE_CLOSED, 403, "CannotVerifyCopySource", 0)                              \
    X(AZSTORAGE_NO_COPY, 409, "NoPendingCopyOperation", 0)                                         \
    X(AZSTORAGE_LEASE_MISSING, 412, "LeaseIdMissing", 0)                                           \
    X(AZSTORAGE_LEASE_LOST, 412, "LeaseLost", 0)                                                   \
    X(AZSTORAGE_LEASE_INFINITE, 412, "InfiniteLeaseDurationRequired", 0)                           \
    X(AZSTORAGE_LEASE_PRESENT, 409, "LeaseAlreadyPresent", 0)                                      \
    X(AZSTORAGE_LEASE_ID, 409, "LeaseIdMismatchWithLeaseOperation", 0)                             \
    X(AZSTORAGE_LEASE_NONE, 409, "LeaseNotPresentWithLeaseOperation", 0)                           \
    X(AZSTORAGE_LEASE_BREAKING, 409, "LeaseIsBreakingAndCannotBeAcquired", 0)                      \
    X(AZSTORAGE_LEASE_BREAKING_CHANGE, 409, "LeaseIsBreakingAndCannotBeChanged", 0)                \
    X(AZSTORAGE_LEASE_BROKEN, 409, "LeaseIsBrokenAndCannotBeRenewed", 0)                           \
    X(AZSTORAGE_LEASE_FILE, 412, "LeaseIdMismatchWithFileOperation", 0)                            \
    X(AZSTORAGE_LEASE_SHARE, 412, "LeaseIdMismatchWithShareOperation", 0)                          \
    X(AZSTORAGE_LEASE_BLOB, 412, "LeaseIdMismatchWithBlobOperation", 0)                            \
    X(AZSTORAGE_LEASE_CONTAINER, 412, "LeaseIdMismatchWithContainerOperation", 0)                  \
    X(AZSTORAGE_LEASE_NOT_FILE, 412, "LeaseNotPresentWithFileOperation", 0)                        \
    X(AZSTORAGE_LEASE_NOT_SHARE, 412, "LeaseNotPresentWithShareOperation", 0)                      \
    X(AZSTORAGE_LEASE_NOT_BLOB, 412, "LeaseNotPresentWithBlobOperation", 0)                        \
    X(AZSTORAGE_LEASE_NOT_CONTAINER, 412, "LeaseNotPresentWithContainerOperation", 0)              \
    X(AZSTORAGE_NOT_FOUND, 404, "ResourceNotFound", 0)                                             \
    X(AZSTORAGE_EXISTS, 409, "ResourceAlreadyExists", 0)                                           \
    X(AZSTORAGE_TYPE_MISMATCH, 409, "ResourceTypeMismatch", 0)                                     \
    X(AZSTORAGE_PARENT, 404, "ParentNotFound", 0)                                                  \
    X(AZSTORAGE_FULL, 409, "ShareSizeLimitReached", 0)                                             \
    X(AZSTORAGE_SHARE_NOT_FOUND, 404, "ShareNotFound", 0)                                          \
    X(AZSTORAGE_SHARE_EXISTS, 409, "ShareAlreadyExists", 0)                                        \
    X(AZSTORAGE_SHARE_GOING, 409, "ShareBeingDeleted", 0)                                          \
    X(AZSTORAGE_SHARE_DISABLED, 403, "ShareDisabled", 0)                                           \
    X(AZSTORAGE_SNAPSHOTS, 400, "ShareSnapshotOperationNotSupported", 0)                           \
    X(AZSTORAGE_DIRECTORY_NOT_EMPTY, 409, "DirectoryNotEmpty", 0)                                  \
    X(AZSTORAGE_CANNOT_DELETE, 409, "CannotDeleteFileOrDirectory", 0)                              \
    X(AZSTORAGE_READ_ONLY_FILE, 409, "ReadOnlyAttribute", 0)                                       \
    X(AZSTORAGE_PATH, 400, "InvalidFileOrDirectoryPathName", 0)                                    \
    X(AZSTORAGE_CONTAINER_NOT_FOUND, 404, "ContainerNotFound", 0)                                  \
    X(AZSTORAGE_CONTAINER_EXISTS, 409, "ContainerAlreadyExists", 0)                                \
    X(AZSTORAGE_CONTAINER_GOING, 409, "ContainerBeingDeleted", 0)                                  \
    X(AZSTORAGE_BLOB_NOT_FOUND, 404, "BlobNotFound", 0)                                            \
    X(AZSTORAGE_BLOB_EXISTS, 409, "BlobAlreadyExists", 0)                                          \
    X(AZSTORAGE_BLOB_TYPE, 409, "InvalidBlobType", 0)                                              \
    X(AZSTORAGE_BLOB_SNAPSHOTS, 409, "SnapshotsPresent", 0)                                        \
    X(AZSTORAGE_BLOCK_ID, 400, "InvalidBlockId", 0)                                                \
    X(AZSTORAGE_BLOCK_LENGTH, 400, "InvalidBlobOrBlock", 0)                                        \
    X(AZSTORAGE_BLOCK_LIST, 400, "InvalidBlockList", 0)                                            \
    X(AZSTORAGE_BLOCK_COUNT, 409, "BlockCountExceedsLimit", 0)                                     \
    X(AZSTORAGE_APPEND_POSITION, 412, "AppendPositionConditionNotMet", 0)                          \
    X(AZSTORAGE_APPEND_SIZE, 412, "MaxBlobSizeConditionNotMet", 0)                                 \
    X(AZSTORAGE_SEALED, 409, "BlobIsSealed", 0)                                                    \
    X(AZSTORAGE_ARCHIVED, 409, "BlobArchived", 0)                                                  \
    X(AZSTORAGE_REHYDRATED, 409, "BlobBeingRehydrated", 0)                                         \
    X(AZSTORAGE_CORS, 403, "CorsPreflightFailure", 0)                                              \
    X(AZSTORAGE_BATCH_COUNT, 400, "ExceedsMaxBatchRequestCount", 0)                                \
    X(AZSTORAGE_BATCH_MIXED, 400, "AllBatchSubRequestsShouldBeSameApi", 0)                         \
    X(AZSTORAGE_TAGS, 400, "InvalidTags", 0)                                                       \
    X(AZSTORAGE_TAGS_SIZE, 400, "TagsTooLarge", 0)                                                 \
    X(AZSTORAGE_NOT_PUBLIC, 409, "PublicAccessNotPermitted", 0)
enum { ERROR_OWN_KINDS(AZSTORAGE_KINDS, AZSTORAGE_OWN) };

struct error_words azstorage_words(int kind);
struct replied *azstorage_error(struct request *r, struct error_words words, const struct err *e);

#endif
