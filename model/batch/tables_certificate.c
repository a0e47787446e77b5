/* SPDX-License-Identifier: MIT
 *
 * Certificates of Azure Batch, for its data plane and for the resource manager. The daemon stores a
 * certificate and later shows only its public part. The data plane's table checks the requests of
 * both.
 */
#include "model/batch/rm.h"
#include "model/batch/tables.h"
#include "model/batch/tables_pool.h"
#include "model/schema/tables.h"

enum { MAX_DATA = 65536 };

static const struct enum_name format_names[] = {{1, "pfx"}, {2, "cer"}, {0, NULL}};

static const struct field delete_error_rows[] = {
    TEXT("code", READONLY),
    TEXT("message", READONLY),
    LIST("values", READONLY, schema_batch_pair),
};
static SCHEMA(schema_delete_error, delete_error_rows, "DeleteCertificateError");

static const struct field rows[] = {
    TEXT("thumbprint", REQUIRED, 1, 128),
    TEXT("thumbprintAlgorithm", REQUIRED, 1, 16),
    TEXT("url", READONLY),
    TEXT("state", READONLY),
    TIME("stateTransitionTime", READONLY),
    TEXT("previousState", READONLY),
    TIME("previousStateTransitionTime", READONLY),
    TEXT("publicData", READONLY),
    OBJECT("deleteCertificateError", READONLY, schema_delete_error),
    TEXT("data", REQUIRED | SECRET, 1, MAX_DATA),
    ENUM("certificateFormat", INPUT_ONLY, format_names, .fallback = "\"pfx\""),
    TEXT("password", SECRET, .max = 4096),
};
SCHEMA(schema_batch_certificate, rows, "Certificate");

/* --- certificates in the resource manager ----------------------------------------------------- */

static const struct enum_name rm_formats[] = {{1, "Pfx"}, {2, "Cer"}, {0, NULL}};

/* The canonical names are the names in the stored document. */
static const struct field rm_detail_rows[] = {
    TEXT("code", .canon = "name"),
    TEXT("message", .canon = "value"),
};
static SCHEMA(rm_detail, rm_detail_rows, "DeleteCertificateError");
static const struct field rm_error_rows[] = {
    TEXT("code"),
    TEXT("message"),
    LIST("details", 0, rm_detail, .canon = "values"),
};
static SCHEMA(rm_error, rm_error_rows, "DeleteCertificateError");

static const struct field rm_properties_rows[] = {
    TEXT("thumbprintAlgorithm"),
    TEXT("thumbprint"),
    ENUM("format", 0, rm_formats, .canon = "certificateFormat"),
    TEXT("provisioningState", READONLY),
    TIME("provisioningStateTransitionTime", READONLY),
    TEXT("previousProvisioningState", READONLY),
    TIME("previousProvisioningStateTransitionTime", READONLY),
    TEXT("publicData", READONLY),
    OBJECT("deleteCertificateError", READONLY, rm_error),
    TEXT("data", REQUIRED | SECRET),
    TEXT("password", SECRET),
};
SCHEMA(schema_rm_certificate_properties, rm_properties_rows, "CertificateProperties");

static const struct field rm_rows[] = {
    TEXT("id", READONLY),
    TEXT("name", READONLY),
    TEXT("type", READONLY),
    TEXT("etag", READONLY),
    OBJECT("properties", REQUIRED, schema_rm_certificate_properties),
    MAP("tags", KEEP_EMPTY, .versions = RM_SINCE(RM_2024_07), .max = MAX_TAGS),
};
SCHEMA(schema_rm_certificate, rm_rows, "Certificate");
