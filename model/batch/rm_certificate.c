/* SPDX-License-Identifier: MIT
 *
 * Certificates as the resource manager speaks of them. What is given is checked by the data plane's
 * table (tables_certificate.c).
 */
#include "model/batch/rm.h"
#include "model/schema/tables.h"

static const struct enum_name formats[] = {{1, "Pfx"}, {2, "Cer"}, {0, NULL}};

#define SHOWN(label, sort)                                                                         \
    {                                                                                              \
        .name = (label), .kind = (sort), .flags = FIELD_READONLY                                   \
    }

/* The canonical names are those of what is stored. */
static const struct field detail_rows[] = {
    {.name = "code", .canon = "name", .kind = FIELD_STRING},
    {.name = "message", .canon = "value", .kind = FIELD_STRING},
};
static SCHEMA(detail, "DeleteCertificateError", detail_rows, NULL);
static const struct field error_rows[] = {
    {.name = "code", .kind = FIELD_STRING},
    {.name = "message", .kind = FIELD_STRING},
    {.name = "details", .canon = "values", .kind = FIELD_ARRAY, .sub = &detail},
};
static SCHEMA(error, "DeleteCertificateError", error_rows, NULL);

static const struct field properties_rows[] = {
    {.name = "thumbprintAlgorithm", .kind = FIELD_STRING},
    {.name = "thumbprint", .kind = FIELD_STRING},
    {.name = "format", .canon = "certificateFormat", .kind = FIELD_ENUM, .values = formats},
    SHOWN("provisioningState", FIELD_STRING),
    SHOWN("provisioningStateTransitionTime", FIELD_TIME),
    SHOWN("previousProvisioningState", FIELD_STRING),
    SHOWN("previousProvisioningStateTransitionTime", FIELD_TIME),
    SHOWN("publicData", FIELD_STRING),
    {.name = "deleteCertificateError",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .sub = &error},
    {.name = "data", .kind = FIELD_STRING, .flags = FIELD_REQUIRED | FIELD_SECRET},
    {.name = "password", .kind = FIELD_STRING, .flags = FIELD_SECRET},
};
SCHEMA(schema_rm_certificate_properties, "CertificateProperties", properties_rows, NULL);

static const struct field rows[] = {
    SHOWN("id", FIELD_STRING),
    SHOWN("name", FIELD_STRING),
    SHOWN("type", FIELD_STRING),
    SHOWN("etag", FIELD_STRING),
    {.name = "properties",
     .kind = FIELD_OBJECT,
     .flags = FIELD_REQUIRED,
     .sub = &schema_rm_certificate_properties},
    {.name = "tags",
     .kind = FIELD_MAP,
     .flags = FIELD_DISCARD,
     .versions = RM_SINCE(RM_2024_07),
     .max = MAX_TAGS},
};
SCHEMA(schema_rm_certificate, "Certificate", rows, NULL);
