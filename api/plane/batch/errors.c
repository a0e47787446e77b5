/* SPDX-License-Identifier: MIT
 *
 * The error table with the sentence and the values of each code, and the reply. The values of an
 * error are the request's. On the loop's thread.
 */
#include "api/plane/batch/errors.h"

#include <stdlib.h>
#include <string.h>

#include "api/http/versions.h"
#include "api/plane/batch/batch.h"
#include "api/plane/batch/reply.h"
#include "lib/jsontext.h"

#define BATCH_ERRORS(X)                                                                            \
    X(ERR_BAD_REQUEST, 400, "InvalidInput", 0)                                                     \
    X(ERR_INVALID_CONTENT, 400, "InvalidRequestBody", 0)                                           \
    X(ERR_INVALID_QUERY, 400, "InvalidQueryParameterValue", 0)                                     \
    X(ERR_INVALID_PATH, 400, "RequestUrlFailedToParse", 0)                                         \
    X(ERR_MISSING_API_VERSION, 400, "MissingRequiredQueryParameter", 0)                            \
    X(ERR_UNKNOWN_API_VERSION, 400, "UnsupportedRequestVersion", 0)                                \
    X(ERR_BODY_TOO_LARGE, 413, "RequestBodyTooLarge", 0)                                           \
    X(ERR_UNSUPPORTED_MEDIA, 400, "InvalidHeaderValue", 0)                                         \
    X(ERR_METHOD_NOT_ALLOWED, 405, "UnsupportedHttpVerb", 0)                                       \
    X(ERR_ROUTE_NOT_FOUND, 400, "InvalidUri", 0)                                                   \
    X(ERR_NO_TOKEN, 401, "AuthenticationFailed", ADDS_LOG_IN)                                      \
    X(ERR_INVALID_TOKEN, 401, "AuthenticationFailed", ADDS_LOG_IN)                                 \
    X(ERR_EXPIRED_TOKEN, 401, "AuthenticationFailed", ADDS_LOG_IN)                                 \
    X(ERR_FORBIDDEN, 403, "Forbidden", 0)                                                          \
    ERROR_FAULTS(X, "InternalError")                                                               \
    X(ERR_UNAVAILABLE, 503, "ServerBusy", ADDS_TRY_AGAIN)                                          \
    X(ERR_ENDED_DAEMON, 409, "DaemonEndedDuringRequest", 0)                                        \
    X(ERR_NODE_LOST, 409, "NodeStateUnusable", 0)                                                  \
    X(ERR_IO, 403, "IOError", 0)                                                                   \
    X(ERR_INVALID_PROPERTY, 400, "InvalidPropertyValue", 0)                                        \
    X(ERR_MISSING_PROPERTY, 400, "MissingRequiredProperty", 0)                                     \
    X(ERR_INVALID_NAME, 400, "InvalidPropertyValue", 0)                                            \
    X(ERR_NOT_ON_MOUNT_ROOT, 404, "FileNotFound", 0)                                               \
    X(ERR_NOT_SUPPORTED, 400, "UnsupportedProperty", 0)                                            \
    X(ERR_GROUP_NOT_FOUND, 404, "ResourceNotFound", 0)                                             \
    X(ERR_RESOURCE_NOT_FOUND, 404, "ResourceNotFound", 0)                                          \
    X(ERR_WORKSPACE_NOT_FOUND, 404, "ResourceNotFound", 0)                                         \
    X(ERR_EXPERIMENT_NOT_FOUND, 404, "ResourceNotFound", 0)                                        \
    X(ERR_CLUSTER_NOT_FOUND, 404, "PoolNotFound", 0)                                               \
    X(ERR_FILE_SERVER_NOT_FOUND, 404, "ResourceNotFound", 0)                                       \
    X(ERR_JOB_NOT_FOUND, 404, "TaskNotFound", 0)                                                   \
    X(ERR_OUTPUT_DIRECTORY_NOT_FOUND, 404, "FileNotFound", 0)                                      \
    X(ERR_FILE_NOT_FOUND, 404, "FileNotFound", 0)                                                  \
    X(ERR_MACHINE_NOT_FOUND, 404, "NodeNotFound", 0)                                               \
    X(ERR_CONFLICT, 409, "OperationInvalidForCurrentState", 0)                                     \
    X(ERR_BEING_DELETED, 409, "OperationInvalidForCurrentState", 0)                                \
    X(ERR_QUOTA, 409, "ActiveJobAndScheduleQuotaReached", 0)

ERROR_TABLE(batch_words, BATCH_ERRORS, BATCH_OWN)

int batch_not_accepted(struct err *e)
{
    if (e->code == ERR_BEING_DELETED)
        e->code = BATCH_ACCOUNT_IS_DISABLED;
    return -1;
}

