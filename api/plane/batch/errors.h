/* SPDX-License-Identifier: MIT
 *
 * The errors of Azure Batch's data plane and their replies:
 * https://learn.microsoft.com/rest/api/batchservice/batch-status-and-error-codes
 *
 * The message of a reply is the fixed sentence of the code, if errors.c has one; then err.msg
 * becomes the value "Reason". err.target becomes the value PropertyName, QueryParameterName or
 * HeaderName, depending on the code.
 */
#ifndef API_PLANE_BATCH_ERRORS_H
#define API_PLANE_BATCH_ERRORS_H

#include <jansson.h>

#include "api/http/error.h"

#define BATCH_OWN(X)                                                                               \
    X(BATCH_INVALID_PROPERTY_VALUE, 400, "InvalidPropertyValue", 0)                                \
    X(BATCH_INVALID_QUERY_PARAMETER_VALUE, 400, "InvalidQueryParameterValue", 0)                   \
    X(BATCH_MISSING_REQUIRED_PROPERTY, 400, "MissingRequiredProperty", 0)                          \
    X(BATCH_MISSING_REQUIRED_HEADER, 400, "MissingRequiredHeader", 0)                              \
    X(BATCH_MISSING_REQUIRED_QUERY_PARAMETER, 400, "MissingRequiredQueryParameter", 0)             \
    X(BATCH_UNSUPPORTED_PROPERTY, 400, "UnsupportedProperty", 0)                                   \
    X(BATCH_UNSUPPORTED_HEADER, 400, "UnsupportedHeader", 0)                                       \
    X(BATCH_UNSUPPORTED_QUERY_PARAMETER, 400, "UnsupportedQueryParameter", 0)                      \
    X(BATCH_INVALID_HEADER_VALUE, 400, "InvalidHeaderValue", 0)                                    \
    X(BATCH_OUT_OF_RANGE_QUERY_PARAMETER_VALUE, 400, "OutOfRangeQueryParameterValue", 0)           \
    X(BATCH_OUT_OF_RANGE_INPUT, 400, "OutOfRangeInput", 0)                                         \
    X(BATCH_REQUEST_URL_FAILED_TO_PARSE, 400, "RequestUrlFailedToParse", 0)                        \
    X(BATCH_INVALID_URI, 400, "InvalidUri", 0)                                                     \
    X(BATCH_INVALID_REQUEST_BODY, 400, "InvalidRequestBody", 0)                                    \
    X(BATCH_INVALID_INPUT, 400, "InvalidInput", 0)                                                 \
    X(BATCH_INVALID_AUTHENTICATION_INFO, 400, "InvalidAuthenticationInfo", 0)                      \
    X(BATCH_EMPTY_METADATA_KEY, 400, "EmptyMetadataKey", 0)                                        \
    X(BATCH_INVALID_METADATA, 400, "InvalidMetadata", 0)                                           \
    X(BATCH_METADATA_TOO_LARGE, 400, "MetadataTooLarge", 0)                                        \
    X(BATCH_MULTIPLE_CONDITION_HEADERS_NOT_SUPPORTED, 400, "MultipleConditionHeadersNotSupported", \
      0)                                                                                           \
    X(BATCH_UNSUPPORTED_REQUEST_VERSION, 400, "UnsupportedRequestVersion", 0)                      \
    X(BATCH_OUT_OF_RANGE_PRIORITY, 400, "OutOfRangePriority", 0)                                   \
    X(BATCH_INVALID_AUTO_SCALING_SETTINGS, 400, "InvalidAutoScalingSettings", 0)                   \
    X(BATCH_AUTO_SCALING_FORMULA_SYNTAX_ERROR, 400, "AutoScalingFormulaSyntaxError", 0)            \
    X(BATCH_AUTO_SCALING_FORMULA_TOO_LONG, 400, "AutoScalingFormulaTooLong", 0)                    \
    X(BATCH_TASK_DEPENDENCIES_NOT_SPECIFIED_ON_JOB, 400, "TaskDependenciesNotSpecifiedOnJob", 0)   \
    X(BATCH_TASK_DEPENDENCY_LIST_TOO_LONG, 400, "TaskDependencyListTooLong", 0)                    \
    X(BATCH_TASK_DEPENDENCY_RANGES_TOO_LONG, 400, "TaskDependencyRangesTooLong", 0)                \
    X(BATCH_POOL_VERSION_EQUALS_UPGRADE_VERSION, 400, "PoolVersionEqualsUpgradeVersion", 0)        \
    X(BATCH_AUTHENTICATION_FAILED, 403, "AuthenticationFailed", 0)                                 \
    X(BATCH_INSUFFICIENT_ACCOUNT_PERMISSIONS, 403, "InsufficientAccountPermissions", 0)            \
    X(BATCH_ACCOUNT_IS_DISABLED, 403, "AccountIsDisabled", 0)                                      \
    X(BATCH_FORBIDDEN, 403, "Forbidden", 0)                                                        \
    X(BATCH_IO_ERROR, 403, "IOError", 0)                                                           \
    X(BATCH_RESOURCE_NOT_FOUND, 404, "ResourceNotFound", 0)                                        \
    X(BATCH_ACCOUNT_NOT_FOUND, 404, "AccountNotFound", 0)                                          \
    X(BATCH_POOL_NOT_FOUND, 404, "PoolNotFound", 0)                                                \
    X(BATCH_NODE_NOT_FOUND, 404, "NodeNotFound", 0)                                                \
    X(BATCH_JOB_NOT_FOUND, 404, "JobNotFound", 0)                                                  \
    X(BATCH_JOB_SCHEDULE_NOT_FOUND, 404, "JobScheduleNotFound", 0)                                 \
    X(BATCH_TASK_NOT_FOUND, 404, "TaskNotFound", 0)                                                \
    X(BATCH_FILE_NOT_FOUND, 404, "FileNotFound", 0)                                                \
    X(BATCH_NODE_USER_NOT_FOUND, 404, "NodeUserNotFound", 0)                                       \
    X(BATCH_CERTIFICATE_NOT_FOUND, 404, "CertificateNotFound", 0)                                  \
    X(BATCH_APPLICATION_NOT_FOUND, 404, "ApplicationNotFound", 0)                                  \
    X(BATCH_NODE_AGENT_SKU_NOT_FOUND, 404, "NodeAgentSKUNotFound", 0)                              \
    X(BATCH_JOB_PREPARATION_TASK_NOT_RUN_ON_NODE, 404, "JobPreparationTaskNotRunOnNode", 0)        \
    X(BATCH_JOB_RELEASE_TASK_NOT_RUN_ON_NODE, 404, "JobReleaseTaskNotRunOnNode", 0)                \
    X(BATCH_UNSUPPORTED_HTTP_VERB, 405, "UnsupportedHttpVerb", 0)                                  \
    X(BATCH_MISSING_CONTENT_LENGTH_HEADER, 411, "MissingContentLengthHeader", 0)                   \
    X(BATCH_REQUEST_BODY_TOO_LARGE, 413, "RequestBodyTooLarge", 0)                                 \
    X(BATCH_INVALID_RANGE, 416, "InvalidRange", 0)                                                 \
    X(BATCH_POOL_EXISTS, 409, "PoolExists", 0)                                                     \
    X(BATCH_JOB_EXISTS, 409, "JobExists", 0)                                                       \
    X(BATCH_TASK_EXISTS, 409, "TaskExists", 0)                                                     \
    X(BATCH_JOB_SCHEDULE_EXISTS, 409, "JobScheduleExists", 0)                                      \
    X(BATCH_NODE_USER_EXISTS, 409, "NodeUserExists", 0)                                            \
    X(BATCH_CERTIFICATE_EXISTS, 409, "CertificateExists", 0)                                       \
    X(BATCH_JOB_WITH_SAME_ID_EXISTS, 409, "JobWithSameIdExists", 0)                                \
    X(BATCH_JOB_SCHEDULE_WITH_SAME_ID_EXISTS, 409, "JobScheduleWithSameIdExists", 0)               \
    X(BATCH_POOL_BEING_DELETED, 409, "PoolBeingDeleted", 0)                                        \
    X(BATCH_POOL_BEING_RESIZED, 409, "PoolBeingResized", 0)                                        \
    X(BATCH_POOL_BEING_CREATED, 409, "PoolBeingCreated", 0)                                        \
    X(BATCH_JOB_BEING_DELETED, 409, "JobBeingDeleted", 0)                                          \
    X(BATCH_JOB_BEING_TERMINATED, 409, "JobBeingTerminated", 0)                                    \
    X(BATCH_JOB_IS_COMPLETED, 409, "JobCompleted", 0)                                              \
    X(BATCH_JOB_IS_DISABLED, 409, "JobDisabled", 0)                                                \
    X(BATCH_JOB_NOT_ACTIVE, 409, "JobNotActive", 0)                                                \
    X(BATCH_JOB_NOT_DISABLED, 409, "JobNotDisabled", 0)                                            \
    X(BATCH_JOB_NOT_ENABLED, 409, "JobNotEnabled", 0)                                              \
    X(BATCH_JOB_SCHEDULE_BEING_DELETED, 409, "JobScheduleBeingDeleted", 0)                         \
    X(BATCH_JOB_SCHEDULE_BEING_TERMINATED, 409, "JobScheduleBeingTerminated", 0)                   \
    X(BATCH_JOB_SCHEDULE_COMPLETED, 409, "JobScheduleCompleted", 0)                                \
    X(BATCH_JOB_SCHEDULE_DISABLED, 409, "JobScheduleDisabled", 0)                                  \
    X(BATCH_TASK_IS_COMPLETED, 409, "TaskCompleted", 0)                                            \
    X(BATCH_TASK_NOT_COMPLETED, 409, "TaskNotCompleted", 0)                                        \
    X(BATCH_TASK_SUCCEEDED, 409, "TaskSucceeded", 0)                                               \
    X(BATCH_TASK_FILES_UNAVAILABLE, 409, "TaskFilesUnavailable", 0)                                \
    X(BATCH_TASK_FILES_CLEANEDUP, 409, "TaskFilesCleanedup", 0)                                    \
    X(BATCH_TASK_ID_SAME_AS_JOB_PREPARATION_TASK, 409, "TaskIdSameAsJobPreparationTask", 0)        \
    X(BATCH_TASK_ID_SAME_AS_JOB_RELEASE_TASK, 409, "TaskIdSameAsJobReleaseTask", 0)                \
    X(BATCH_JOB_PREPARATION_TASK_NOT_SPECIFIED, 409, "JobPreparationTaskNotSpecified", 0)          \
    X(BATCH_JOB_RELEASE_TASK_NOT_SPECIFIED, 409, "JobReleaseTaskNotSpecified", 0)                  \
    X(BATCH_JOB_PREPARATION_TASK_OR_RELEASE_TASK_NOT_SPECIFIED, 409,                               \
      "JobPreparationTaskOrReleaseTaskNotSpecified", 0)                                            \
    X(BATCH_NODE_BEING_CREATED, 409, "NodeBeingCreated", 0)                                        \
    X(BATCH_NODE_BEING_STARTED, 409, "NodeBeingStarted", 0)                                        \
    X(BATCH_NODE_BEING_REBOOTED, 409, "NodeBeingRebooted", 0)                                      \
    X(BATCH_NODE_BEING_REIMAGED, 409, "NodeBeingReimaged", 0)                                      \
    X(BATCH_NODE_STATE_UNUSABLE, 409, "NodeStateUnusable", 0)                                      \
    X(BATCH_NODE_ALREADY_IN_TARGET_SCHEDULING_STATE, 409, "NodeAlreadyInTargetSchedulingState", 0) \
    X(BATCH_NODE_COUNTS_MISMATCH, 409, "NodeCountsMismatch", 0)                                    \
    X(BATCH_OPERATION_NOT_VALID_ON_NODE, 409, "OperationNotValidOnNode", 0)                        \
    X(BATCH_OPERATION_NOT_VALID_ON_POOL, 409, "OperationNotValidOnPool", 0)                        \
    X(BATCH_OPERATION_INVALID_FOR_CURRENT_STATE, 409, "OperationInvalidForCurrentState", 0)        \
    X(BATCH_INVALID_APPLICATION_PACKAGE_REFERENCES, 409, "InvalidApplicationPackageReferences", 0) \
    X(BATCH_INVALID_CERTIFICATE_REFERENCES, 409, "InvalidCertificateReferences", 0)                \
    X(BATCH_CERTIFICATE_STATE_ACTIVE, 409, "CertificateStateActive", 0)                            \
    X(BATCH_CERTIFICATE_BEING_DELETED, 409, "CertificateBeingDeleted", 0)                          \
    X(BATCH_ACTIVE_JOB_AND_SCHEDULE_QUOTA_REACHED, 409, "ActiveJobAndScheduleQuotaReached", 0)     \
    X(BATCH_POOL_QUOTA_REACHED, 409, "PoolQuotaReached", 0)                                        \
    X(BATCH_CONDITION, 412, "ConditionNotMet", 0)                                                  \
    X(BATCH_NOT_MODIFIED, 304, "ConditionNotMet", 0)                                               \
    X(BATCH_OPERATION_TIMED_OUT, 500, "OperationTimedOut", 0)                                      \
    X(BATCH_TOO_MANY_ENABLE_AUTO_SCALE_REQUESTS, 503, "TooManyEnableAutoScaleRequests",            \
      ADDS_TRY_AGAIN)
enum { ERROR_OWN_KINDS(BATCH_KINDS, BATCH_OWN) };

struct error_words batch_words(int kind);
/* {"code", "message", "values"} of an error, also for one entry of a collection. */
json_t *batch_error_json(struct request *r, struct error_words words, const struct err *e);
struct replied *batch_error(struct request *r, struct error_words words, const struct err *e);
void batch_too_long(const char *why, struct strbuf *headers, struct strbuf *body);

/* Makes the error for a failure of batch_account_accepts(): an account that is being deleted has
 * its own code. Returns -1. */
int batch_not_accepted(struct err *e);

/* Adds a value to the request's error reply. Copies the texts. */
void batch_value(struct request *r, const char *key, const char *value);

#endif
