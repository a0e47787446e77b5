/* SPDX-License-Identifier: MIT
 *
 * Certificates in the resource manager. The data plane's table checks the values
 * (tables_certificate.c).
 */
#include "model/batch/rm.h"
#include "model/schema/tables.h"

static const struct enum_name formats[] = {{1, "Pfx"}, {2, "Cer"}, {0, NULL}};

/* The canonical names are those of the stored document. */
static const struct field detail_rows[] = {
    TEXT("code", .canon = "name"),
    TEXT("message", .canon = "value"),
};
static SCHEMA(detail, detail_rows, "DeleteCertificateError");
static const struct field error_rows[] = {
    TEXT("code"),
    TEXT("message"),
    LIST("details", 0, detail, .canon = "values"),
};
static SCHEMA(error, error_rows, "DeleteCertificateError");

static const struct field properties_rows[] = {
    TEXT("thumbprintAlgorithm"),
    TEXT("thumbprint"),
    ENUM("format", 0, formats, .canon = "certificateFormat"),
    TEXT("provisioningState", READONLY),
    TIME("provisioningStateTransitionTime", READONLY),
    TEXT("previousProvisioningState", READONLY),
    TIME("previousProvisioningStateTransitionTime", READONLY),
    TEXT("publicData", READONLY),
    OBJECT("deleteCertificateError", READONLY, error),
    TEXT("data", REQUIRED | SECRET),
    TEXT("password", SECRET),
};
SCHEMA(schema_rm_certificate_properties, properties_rows, "CertificateProperties");

static const struct field rows[] = {
    TEXT("id", READONLY),
    TEXT("name", READONLY),
    TEXT("type", READONLY),
    TEXT("etag", READONLY),
    OBJECT("properties", REQUIRED, schema_rm_certificate_properties),
    MAP("tags", KEEP_EMPTY, .versions = RM_SINCE(RM_2024_07), .max = MAX_TAGS),
};
SCHEMA(schema_rm_certificate, rows, "Certificate");
