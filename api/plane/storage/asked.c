/* SPDX-License-Identifier: MIT
 *
 * A table of features of Azure Storage that are not served here. A row lists the values that ask
 * for what the daemon does anyway; any other value is refused, with the row's reason. Called after
 * the access check and before the handler, on the loop's thread.
 */
#include "api/plane/storage/asked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/plane/storage/errors.h"

struct asked_range {
    const char *name;
    /* values, separated by commas, that match the daemon's behaviour; NULL: none */
    const char *same;
    const char *why;
    const char *const *but; /* operations that serve the feature, up to a NULL; NULL: none */
    int kind;               /* kind of the error; 0: the default one */
};

#define NO_KEYS   "blobs are kept as they are, with no encryption of their own"
#define NO_POLICY "there are neither legal holds nor policies of immutability"
#define NO_NFS    "shares are not served by NFS"
#define NO_PAGES  "page blobs are not served"
#define NO_HASH   "only Append Block From URL compares copied bytes with a hash"
#define NO_FRAMES                                                                                  \
    "only Put Blob, Put Block, Append Block and Get Blob have structured messages as bodies"
#define NO_LIMITS  "the throughput of a share cannot be limited"
#define NO_SHARES  "shares have no snapshots"
#define THE_SCOPE  "$account-encryption-key"
#define NO_TIMES   "the time of the last tier change is not recorded"
#define NO_TAG_IFS "the only condition for tags is x-ms-if-tags"

static const char *const hashed[] = {"AppendBlob_AppendBlock", NULL};
static const char *const framed[] = {"BlockBlob_Upload", "BlockBlob_StageBlock",
                                     "AppendBlob_AppendBlock", "Blob_Download", NULL};

/* Headers, sorted by their names without "x-ms-". */
static const struct asked_range headers[] = {
    {"access-tier-if-modified-since", NULL, NO_TIMES, NULL, 0},
    {"access-tier-if-unmodified-since", NULL, NO_TIMES, NULL, 0},
    {"blob-if-match", NULL, NO_TAG_IFS, NULL, 0},
    {"blob-if-modified-since", NULL, NO_TAG_IFS, NULL, 0},
    {"blob-if-none-match", NULL, NO_TAG_IFS, NULL, 0},
    {"blob-if-unmodified-since", NULL, NO_TAG_IFS, NULL, 0},
    {"default-encryption-scope", THE_SCOPE, NO_KEYS, NULL, 0},
    {"deny-encryption-scope-override", "false", NO_KEYS, NULL, 0},
    {"enable-snapshot-virtual-directory-access", "false", NO_NFS, NULL, 0},
    {"enabled-protocols", "SMB", NO_NFS, NULL, 0},
    {"encryption-algorithm", NULL, NO_KEYS, NULL, 0},
    {"encryption-key", NULL, NO_KEYS, NULL, 0},
    {"encryption-key-sha256", NULL, NO_KEYS, NULL, 0},
    {"encryption-scope", THE_SCOPE, NO_KEYS, NULL, 0},
    {"file-file-type", "Regular", NO_NFS, NULL, 0},
    {"file-mode-copy-mode", NULL, NO_NFS, NULL, 0},
    {"file-owner-copy-mode", NULL, NO_NFS, NULL, 0},
    {"file-permission-format", "sddl", "permissions are shown as SDDL alone", NULL, 0},
    {"file-property-semantics", "New", "properties are set as for a new file", NULL, 0},
    {"file-target-file", NULL, NO_NFS, NULL, 0},
    {"group", NULL, NO_NFS, NULL, 0},
    {"if-sequence-number-eq", NULL, NO_PAGES, NULL, 0},
    {"if-sequence-number-le", NULL, NO_PAGES, NULL, 0},
    {"if-sequence-number-lt", NULL, NO_PAGES, NULL, 0},
    {"immutability-policy-mode", NULL, NO_POLICY, NULL, 0},
    {"immutability-policy-until-date", NULL, NO_POLICY, NULL, 0},
    {"legal-hold", "false", NO_POLICY, NULL, 0},
    {"link-text", NULL, NO_NFS, NULL, 0},
    {"mode", NULL, NO_NFS, NULL, 0},
    {"owner", NULL, NO_NFS, NULL, 0},
    {"page-write", NULL, NO_PAGES, NULL, 0},
    {"previous-snapshot-url", NULL, NO_PAGES, NULL, 0},
    {"root-squash", NULL, NO_NFS, NULL, 0},
    {"sequence-number-action", NULL, NO_PAGES, NULL, 0},
    {"share-paid-bursting-enabled", "false", NO_LIMITS, NULL, 0},
    {"share-paid-bursting-max-bandwidth-mibps", NULL, NO_LIMITS, NULL, 0},
    {"share-paid-bursting-max-iops", NULL, NO_LIMITS, NULL, 0},
    {"share-provisioned-bandwidth-mibps", NULL, NO_LIMITS, NULL, 0},
    {"share-provisioned-iops", NULL, NO_LIMITS, NULL, 0},
    {"source-content-crc64", NULL, NO_HASH, hashed, 0},
    {"source-content-md5", NULL, NO_HASH, hashed, 0},
    {"source-encryption-algorithm", NULL, NO_KEYS, NULL, 0},
    {"source-encryption-key", NULL, NO_KEYS, NULL, 0},
    {"source-encryption-key-sha256", NULL, NO_KEYS, NULL, 0},
    {"source-if-match-crc64", NULL, NO_HASH, NULL, 0},
    {"source-if-none-match-crc64", NULL, NO_HASH, NULL, 0},
    {"structured-body", NULL, NO_FRAMES, framed, 0},
};