/* The messages of error codes, sorted by the bytes of the codes. A code that is not here has the
 * message of its err. */
static const struct sentence {
    const char *code, *says;
} sentences[] = {
    {"AccountIsDisabled", "The specified account is disabled."},
    {"AccountNotFound", "The specified account does not exist."},
    {"ActiveJobAndScheduleQuotaReached",
     "The account has reached its quota of active jobs and job schedules."},
    {"ApplicationNotFound", "The specified application does not exist."},
    {"AuthenticationFailed", "Server failed to authenticate the request. Make sure the value of "
                             "Authorization header is formed correctly including the signature."},
    {"AutoScalingFormulaSyntaxError", "The specified auto-scaling formula has a syntax error."},
    {"AutoScalingFormulaTooLong", "The autoscaling formula is too long."},
    {"CertificateBeingDeleted", "The specified certificate has been marked for deletion."},
    {"CertificateExists", "The specified certificate already exists."},
    {"CertificateNotFound", "The specified certificate does not exist."},
    {"CertificateStateActive", "The specified certificate is in the active state."},
    {"ConditionNotMet", "The condition specified using HTTP conditional header(s) is not met."},
    {"EmptyMetadataKey", "The key for one of the metadata key-value pairs is empty."},
    {"FileNotFound", "The specified file does not exist."},
    {"Forbidden", "Not authorized to perform this operation."},
    {"IOError", "The file cannot be read or written."},
    {"InsufficientAccountPermissions",
     "The account being accessed does not have sufficient permissions to execute this operation."},
    {"InternalError", "Server encountered an internal error. Please try again after some time."},
    {"InvalidApplicationPackageReferences",
     "One or more of the specified application package references are invalid."},
    {"InvalidAuthenticationInfo", "The authentication information was not provided in the correct "
                                  "format. Verify the value of Authorization header."},
    {"InvalidAutoScalingSettings", "The automatic scaling settings are not valid."},
    {"InvalidCertificateReferences",
     "One or more of the specified certificate references are invalid."},
    {"InvalidHeaderValue", "The value for one of the HTTP headers is not in the correct format."},
    {"InvalidInput", "One of the request inputs is not valid."},
    {"InvalidMetadata",
     "The metadata specified is invalid. It has characters that are not permitted."},
    {"InvalidPropertyValue",
     "The value provided for one of the properties in the request body is invalid."},
    {"InvalidQueryParameterValue",
     "Value for one of the query parameters specified in the request URI is invalid"},
    {"InvalidRange", "The range specified is invalid for the current size of the file."},
    {"InvalidRequestBody", "The specified Request Body is not syntactically valid."},
    {"InvalidUri", "The requested URI does not represent any resource on the server."},
    {"JobBeingDeleted", "The specified job has been marked for deletion."},
    {"JobBeingTerminated", "The specified job is being terminated."},
    {"JobCompleted", "The specified job is already in a completed state."},
    {"JobDisabled", "The specified job is disabled."},
    {"JobExists", "The specified job already exists."},
    {"JobNotActive", "The specified job is not active."},
    {"JobNotDisabled", "The specified job is not disabled."},
    {"JobNotEnabled", "The specified job is not enabled."},
    {"JobNotFound", "The specified job does not exist."},
    {"JobPreparationTaskNotRunOnNode",
     "The job preparation task has not run on the specified node."},
    {"JobPreparationTaskNotSpecified", "The specified job has no job preparation task."},
    {"JobPreparationTaskOrReleaseTaskNotSpecified",
     "The specified job has neither a job preparation task nor a job release task."},
    {"JobReleaseTaskNotRunOnNode", "The job release task has not run on the specified node."},
    {"JobReleaseTaskNotSpecified", "The specified job has no job release task."},
    {"JobScheduleBeingDeleted", "The specified job schedule has been marked for deletion."},
    {"JobScheduleBeingTerminated", "The specified job schedule is being terminated."},
    {"JobScheduleCompleted", "The specified job schedule is already in a completed state."},
    {"JobScheduleDisabled", "The specified job schedule is disabled."},
    {"JobScheduleExists", "The specified job schedule already exists."},
    {"JobScheduleNotFound", "The specified job schedule does not exist."},
    {"JobScheduleWithSameIdExists", "A job schedule with the specified id already exists."},
    {"JobWithSameIdExists", "A job with the specified id already exists."},
    {"MetadataTooLarge", "The size of the specified metadata exceeds the maximum size permitted."},
    {"MissingContentLengthHeader", "The Content-Length header was not specified."},
    {"MissingRequiredHeader", "A required HTTP header was not specified."},
    {"MissingRequiredProperty", "A required property was not specified in the request body."},
    {"MissingRequiredQueryParameter",
     "A required query parameter was not specified in the request URI."},
    {"MultipleConditionHeadersNotSupported", "Multiple condition headers are not supported."},
    {"NodeAgentSKUNotFound", "The specified node agent SKU does not exist."},
    {"NodeAlreadyInTargetSchedulingState",
     "The specified node is already in the requested scheduling state."},
    {"NodeBeingCreated", "The specified node is being created."},
    {"NodeBeingRebooted", "The specified node is being rebooted."},
    {"NodeBeingReimaged", "The specified node is being reimaged."},
    {"NodeBeingStarted", "The specified node is being started."},
    {"NodeCountsMismatch", "The node counts do not match."},
    {"NodeNotFound", "The specified node does not exist."},
    {"NodeStateUnusable", "The specified node is unusable."},
    {"NodeUserExists", "The specified node user already exists."},
    {"NodeUserNotFound", "The specified node user does not exist."},
    {"OperationInvalidForCurrentState", "This operation cannot be performed at this time."},
    {"OperationNotValidOnNode", "The specified operation is not valid on the node."},
    {"OperationNotValidOnPool", "The specified operation is not valid on the pool."},
    {"OperationTimedOut", "Operation could not be completed within the specified time."},
    {"OutOfRangeInput", "One of the request inputs is out of range."},
    {"OutOfRangePriority", "The priority is out of range."},
    {"OutOfRangeQueryParameterValue",
     "One of the query parameters specified in the request URI is outside the permissible range."},
    {"PoolBeingCreated", "The specified pool is being created."},
    {"PoolBeingDeleted", "The specified pool has been marked for deletion."},
    {"PoolBeingResized", "The specified pool is being resized."},
    {"PoolExists", "The specified pool already exists."},
    {"PoolNotFound", "The specified pool does not exist."},
    {"PoolQuotaReached", "The account has reached its quota of pools."},
    {"PoolVersionEqualsUpgradeVersion",
     "The specified pool already has this version of the operating system."},
    {"RequestBodyTooLarge", "The size of the request body exceeds the maximum size permitted."},
    {"RequestUrlFailedToParse", "The URL in the request could not be parsed."},
    {"ResourceNotFound", "The specified resource does not exist."},
    {"ServerBusy",
     "Server is currently unable to receive requests. Please try again after some time."},
    {"TaskCompleted", "The specified task is already in a completed state."},
    {"TaskDependenciesNotSpecifiedOnJob",
     "The specified task has dependencies, but its job does not use task dependencies."},
    {"TaskDependencyListTooLong", "The list of task dependencies is too long."},
    {"TaskDependencyRangesTooLong", "The list of ranges of task dependencies is too long."},
    {"TaskExists", "The specified task already exists."},
    {"TaskFilesCleanedup", "The files of the specified task have been cleaned up."},
    {"TaskFilesUnavailable", "The files of the specified task are not available."},
    {"TaskIdSameAsJobPreparationTask",
     "The specified task has the same id as the job's job preparation task."},
    {"TaskIdSameAsJobReleaseTask",
     "The specified task has the same id as the job's job release task."},
    {"TaskNotCompleted", "The specified task is not in a completed state."},
    {"TaskNotFound", "The specified task does not exist."},
    {"TaskSucceeded", "The specified task has already succeeded."},
    {"TooManyEnableAutoScaleRequests",
     "There were too many requests to enable automatic scaling of the pool; try again later."},
    {"UnsupportedHeader", "One of the headers specified in the request is not supported."},
    {"UnsupportedHttpVerb", "The resource does not support the specified HTTP verb."},
    {"UnsupportedProperty",
     "One of the properties specified in the request body is not supported."},
    {"UnsupportedQueryParameter",
     "One of the query parameters specified in the request URI is not supported."},
    {"UnsupportedRequestVersion", "The request version is not supported."},
};

