/* SPDX-License-Identifier: MIT
 *
 * The shared parts of the storage accounts' data planes: access checks, headers and errors of
 * replies, and metadata.
 *
 * A plane is a service whose rows also have the required permissions: X(method, path, flags,
 * handler, operation id, resource, by account, by service). `resource` is the letter of srt. The
 * last two are letters of sp: any of them is enough in an account's or a container's signature;
 * NULL: none is.
 */
#ifndef API_PLANE_STORAGE_DATA_PLANE_H
#define API_PLANE_STORAGE_DATA_PLANE_H

#include "api/plane/storage/azstorage.h"
#include "api/plane/storage/errors.h"
#include "api/plane/storage/sas.h"
#include "model/resource.h"

struct data_place;

struct storage_need {
    char resource; /* s, c or o */
    const char *by_account, *by_service;
};

#define PLANE_ROUTE(method, path, flags, handler, id, resource, by_account, by_service)            \
    {method, path, 0, flags, handler, id},
#define PLANE_NEED(method, path, flags, handler, id, resource, by_account, by_service)             \
    {resource, by_account, by_service},

/* The rows of a GET and of its HEAD, which has no body. */
#define PLANE_READS(X, ...) X("GET", __VA_ARGS__) X("HEAD", __VA_ARGS__)

/* The rest of a plane's service.c, behind its `plane` and its rows, `routes`. */
#define PLANE_SERVICE(room)                                                                        \
    static int may(struct request *r, struct err *e)                                               \
    {                                                                                              \
        return plane_may(r, &plane, e);                                                            \
    }                                                                                              \
    const struct service room##_service = {                                                        \
        .name = #room,                                                                             \
        .deps = "azstorage",                                                                       \
        .routes = routes,                                                                          \
        .n_routes = sizeof routes / sizeof routes[0],                                              \
        .versions = VERSIONS_NONE,                                                                 \
        .may = may,                                                                                \
        .audiences = AUDIENCE_STORAGE,                                                             \
        .body_max = REQUEST_BODY_MAX,                                                              \
        .words = plane_words,                                                                      \
        .error = plane_error,                                                                      \
        .too_long = plane_too_long,                                                                \
        .headers = plane_headers,                                                                  \
        .own_headers = true,                                                                       \
    }

struct plane {
    enum sas_service service;
    enum share_kind kind; /* the kind of its shares or containers */
    const char *server;   /* the Server header */
    const char *share;    /* its word for a share */
    int no_share;         /* its kind of error if no share has the name */
    /* the kinds of error if there is one of the name, and if it is being deleted */
    int share_exists, share_going;
    const struct storage_need *needs; /* one for each row of the service */
    /* allows names that Azure Files forbids: programs may have made such files in the folder */
    bool any_names;
};

enum grant_how {
    GRANT_NONE, /* no credentials: anonymous access */
    GRANT_KEY,
    GRANT_SAS,
    GRANT_TOKEN
};

/* The result of the access check of a request. */
struct grant {
    const struct plane *plane;
    struct storage_account account; /* id 0: no account of this name */
    bool secondary;                 /* the request names ACCOUNT-secondary: read-only */
    bool has_share;
    struct share share; /* the share in the path, if has_share */
    enum grant_how how;
    struct sas sas;       /* GRANT_SAS */
    const char *perms;    /* GRANT_SAS: its permissions, including its policy's */
    int version;          /* x-ms-version as a number: 20210608; 0: not sent */
    const char *detail;   /* AuthenticationErrorDetail; NULL: none */
    const char *policies; /* of the share; NULL: none */
};

static inline struct grant *grant_of(const struct request *r)
{
    return r->grant;
}

/* For the `may` of a plane's service: finds account and share, and checks the key's signature, the
 * SAS or the token, all by the head. Sets r->grant. */
int plane_may(struct request *r, const struct plane *plane, struct err *e) MUST_CHECK;
/* For requests with a token. AZSTORAGE_PERMISSION: no role allows the request. */
int plane_check_role(struct request *r, struct err *e) MUST_CHECK;
/* For a request that also sets a blob's tags: a signature needs "t", a token a role for tags. */
int plane_check_tags(struct request *r, struct err *e) MUST_CHECK;
/* Like plane_check_role(), for the source of a copy in another share or container; with "t" in
 * `needed` its tags are read too. */
int plane_check_role_of_source(struct request *r, const struct principal *who,
                               const struct data_place *place, const char *needed,
                               struct err *e) MUST_CHECK;
/* Whether a signature was made from this text with a user delegation key that has not expired and
 * whose owner still exists; gets the owner. */
bool plane_is_delegated(struct request *r, const struct sas *s, const struct strbuf *text);
int plane_delegate_of(struct request *r, const struct sas *s, struct principal **who,
                      struct err *e) MUST_CHECK;
bool grant_has(const struct grant *g, char permission);
/* For an operation that may overwrite a blob (`there`: one exists): overwriting needs "w" in a
 * signature; "c" allows new blobs only. AZSTORAGE_OVERWRITE. */
int plane_check_overwrite(const struct grant *g, bool there, struct err *e) MUST_CHECK;

/* The `headers`, `error` and `too_long` of a plane's service. */
void plane_headers(struct request *r);
struct error_words plane_words(int kind);
struct replied *plane_error(struct request *r, struct error_words words, const struct err *e);
void plane_too_long(const char *why, struct strbuf *headers, struct strbuf *body);

/* Reads x-ms-version into the grant. AZSTORAGE_HEADER: not a date. */
int plane_read_version(struct request *r, struct err *e) MUST_CHECK;
/* Whether the account lets containers be public (allowBlobPublicAccess). */
bool plane_may_be_public(const struct grant *g);

/* --- headers -------------------------------------------------------------------------------- */

/* The x-ms-meta-* headers as JSON text; NULL: none. -1: an invalid name, or too many bytes. */
int metadata_read(struct request *r, const char **out, struct err *e) MUST_CHECK;
/* Adds the metadata to the reply, as headers. */
void metadata_reply(struct request *r, const char *metadata);

/* Stored access policies: from the body of a request (ROUTE_XML, optional) to the text of a row,
 * and back. */
int policies_read(struct request *r, const char **out, struct err *e) MUST_CHECK;
REPLIED reply_policies(struct request *r, const char *text);

/* ETag and Last-Modified. */
void reply_state(struct request *r, uint64_t etag, int64_t modified_us);

#endif
