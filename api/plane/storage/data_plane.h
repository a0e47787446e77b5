/* SPDX-License-Identifier: MIT
 *
 * The shared parts of the storage accounts' data planes: access checks, headers and errors of
 * replies, and metadata.
 *
 * A plane is a service whose routes also have the required permissions: X(method, path, flags,
 * handler, operation id, resource, by account, by service). `resource` is a letter of the SAS
 * parameter srt. The last two are letters of sp: an account SAS or a service SAS needs one of them;
 * NULL: such a SAS never allows the operation.
 */
#ifndef API_PLANE_STORAGE_DATA_PLANE_H
#define API_PLANE_STORAGE_DATA_PLANE_H

#include "api/plane/storage/azstorage.h"
#include "api/plane/storage/errors.h"
#include "api/plane/storage/sas.h"
#include "model/resource.h"

struct data_place;

struct storage_need {
    char resource; /* s, c or o, as in srt */
    const char *by_account, *by_service;
};

#define PLANE_ROUTE(method, path, flags, handler, id, resource, by_account, by_service)            \
    {method, path, 0, flags, handler, id},
#define PLANE_NEED(method, path, flags, handler, id, resource, by_account, by_service)             \
    {resource, by_account, by_service},

/* The routes of a GET and of its HEAD, whose reply has no body. */
#define PLANE_READS(X, ...) X("GET", __VA_ARGS__) X("HEAD", __VA_ARGS__)

/* The end of a plane's service.c. Needs `plane` and `routes` before it. */
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
    const char *server;   /* value of the header Server */
    const char *share;    /* the plane's word for a share, such as "container" */
    int no_share;         /* kind of the error if no share has the name */
    /* kinds of the errors if a share of the name exists, or is being deleted */
    int share_exists, share_going;
    /* the needed permissions, one element for each route of the service */
    const struct storage_need *needs;
    /* also allows names that Azure Files forbids, because programs may have made such files in the
     * folder */
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
    bool secondary; /* the request is for the host ACCOUNT-secondary, which is read-only */
    bool has_share;
    struct share share; /* the share in the path, if has_share */
    enum grant_how how;
    struct sas sas;       /* set for GRANT_SAS */
    const char *perms;    /* for GRANT_SAS: the permissions of the SAS and of its stored policy */
    int version;          /* x-ms-version as a number: 20210608; 0: not sent */
    const char *detail;   /* AuthenticationErrorDetail; NULL: none */
    const char *policies; /* stored access policies of the share; NULL: none */
};

static inline struct grant *grant_of(const struct request *r)
{
    return r->grant;
}

/* The function `may` of a plane's service: finds account and share, and checks the key's signature,
 * the SAS or the token, before the body is read. Sets r->grant. */
int plane_may(struct request *r, const struct plane *plane, struct err *e) MUST_CHECK;
/* Checks a request with a token. AZSTORAGE_PERMISSION: no role allows the request. */
int plane_check_role(struct request *r, struct err *e) MUST_CHECK;
/* Checks a request that also sets a blob's tags: a SAS needs "t", the owner of a token a role for
 * tags. */
int plane_check_tags(struct request *r, struct err *e) MUST_CHECK;
/* Like plane_check_role(), for the source of a copy in another share or container. With "t" in
 * `needed` the request also reads the source's tags. */
int plane_check_role_of_source(struct request *r, const struct principal *who,
                               const struct data_place *place, const char *needed,
                               struct err *e) MUST_CHECK;
/* plane_is_delegated(): whether the SAS, whose signed text is `text`, is signed with a user
 * delegation key that has not expired, and whose owner still exists. plane_delegate_of() gets the
 * owner. */
bool plane_is_delegated(struct request *r, const struct sas *s, const struct strbuf *text);
int plane_delegate_of(struct request *r, const struct sas *s, struct principal **who,
                      struct err *e) MUST_CHECK;
bool grant_has(const struct grant *g, char permission);
/* Checks an operation that may overwrite a blob (`there`: the blob exists). In a SAS overwriting
 * needs "w"; "c" allows new blobs only. AZSTORAGE_OVERWRITE: it may not. */
int plane_check_overwrite(const struct grant *g, bool there, struct err *e) MUST_CHECK;

/* The functions `headers`, `words`, `error` and `too_long` of a plane's service. */
void plane_headers(struct request *r);
struct error_words plane_words(int kind);
struct replied *plane_error(struct request *r, struct error_words words, const struct err *e);
void plane_too_long(const char *why, struct strbuf *headers, struct strbuf *body);

/* Reads x-ms-version into the grant. AZSTORAGE_HEADER: it is no date. */
int plane_read_version(struct request *r, struct err *e) MUST_CHECK;
/* Whether the account lets containers be public (allowBlobPublicAccess). */
bool plane_may_be_public(const struct grant *g);

/* --- headers -------------------------------------------------------------------------------- */

/* Reads the x-ms-meta-* headers as JSON text; NULL: none. -1: a name is invalid, or they have too
 * many bytes. */
int metadata_read(struct request *r, const char **out, struct err *e) MUST_CHECK;
/* Adds the metadata to the reply, as headers. */
void metadata_reply(struct request *r, const char *metadata);

/* Stored access policies: policies_read() makes the text of the row from the request's body
 * (ROUTE_XML, optional); reply_policies() replies with the policies of such a text. */
int policies_read(struct request *r, const char **out, struct err *e) MUST_CHECK;
REPLIED reply_policies(struct request *r, const char *text);

/* Adds ETag and Last-Modified to the reply. */
void reply_state(struct request *r, uint64_t etag, int64_t modified_us);

#endif