static int compare_codes(const void *code, const void *at)
{
    const struct sentence *s = at;
    return strcmp(code, s->code);
}

static const char *sentence_of(const char *code)
{
    const struct sentence *s = bsearch(code, sentences, sizeof sentences / sizeof *sentences,
                                       sizeof *sentences, compare_codes);
    return s ? s->says : NULL;
}

/* --- values --------------------------------------------------------------------------------- */

struct batch_error_value {
    const char *key, *value;
    struct batch_error_value *next;
};

struct batch_grant *batch_grant(struct request *r)
{
    if (!r->grant)
        r->grant = arena_alloc(&r->arena, sizeof(struct batch_grant));
    return r->grant;
}

void batch_value(struct request *r, const char *key, const char *value)
{
    struct batch_error_value **end = &batch_grant(r)->values;
    while (*end)
        end = &(*end)->next;
    *end = arena_alloc(&r->arena, sizeof **end);
    **end = (struct batch_error_value){arena_strdup(&r->arena, key), arena_strdup(&r->arena, value),
                                       NULL};
}

static json_t *value_json(const char *key, const char *value)
{
    return json_pack("{s:s, s:o}", "key", key, "value", jsontext_string(value));
}

/* What err.target names depends on the words in the error's code: a query parameter, a header or a
 * property. `name`, `value`: the names of the two values in the reply. */
