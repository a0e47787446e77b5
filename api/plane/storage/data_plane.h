/* SPDX-License-Identifier: MIT
 *
 * What the data planes of storage accounts share: who may, the headers and errors of their replies,
 * and metadata.
 *
 * A plane is a service whose rows also say what they need of whoever asks: X(method, path, flags,
 * handler, operation id, resource, by account, by service). `resource` is the letter of srt; the
 * last two say which letters of sp, any of them, an account's or a container's signature needs, and
 * NULL that none is enough.
 */
#ifndef API_PLANE_STORAGE_DATA_PLANE_H
#define API_PLANE_STORAGE_DATA_PLANE_H

#include "api/plane/storage/azstorage.h"
#include "api/plane/storage/errors.h"
#include "api/plane/storage/sas.h"
#include "model/resource.h"

struct storage_need {
    char resource; /* s, c or o */
    const char *by_account, *by_service;
};

#define PLANE_ROUTE(method, path, flags, handler, id, resource, by_account, by_service)            \
    {method, path, 0, flags, handler, id},
#define PLANE_NEED(method, path, flags, handler, id, resource, by_account, by_service)             \
    {resource, by_account, by_service},

/* The rows of a GET and of the HEAD that is the same without a body. */
#define PLANE_READS(X, ...) X("GET", __VA_ARGS__) X("HEAD", __VA_ARGS__)

/* The rest of a plane's service.c, behind its `plane` and its rows, `routes`. */
#define PLANE_SERVICE(room)                                                                        \
    static int may(struct request *r, struct err *e)                                               \
    {                                                                                              \
        return plane_may(r, &plane, e);                                                            \
    }                                                                                              \
    const struct service room##_service = {                                                        \
        .name = #room,                                                                             \
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
    enum share_kind kind;             /* of what it calls share or container */
    const char *server;               /* the Server header */
    const char *share;                /* what it calls a share */
    int no_share;                     /* its kind of error if there is none of the name */
    int share_exists, share_going;    /* likewise if there is one, and if it is being deleted */
    const struct storage_need *needs; /* one for each row of the service */
};

enum grant_how {
    GRANT_NONE, /* nothing was sent: what anybody may */
    GRANT_KEY,
    GRANT_SAS,
    GRANT_TOKEN
};

/* What is known of a request once it may. */
struct grant {
    const struct plane *plane;
    struct storage_account account; /* id 0: there is none of this name */
    bool secondary;                 /* asked for as ACCOUNT-secondary: to be read only */
    bool has_share;
    struct share share; /* that the path names, if has_share */
    enum grant_how how;
    struct sas sas;       /* GRANT_SAS */
    const char *perms;    /* GRANT_SAS: what it grants, its policy's included */
    int version;          /* x-ms-version as a number: 20210608; 0: none was sent */
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
/* For whoever has a token. AZSTORAGE_PERMISSION: no role allows it. */
int plane_check_role(struct request *r, struct err *e) MUST_CHECK;
/* For a request that sets a blob's tags besides: a signature needs "t", a token a role for tags. */
int plane_check_tags(struct request *r, struct err *e) MUST_CHECK;
/* Likewise for somebody, to read what is in another share or container: the source of a copy; with
 * a "t" in `needed` its tags too. */
int plane_check_role_of_source(struct request *r, const struct principal *who,
                               const struct storage_account *account, enum share_kind kind,
                               const char *share, const char *needed, struct err *e) MUST_CHECK;
/* A signature with a user delegation key: whether it was made with that key of this text, and whose
 * the key is, who must still be somebody, and its time not over. */
bool plane_is_delegated(struct request *r, const struct sas *s, const struct strbuf *text);
int plane_delegate_of(struct request *r, const struct sas *s, struct principal **who,
                      struct err *e) MUST_CHECK;
bool grant_has(const struct grant *g, char permission);
/* For what puts a blob where one may be (`there`): a signature needs "w" to write over it; "c"
 * alone makes new ones. AZSTORAGE_OVERWRITE. */
int plane_check_overwrite(const struct grant *g, bool there, struct err *e) MUST_CHECK;

/* The `headers`, `error` and `too_long` of a plane's service. */
void plane_headers(struct request *r);
struct error_words plane_words(int kind);
struct replied *plane_error(struct request *r, struct error_words words, const struct err *e);
void plane_too_long(const char *why, struct strbuf *headers, struct strbuf *body);

/* Reads x-ms-version into the grant. AZSTORAGE_HEADER: it is no date. */
int plane_read_version(struct request *r, struct err *e) MUST_CHECK;
/* Whether the account lets containers be public (allowBlobPublicAccess). */
bool plane_may_be_public(const struct grant *g);

/* --- headers -------------------------------------------------------------------------------- */

/* The x-ms-meta-* headers as JSON text; NULL: there are none. -1: a name that is none, or too much
 * of them. */
int metadata_read(struct request *r, const char **out, struct err *e) MUST_CHECK;
/* The other way round. */
void metadata_reply(struct request *r, const char *metadata);

/* Stored access policies: from the body of a request (ROUTE_XML, which may be missing) to the text
 * of a row, and back. */
int policies_read(struct request *r, const char **out, struct err *e) MUST_CHECK;
REPLIED reply_policies(struct request *r, const char *text);

/* ETag and Last-Modified. */
void reply_state(struct request *r, uint64_t etag, int64_t modified_us);

#endif
