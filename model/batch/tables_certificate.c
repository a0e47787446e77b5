/* SPDX-License-Identifier: MIT
 *
 * Certificates of Azure Batch: what is given is kept and never shown again, but for the public
 * part.
 */
#include "model/batch/tables.h"
#include "model/batch/tables_pool.h"

enum { MAX_DATA = 65536 };

static const struct enum_name format_names[] = {{1, "pfx"}, {2, "cer"}, {0, NULL}};

static const struct field delete_error_rows[] = {
    BATCH_READ_ONLY("code", FIELD_STRING),
    BATCH_READ_ONLY("message", FIELD_STRING),
    {.name = "values", .kind = FIELD_ARRAY, .flags = FIELD_READONLY, .sub = &schema_batch_pair},
};
static SCHEMA(schema_delete_error, "DeleteCertificateError", delete_error_rows, NULL);

static const struct field rows[] = {
    {BATCH_TEXT("thumbprint", FIELD_REQUIRED, 1, 128)},
    {BATCH_TEXT("thumbprintAlgorithm", FIELD_REQUIRED, 1, 16)},
    BATCH_READ_ONLY("url", FIELD_STRING),
    BATCH_READ_ONLY("state", FIELD_STRING),
    BATCH_READ_ONLY("stateTransitionTime", FIELD_TIME),
    BATCH_READ_ONLY("previousState", FIELD_STRING),
    BATCH_READ_ONLY("previousStateTransitionTime", FIELD_TIME),
    BATCH_READ_ONLY("publicData", FIELD_STRING),
    {.name = "deleteCertificateError",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .sub = &schema_delete_error},
    {BATCH_TEXT("data", FIELD_REQUIRED | FIELD_SECRET, 1, MAX_DATA)},
    {.name = "certificateFormat",
     .kind = FIELD_ENUM,
     .flags = FIELD_INPUT_ONLY,
     .values = format_names,
     .fallback = "\"pfx\""},
    {BATCH_TEXT("password", FIELD_SECRET, 0, 4096)},
};
SCHEMA(schema_batch_certificate, "Certificate", rows, NULL);
