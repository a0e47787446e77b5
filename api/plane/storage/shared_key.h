/* SPDX-License-Identifier: MIT
 *
 * Requests that are signed with an account's key: SharedKey and SharedKeyLite of blobs and files
 * (https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key), SharedKey of
 * Azure Batch
 * (https://learn.microsoft.com/rest/api/batchservice/authenticate-requests-to-the-azure-batch-service).
 * Makes the text that client and daemon sign from the request's line and headers. Pure.
 */
#ifndef API_PLANE_STORAGE_SHARED_KEY_H
#define API_PLANE_STORAGE_SHARED_KEY_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/arena.h"
#include "lib/named_value.h"
#include "lib/strbuf.h"

/* Everything is borrowed. */
struct signed_head {
    const char *method;
    const char *path;                /* as sent, percent-encoded, without the query */
    const struct named_value *query; /* decoded, in any order */
    size_t n_query;
    const struct named_value *header; /* in any order */
    size_t n_headers;
};

/* The most that a client's clock may differ from the daemon's, in microseconds. */
#define SIGNED_SKEW_US (15 * 60 * INT64_C(1000000))

enum shared_key_form { SHARED_KEY, SHARED_KEY_LITE };

/* The orders in which names of headers are sorted: Azure and newer clients sort like .NET's
 * culture, older clients by bytes, Node's clients like ICU. The orders differ only for names with -
 * or _. */
enum name_order { NAMES_AS_SERVICE, NAMES_BY_BYTE, NAMES_AS_ICU, NAME_ORDERS };

/* Appends the text to sign. `account`: its name without -secondary. */
void shared_key_text(const struct signed_head *h, const char *account, enum shared_key_form form,
                     enum name_order order, struct arena *a, struct strbuf *out);

/* Differences between clients of Azure Batch: some sign names of parameters as they are instead of
 * in lower case; some leave out parameters without a value; some that send no Content-Length sign
 * nothing for it, others 0. */
struct batch_signing {
    bool raw_names, no_blanks;
    const char *length; /* NULL: as sent */
};
void shared_key_batch_text(const struct signed_head *h, const char *account,
                           const struct batch_signing *how, struct arena *a, struct strbuf *out);

/* The parts of "SharedKey ACCOUNT:SIGNATURE" or "SharedKeyLite ..."; the account in lower case. 0:
 * the text is neither; -1: a part is missing. */
struct signed_by {
    enum shared_key_form form;
    const char *account, *signature;
};
int shared_key_read(const char *authorization, struct arena *a, struct signed_by *out);

/* Compares two names of headers in this order; returns < 0, 0 or > 0. */
int name_compare(const char *a, const char *b, enum name_order order);

/* The error in the date of a signed request (`date` NULL: it has none); NULL: the date is good. */
const char *signed_date_error(struct arena *a, const char *date);

#define SIGNATURE_SIZE 45 /* base64 of 32 bytes, and NUL */
/* Computes the HMAC-SHA256 of a text with an account's key, in base64. */
void signature_make(const unsigned char *key, size_t n_key, const char *text, size_t n_text,
                    char out[SIGNATURE_SIZE]);
/* Compares a client's signature with `made` in constant time. A space in the client's counts as +,
 * because clients leave + unescaped in a query. */
int signature_equals(const char *sent, const char made[SIGNATURE_SIZE]);

#endif
