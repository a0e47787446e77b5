/* SPDX-License-Identifier: MIT
 *
 * The handlers of Azure Files and what they share.
 */
#ifndef API_PLANE_FILE_HANDLERS_H
#define API_PLANE_FILE_HANDLERS_H

#include "api/plane/file/routes.h"
#include "api/plane/storage/items.h"
#include "api/plane/storage/leases.h"
#include "api/plane/storage/source.h"
#include "api/plane/storage/write_lock.h"
#include "storage/folders/change.h"
#include "storage/shares/journal.h"

/* The versions that leases came with: older clients stumble over their headers. */
#define FILE_LEASES_SINCE  20190707
#define SHARE_LEASES_SINCE 20200210

/* What a request is about. */
struct azfile {
    const char *folder; /* the share's */
    const char *path;   /* below it; "": the folder itself */
};
/* Errors: there is no such share; the path is none. */
int azfile_of(struct request *r, struct azfile *out, struct err *e) MUST_CHECK;

struct azfile_change;
/* What a handler goes on with when storage/folders/ has looked; c->item is what is noted, c->facts
 * what was found. It finishes the request, or asks for more. */
typedef void (*azfile_then)(struct azfile_change *c);

/* A change that a handler has asked storage/folders/ for: kept with the request. */
struct azfile_change {
    struct request *r;
    struct azfile at;
    struct share_item item; /* what is to be noted afterwards */
    azfile_then then;
    bool is_directory;       /* what is looked for */
    int64_t mtime_ns;        /* to be set, or FILES_TIME_KEPT */
    struct file_facts facts; /* of what was found */
};
struct azfile_change *azfile_change(struct request *r, const struct azfile *at);

/* Answers with an error. */
void azfile_fail(struct request *r, const struct err *e);
/* What was made gets the time that the request gave it, if any; `then` has `c` and what came of it.
 */
void azfile_made(struct azfile_change *c, const struct err *why, const struct file_result *f,
                 files_changed then);
/* False: the request was answered with why it went wrong. */
bool azfile_went_well(struct azfile_change *c, const struct err *why, const struct file_result *f);
/* Looks at the file or directory that the request is about, and goes on with `then`; 404 if it is
 * not there, or is of the other type. */
REPLIED azfile_look(struct request *r, bool is_directory, azfile_then then);
extern const struct lease_errors azfile_leased;
/* Whether the request may change (needs_id) or read what is leased. */
int azfile_may(struct request *r, const struct share_item *i, bool needs_id,
               struct err *e) MUST_CHECK;
/* Writes what is noted, as one more revision. */
int azfile_note(struct request *r, struct share_item *i, struct err *e) MUST_CHECK;
/* The usual end of a change: its state, no body. */
REPLIED azfile_changed(struct request *r, int status, const struct file_facts *f,
                       const struct share_item *i);

/* A file that is made anew: it and what is noted of it are one version, whatever ends the daemon.
 */
struct azplacing {
    struct azfile at;                   /* these are set by the caller; */
    void (*ready)(struct azplacing *p); /* its turn has come, and what is there is known */
    /* Before it is noted: what it is depends on. NULL: on nothing else. May be called twice. */
    void (*fill)(struct azplacing *p, const struct file_facts *f);
    void (*done)(struct azplacing *p, const struct file_facts *f);
    int64_t mtime_ns;       /* of the file, or FILES_TIME_KEPT: by `ready` */
    const char *properties; /* likewise; the rest is in `item` */
    struct share_item item; /* what is to be noted: first what was, one revision on */
    struct file_upload *upload;

    struct request *r; /* these are placing.c's */
    void (*begun)(struct azplacing *p);
    struct turn turn;
    bool in_turn, was_there, is_noted;
    struct file_facts there; /* what is at the place, */
    struct share_item was;   /* and noted of it */
    struct journal_entry entry;
};
struct replied *azplacing_begin(struct azplacing *p, struct request *r);
/* Begins an upload with that many zeros, which take no room, and goes on with `begun`. */
void azplacing_upload(struct azplacing *p, uint64_t size, void (*begun)(struct azplacing *p));
/* All bytes are there. */
void azplacing_place(struct azplacing *p);
/* Each way ends with one of these. */
void azplacing_finish(struct azplacing *p, struct replied *done);
void azplacing_fail(struct azplacing *p, const struct err *e);

/* What a copy is made of. */
struct smb_source {
    const struct file_facts *facts;
    const struct share_item *item;
};
/* x-ms-file-attributes and times of a request. *properties: of its headers, and then with these
 * too. `old`: those of the item, for what is to be preserved, "" if it has none; NULL: it is new.
 * `from`: NULL: it is no copy. *mtime_ns: to be set, or FILES_TIME_KEPT. */
int smb_read(struct request *r, const char *old, const struct smb_source *from,
             const char **properties, int64_t *mtime_ns, struct err *e) MUST_CHECK;
/* Before these are noted: a time of change that they have is that of the file as it is now. */
void smb_changed(struct request *r, const char **properties, const struct file_facts *f);
/* x-ms-file-attributes. */
const char *smb_attributes(struct request *r, const struct file_facts *f,
                           const struct share_item *i);
/* x-ms-file-creation-time and the others, as item_time() writes them. */
struct smb_times {
    const char *created;
    char accessed[ITEM_TIME_SIZE], written[ITEM_TIME_SIZE], changed[ITEM_TIME_SIZE];
};
void smb_times(struct request *r, const struct file_facts *f, const struct share_item *i,
               struct smb_times *out);

/* 404 unless the share is there, and errors of its lease: needs_id: what the request wants may only
 * be done by whoever holds it. */
int azshare_find(struct request *r, bool needs_id, struct err *e) MUST_CHECK;
/* x-ms-share-quota; `fallback` without it. */
int azshare_quota(struct request *r, int fallback, int *out, struct err *e) MUST_CHECK;
#define AZRANGE_MAX (4 * 1024 * 1024) /* bytes of a range that is written, or hashed */
void azfile_md5_reply(struct request *r, const uint8_t md5[]); /* FILES_MD5 bytes */
/* x-ms-content-length. */
int azfile_size(struct request *r, uint64_t *out, struct err *e) MUST_CHECK;

/* The service's error for what went wrong with a file. */
int azfile_fault(const struct err *why, enum file_fault fault, struct err *e);

/* Likewise, where a file was to be made: whoever may only create does not write over one. */
int azfile_fault_of_new(const struct request *r, const struct err *why, enum file_fault fault,
                        struct err *e);

/* ETag, Last-Modified and what is particular to files: attributes, times, ids. */
void azfile_state(struct request *r, const struct file_facts *f, const struct share_item *i);

struct replied *azfile_copy(struct request *r);

#endif
