/* SPDX-License-Identifier: MIT
 *
 * Certificates of Azure Batch: the data is kept and never shown again, except the public part.
 */
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
