/* SPDX-License-Identifier: MIT
 *
 * Shared access signatures (SAS): a signed grant in the query of a request. It is signed with a key
 * of the account, or with a user's key (user delegation), and is for the whole account or for one
 * container, share, blob or file.
 * https://learn.microsoft.com/rest/api/storageservices/delegate-access-with-shared-access-signature
 * Pure: reads no rows.
 */
#ifndef API_PLANE_STORAGE_SAS_H
#define API_PLANE_STORAGE_SAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/http/principal.h"
#include "api/plane/storage/shared_key.h"
#include "lib/err.h"
#include "lib/strbuf.h"

/* The parameters of a signature, with their names in a query. */
#define SAS_PARAMETERS(X)                                                                          \
    X(VERSION, "sv")                                                                               \
    X(SERVICES, "ss")                                                                              \
    X(RESOURCE_TYPES, "srt")                                                                       \
    X(RESOURCE_KIND, "sr")                                                                         \
    X(PERMISSIONS, "sp")                                                                           \
    X(START, "st")                                                                                 \
    X(EXPIRY, "se")                                                                                \
    X(POLICY, "si")                                                                                \
    X(ADDRESSES, "sip")                                                                            \
    X(PROTOCOLS, "spr")                                                                            \
    X(ENCRYPTION_SCOPE, "ses")                                                                     \
    X(DEPTH, "sdd")                                                                                \
    X(SNAPSHOT, "snapshot")                                                                        \
    X(CACHE_CONTROL, "rscc")                                                                       \
    X(DISPOSITION, "rscd")                                                                         \
    X(ENCODING, "rsce")                                                                            \
    X(LANGUAGE, "rscl")                                                                            \
    X(TYPE, "rsct")                                                                                \
    X(KEY_OBJECT, "skoid")                                                                         \
    X(KEY_TENANT, "sktid")                                                                         \
    X(KEY_START, "skt")                                                                            \
    X(KEY_EXPIRY, "ske")                                                                           \
    X(KEY_SERVICE, "sks")                                                                          \
    X(KEY_VERSION, "skv")                                                                          \
    X(KEY_USER_TENANT, "skdutid")                                                                  \
    X(USER_OBJECT, "sduoid")                                                                       \
    X(AUTHORIZED_OBJECT, "saoid")                                                                  \
    X(UNAUTHORIZED_OBJECT, "suoid")                                                                \
    X(CORRELATION, "scid")                                                                         \
    X(REQUEST_HEADERS, "srh")                                                                      \
    X(REQUEST_QUERY, "srq")                                                                        \
    X(SIGNATURE, "sig")

#define SAS_FIELD(field, name) SAS_##field,
enum sas_field { SAS_PARAMETERS(SAS_FIELD) SAS_ACCOUNT, SAS_RESOURCE, SAS_FIELDS };
#undef SAS_FIELD

enum sas_kind { SAS_OF_ACCOUNT, SAS_OF_SERVICE, SAS_DELEGATED, SAS_KINDS };
enum sas_service { SAS_BLOB, SAS_FILE };

struct sas {
    enum sas_kind kind;
    const char *field[SAS_FIELDS]; /* decoded and borrowed; NULL: was not sent */
};

/* A stored access policy: has the values that a signature leaves out. Times are in microseconds; 0:
 * not given. */
struct sas_policy {
    const char *permissions; /* "" if none */
    int64_t start_us, expiry_us;
};

/* Finds the policy that a signature names. `policies`: the policies of its container or share (the
 * text of the row; NULL: none). Texts are in the arena. 1: found; 0: there is no such policy. */
int sas_find_policy(const struct sas *s, const char *policies, struct arena *a,
                    struct sas_policy *out);

/* What a request wants to use a signature for. */
struct sas_use {
    int64_t now_us;
    const char *peer; /* the client's address as text */
    bool https;
    char service;       /* b, f, q or t, as in ss */
    char resource_type; /* s, c or o, as in srt */
    /* letters of sp, of which the signature needs one; "": it needs none */
    const char *permissions;
    const struct sas_policy *policy; /* the policy in `si`; NULL: none */
};

/* Reads a signature from a query. 1: found. 0: there is none. -1: AZSTORAGE_AUTHENTICATION: a
 * parameter is missing or repeated. */
int sas_read(const struct named_value *query, size_t n, struct sas *out, struct err *e) MUST_CHECK;

/* Appends the text to sign. `path`: the path of sas_path(), decoded: "/c1/a b.txt"; ignored for an
 * account signature. */
void sas_text(const struct sas *s, enum sas_service service, const char *account, const char *path,
              struct arena *a, struct strbuf *out);

/* The part of a request's decoded path that the signature is for, depending on its kind of
 * resource: the whole path, its first segment, or the given number of directories. */
const char *sas_path(const struct sas *s, const char *path, struct arena *a);

/* Checks whether a signature, whose text was verified, allows this use. The order of the checks is
 * Azure's; each has its own error. */
int sas_check(const struct sas *s, const struct sas_use *use, struct err *e) MUST_CHECK;

/* Reads a time of a signature or policy: a day, or an instant with or without seconds and fraction.
 * -1: the text is no time. */
int sas_time(const char *text, int64_t *us);

/* --- signatures of users ----------------------------------------------------------------------
 *
 * A logged-in user makes such a signature with a key that the daemon gave him for a limited time.
 * The signature allows no more than the user's roles.
 * https://learn.microsoft.com/rest/api/storageservices/create-user-delegation-sas */

#define DELEGATION_KEY_BYTES 32
/* Computes the key that a user got for signing. It is derived from parameters that each signature
 * contains, so it is not stored. `secret`: the daemon's secret. */
void delegation_key(const uint8_t secret[32], const struct sas *s,
                    unsigned char out[DELEGATION_KEY_BYTES]);
/* Whether a signature of this text was made with that key. */
bool delegation_signed(const uint8_t secret[32], const struct sas *s, const struct strbuf *text);
/* Finds the owner of the key. 1: *who is the owner; 0: the owner does not exist any more, or the
 * key is not valid at this time; *why has the reason; -1: error. */
int delegation_who(const struct directory *d, const struct sas *s, int64_t now_us,
                   struct principal *who, const char **why, struct err *e) MUST_CHECK;

#endif