static const struct target_kind {
    const char *in_code, *name, *value;
} target_kinds[] = {
    {"QueryParameter", "QueryParameterName", "QueryParameterValue"},
    {"RequestVersion", "QueryParameterName", "QueryParameterValue"},
    {"Header", "HeaderName", "HeaderValue"},
    {"", "PropertyName", "PropertyValue"},
};

/* The request's value of the query parameter or header `target`. NULL for a property: the reason
 * contains its value, unless it is secret. */
static const char *value_of(struct request *r, const struct target_kind *k, const char *target)
{
    if (k->name[0] == 'Q')
        return request_query(r, target);
    return k->name[0] == 'H' ? request_header(r, target) : NULL;
}

static void add_target(struct request *r, json_t *values, const char *code, const struct err *e)
{
    const struct target_kind *k = target_kinds;
    if (!*e->target)
        return;
    while (!strstr(code, k->in_code))
        k++;
    const char *value = value_of(r, k, e->target);
    json_array_append_new(values, value_json(k->name, e->target));
    if (value)
        json_array_append_new(values, value_json(k->value, value));
}

/* A sentence with the api-versions that serve the operation. */
static const char *served_here(struct request *r)
{
    unsigned served = versions_here(r), first, last;
    if (!served)
        served = BATCH_ALL;
    first = served & -served;
    for (last = first; served & (last << 1); last <<= 1)
        ;
    bool newer = version_is_newer(r);
    return arena_printf(&r->arena,
                        "The api-version '%.100s' is not served here; those from %s to %s are.%s%s",
                        r->version_name ? r->version_name : "", batch_version_name(first),
                        batch_version_name(last), newer ? " " : "", newer ? version_advice(r) : "");
}

static const char *reason_of(struct request *r, const struct err *e)
{
    return e->code == ERR_UNKNOWN_API_VERSION ? served_here(r) : e->msg;
}

static json_t *values_of(struct request *r, const char *code, const struct err *e, bool reason)
{
    json_t *values = json_array();
    add_target(r, values, code, e);
    for (const struct batch_error_value *v = batch_grant(r)->values; v; v = v->next)
        json_array_append_new(values, value_json(v->key, v->value));
    if (reason)
        json_array_append_new(values, value_json("Reason", reason_of(r, e)));
    return values;
}

/* --- the reply ------------------------------------------------------------------------------ */

#define ERROR_METADATA "Microsoft.Azure.Batch.Protocol.Entities.Container.errors/@Element"

json_t *batch_error_json(struct request *r, struct error_words words, const struct err *e)
{
    const char *says = sentence_of(words.code);
    char when[TIMEFMT_SIZE];
    timefmt_exact(r->now_us, when);
    const char *text = arena_printf(&r->arena, "%s\nRequestId:%s\nTime:%s", says ? says : e->msg,
                                    r->request_id, when);
    json_t *body = json_pack("{s:s, s:{s:s, s:o}}", "code", words.code, "message", "lang", "en-US",
                             "value", jsontext_string(text));
    json_auto_t *values = values_of(r, words.code, e, says && *e->msg && strcmp(says, e->msg) != 0);
    if (json_array_size(values) > 0)
        json_object_set(body, "values", values);
    return body;
}

struct replied *batch_error(struct request *r, struct error_words words, const struct err *e)
{
    if (strcmp(r->method, "HEAD") == 0 || words.status == 304)
        return reply_empty(r, words.status);
    json_auto_t *body = batch_error_json(r, words, e);
    json_t *whole = json_pack("{s:s}", "odata.metadata", batch_metadata(r, ERROR_METADATA));
    json_object_update(whole, body);
    return batch_reply_json(r, words.status, whole);
}

void batch_too_long(const char *why, struct strbuf *headers, struct strbuf *body)
{
    strbuf_puts(headers, "Content-Type: " BATCH_CONTENT_TYPE "\r\n");
    strbuf_printf(body, "{\"code\":\"%s\",\"message\":{\"lang\":\"en-US\",\"value\":\"%s\"}}",
                  batch_words(ERR_INVALID_PATH).code, why);
}
