/* SPDX-License-Identifier: MIT
 *
 * The handlers of Azure Files, and their shared functions.
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

/* The first version with leases of files: older clients fail at their headers. */
#define FILE_LEASES_SINCE  20190707
#define SHARE_LEASES_SINCE 20200210

/* The file or directory of a request. */
struct azfile {
    const char *folder; /* the share's */
    const char *path;   /* below the share; "": the folder itself */
};
/* Errors: the share does not exist; the path is invalid. */
int azfile_of(struct request *r, struct azfile *out, struct err *e) MUST_CHECK;

struct azfile_change;
/* A handler's next step after storage/folders/ has looked; c->item has the notes, c->facts the
 * facts. Finishes the request, or starts further work. */
typedef void (*azfile_then)(struct azfile_change *c);

/* A change that runs in storage/folders/; in the request's arena. */
struct azfile_change {
    struct request *r;
    struct azfile at;
    struct share_item item; /* the notes to write afterwards */
    azfile_then then;
    bool is_directory;       /* the wanted item is a directory */
    int64_t mtime_ns;        /* the time to set, or FILES_TIME_KEPT */
    struct file_facts facts; /* of the item that was found */
    struct turn turn;        /* look.c's, for azfile_to_change() */
};
struct azfile_change *azfile_change(struct request *r, const struct azfile *at);

/* Every handler of a change ends with a call of azfile_finish() or azfile_fail(). Both end the turn
 * of the change, too. */
void azfile_finish(struct azfile_change *c, struct replied *done);
void azfile_fail(struct azfile_change *c, const struct err *e);
/* Sets the time that the request gives, if any, on a new file; then calls `then`. */
void azfile_made(struct azfile_change *c, const struct err *why, const struct file_result *f,
                 files_changed then);
/* False: the change failed, and the request was answered with the error. */
bool azfile_went_well(struct azfile_change *c, const struct err *why, const struct file_result *f);
/* Looks at the request's file or directory, and continues with `then`; 404 if it does not exist or
 * has the other type. */
REPLIED azfile_look(struct request *r, bool is_directory, azfile_then then);
/* Like azfile_look(), but in the file's turn, so that no other request changes the file or its
 * notes meanwhile. */
REPLIED azfile_to_change(struct request *r, bool is_directory, azfile_then then);
extern const struct lease_errors azfile_leased;
/* Whether the request may change (needs_id) or read a leased file. */
int azfile_may(struct request *r, const struct share_item *i, bool needs_id,
               struct err *e) MUST_CHECK;
/* The file does not exist: a lease in its notes belongs to an earlier file that somebody else has
 * removed. */
void azfile_without_lease(struct share_item *i);
/* Writes the notes with the next revision. */
int azfile_note(struct request *r, struct share_item *i, struct err *e) MUST_CHECK;
/* The usual reply to a change: the file's state, no body. */
REPLIED azfile_changed(struct request *r, int status, const struct file_facts *f,
                       const struct share_item *i);

/* A new file: the file and its notes change together, even if the daemon is killed. */
struct azplacing {
    struct azfile at;                   /* set by the caller: */
    void (*ready)(struct azplacing *p); /* called in the file's turn, after the look */
    /* Called before the notes are written: fills in members that depend on the file. NULL: none do.
     * May be called twice. */
    void (*fill)(struct azplacing *p, const struct file_facts *f);
    void (*done)(struct azplacing *p, const struct file_facts *f);
    int64_t mtime_ns;       /* the file's time, or FILES_TIME_KEPT: set by `ready` */
    const char *properties; /* set by `ready`; the other notes are in `item` */
    struct share_item item; /* the notes to write: first the old ones, with the next revision */
    struct file_upload *upload;

    struct request *r; /* these are placing.c's */
    void (*begun)(struct azplacing *p);
    struct turn turn;
    bool was_there, is_noted;
    struct file_facts there; /* the present file, */
    struct share_item was;   /* and its notes */
    struct journal_entry entry;
};
struct replied *azplacing_begin(struct azplacing *p, struct request *r);
/* Begins an upload of `size` zeros, which take no disk space, and continues with `begun`. */
void azplacing_upload(struct azplacing *p, uint64_t size, void (*begun)(struct azplacing *p));
/* All bytes are there. */
void azplacing_place(struct azplacing *p);
/* Every path of a new file must end with a call of azplacing_finish() or azplacing_fail(). */
void azplacing_finish(struct azplacing *p, struct replied *done);
void azplacing_fail(struct azplacing *p, const struct err *e);

/* The notes of a copy's source. */
struct smb_source {
    const struct file_facts *facts;
    const struct share_item *item;
};
/* Reads x-ms-file-attributes and the times of a request. *properties: in, the properties from its
 * headers; out, with these added. `old`: the properties of the item, for values to preserve ("": it
 * has none; NULL: the item is new). `from` NULL: the request is no copy. *mtime_ns: the time to
 * set, or FILES_TIME_KEPT. */
int smb_read(struct request *r, const char *old, const struct smb_source *from,
             const char **properties, int64_t *mtime_ns, struct err *e) MUST_CHECK;
/* Call before the notes are written: a noted time of change refers to the file's present change. */
void smb_changed(struct request *r, const char **properties, const struct file_facts *f);
/* x-ms-file-attributes. */
const char *smb_attributes(struct request *r, const struct file_facts *f,
                           const struct share_item *i);
/* x-ms-file-creation-time and similar headers, as item_time() writes them. */
struct smb_times {
    const char *created;
    char accessed[ITEM_TIME_SIZE], written[ITEM_TIME_SIZE], changed[ITEM_TIME_SIZE];
};
void smb_times(struct request *r, const struct file_facts *f, const struct share_item *i,
               struct smb_times *out);

/* 404 unless the share exists, and errors of its lease. needs_id: only the lease's holder may do
 * this. */
int azshare_find(struct request *r, bool needs_id, struct err *e) MUST_CHECK;
/* x-ms-share-quota; `fallback` without it. */
int azshare_quota(struct request *r, int fallback, int *out, struct err *e) MUST_CHECK;
#define AZRANGE_MAX (4 * 1024 * 1024) /* bytes of a range that is written or hashed */
void azfile_md5_reply(struct request *r, const uint8_t md5[]); /* FILES_MD5 bytes */
/* x-ms-content-length. */
int azfile_size(struct request *r, uint64_t *out, struct err *e) MUST_CHECK;

/* The service's error for a fault of a file. */
int azfile_fault(const struct err *why, enum file_fault fault, struct err *e);

/* Like azfile_fault(), for a new file: a client that may only create must not overwrite. */
int azfile_fault_of_new(const struct request *r, const struct err *why, enum file_fault fault,
                        struct err *e);

/* Adds ETag, Last-Modified and the headers of files: attributes, times, ids. */
void azfile_state(struct request *r, const struct file_facts *f, const struct share_item *i);

struct replied *azfile_copy(struct request *r);

#endif