static const struct asked_range parameters[] = {
    {"deletetype", NULL, "deleted items are not kept", NULL, 0},
    {"endbefore", NULL, "the end of a list cannot be chosen; use prefix", NULL, 0},
    {"prevsharesnapshot", NULL, NO_SHARES, NULL, AZSTORAGE_SNAPSHOTS},
    {"prevsnapshot", NULL, NO_PAGES, NULL, 0},
    {"sharesnapshot", NULL, NO_SHARES, NULL, AZSTORAGE_SNAPSHOTS},
    {"showonly", NULL, "lists always show all kinds of entries", NULL, 0},
    {"startfrom", NULL, "the start of a list cannot be chosen; use prefix or marker", NULL, 0},
    {"versionid", NULL, "blobs have no versions", NULL, 0},
};

#define PREFIX "x-ms-"

static int compare(const void *name, const void *row)
{
    return strcasecmp(name, ((const struct asked_range *)row)->name);
}

static const struct asked_range *find(const struct asked_range *rows, size_t n, const char *name)
{
    return bsearch(name, rows, n, sizeof *rows, compare);
}

static bool is_same(const struct asked_range *a, const char *value)
{
    return !*value || (a->same && strcasecmp(a->same, value) == 0);
}

static bool matters(const struct request *r, const struct asked_range *a)
{
    for (const char *const *name = a->but; name && *name; name++)
        if (strcmp(r->route->operation_id, *name) == 0)
            return false;
    return true;
}

static int refuse(int kind, const char *what, const char *prefix, const struct asked_range *a,
                  struct err *e)
{
    char name[80];
    snprintf(name, sizeof name, "%s%s", prefix, a->name);
    return err_set(e, a->kind ? a->kind : kind, name, "The %s %s is not served: %s.%s%s%s", what,
                   name, a->why, a->same ? " It may be '" : "", a->same ? a->same : "",
                   a->same ? "'." : "");
}

int asked_check(struct request *r, struct err *e)
{
    size_t n;
    const struct named_value *h = request_headers(r, &n);
    for (size_t i = 0; i < n; i++) {
        if (strncasecmp(h[i].name, PREFIX, strlen(PREFIX)) != 0)
            continue;
        const struct asked_range *a =
            find(headers, sizeof headers / sizeof *headers, h[i].name + strlen(PREFIX));
        if (a && !is_same(a, h[i].value) && matters(r, a))
            return refuse(AZSTORAGE_HEADER_UNSUPPORTED, "header", PREFIX, a, e);
    }
    const struct named_value *q = request_parameters(r, &n);
    for (size_t i = 0; i < n; i++) {
        const struct asked_range *a =
            find(parameters, sizeof parameters / sizeof *parameters, q[i].name);
        if (a && !is_same(a, q[i].value))
            return refuse(AZSTORAGE_QUERY_UNSUPPORTED, "query parameter", "", a, e);
    }
    return 0;
}

const char *asked_operation(struct request *r)
{
    static const struct {
        const char *comp, *what;
    } operations[] = {
        {"page", "Page blobs are not served."},
        {"pagelist", "Page blobs are not served."},
        {"incrementalcopy", "Page blobs are not served, so there are no incremental copies."},
        {"query", "Queries of the contents of blobs are not served."},
        {"expiry", "Blobs do not expire."},
        {"immutabilitypolicies", "Immutability policies are not served."},
        {"legalhold", "Legal holds are not served."},
        {"rename", "Containers are not renamed."},
        {"stats", "There is no second location with statistics."},
        {"undelete", "The daemon's 'batchaid storage restore' brings back what was deleted."},
    };
    const char *comp = request_query(r, "comp");
    for (size_t i = 0; comp && i < sizeof operations / sizeof *operations; i++)
        if (strcasecmp(operations[i].comp, comp) == 0)
            return operations[i].what;
    return NULL;
}
