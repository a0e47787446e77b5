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

/* The first api-version with leases of files (or shares). Clients of older versions fail if a reply
 * has their headers. */
#define FILE_LEASES_SINCE  20190707
#define SHARE_LEASES_SINCE 20200210

/* The file or directory of a request. */
struct azfile {
    const char *folder; /* the share's folder */
    const char *path;   /* relative to the share; "": the folder itself */
};
/* Finds the request's file or directory. Errors: the share does not exist; the path is invalid. */
int azfile_of(struct request *r, struct azfile *out, struct err *e) MUST_CHECK;

struct azfile_change;
/* The next step of a handler, called when the item has been found: c->item has its notes (its row),
 * c->facts the facts. Finishes the request, or starts further work. */
typedef void (*azfile_then)(struct azfile_change *c);

/* A change that workers of storage/folders/ carry out; in the request's arena. */
struct azfile_change {
    struct request *r;
    struct azfile at;
    struct share_item item; /* the row, to be written after the change */
    azfile_then then;
    bool is_directory;       /* whether the wanted item is a directory */
    int64_t mtime_ns;        /* the time to set, or FILES_TIME_KEPT */
    struct file_facts facts; /* facts of the item that was found */
    struct turn turn;        /* used by azfile_to_change(); private to look.c */
};
struct azfile_change *azfile_change(struct request *r, const struct azfile *at);

/* Every handler of a change ends with a call of azfile_finish() or azfile_fail(). Both end the turn
 * of the change, too. */
void azfile_finish(struct azfile_change *c, struct replied *done);
void azfile_fail(struct azfile_change *c, const struct err *e);
/* A new item was made: sets the modification time in the request, if there is one, then calls
 * `then`. */
void azfile_made(struct azfile_change *c, const struct err *why, const struct file_result *f,
                 files_changed then);
/* True: go on; false: the change failed, and the request has got the error as its reply. */
bool azfile_went_well(struct azfile_change *c, const struct err *why, const struct file_result *f);
/* Finds the request's file or directory, and continues with `then`; 404 if it does not exist or is
 * of the other type. */
REPLIED azfile_look(struct request *r, bool is_directory, azfile_then then);
/* Like azfile_look(), but in the file's turn (write_lock.h), during which no other request changes
 * the file or its row. */
REPLIED azfile_to_change(struct request *r, bool is_directory, azfile_then then);
extern const struct lease_errors azfile_leased;
/* Checks the lease of a file for a request that changes it (needs_id) or reads it. */
int azfile_may(struct request *r, const struct share_item *i, bool needs_id,
               struct err *e) MUST_CHECK;
/* For a file that does not exist: removes a lease from its row. The lease was of an earlier file,
 * which somebody else has removed. */
void azfile_without_lease(struct share_item *i);
/* Writes the row with the next revision. */
int azfile_note(struct request *r, struct share_item *i, struct err *e) MUST_CHECK;
/* The usual reply to a change: the file's state, no body. */
REPLIED azfile_changed(struct request *r, int status, const struct file_facts *f,
                       const struct share_item *i);

/* A new file. The file and its row change together, even if the daemon is killed. */
struct azplacing {
    struct azfile at; /* The caller sets this member and the next three. */
    /* called in the file's turn (write_lock.h), when the present file has been looked at */
    void (*ready)(struct azplacing *p);
    /* Called before the row is written: sets the members of `item` that depend on the file. May be
     * called twice. NULL: no member depends on the file. */
    void (*fill)(struct azplacing *p, const struct file_facts *f);
    void (*done)(struct azplacing *p, const struct file_facts *f);
    int64_t mtime_ns;       /* the file's time, or FILES_TIME_KEPT: set by `ready` */
    const char *properties; /* set by `ready`; `item` has the other notes */
    struct share_item item; /* the row to write: at first the old row with the next revision */
    struct file_upload *upload;

    struct request *r; /* This member and those below are private to placing.c. */
    void (*begun)(struct azplacing *p);
    struct turn turn;
    bool was_there, is_noted;
    struct file_facts there; /* facts of the present file */
    struct share_item was;   /* row of the present file */
    struct journal_entry entry;
};
struct replied *azplacing_begin(struct azplacing *p, struct request *r);
/* Ends the file's turn, and the upload, from `ready` on; then azplacing_again() begins with the
 * turn, or azplacing_fail() ends. */
void azplacing_leave(struct azplacing *p);
void azplacing_again(struct azplacing *p);
/* Begins an upload of `size` zeros, which take no disk space, and continues with `begun`. */
void azplacing_upload(struct azplacing *p, uint64_t size, void (*begun)(struct azplacing *p));
/* The upload has all bytes: puts the file in its place. */
void azplacing_place(struct azplacing *p);
/* Every path of a new file must end with a call of azplacing_finish() or azplacing_fail(). */
void azplacing_finish(struct azplacing *p, struct replied *done);
void azplacing_fail(struct azplacing *p, const struct err *e);

/* The facts and the row of a copy's source. */
struct smb_source {
    const struct file_facts *facts;
    const struct share_item *item;
};
/* Reads x-ms-file-attributes and the times of a request. *properties: before the call the other
 * properties of the request; these are added. `old`: the item's old properties, from which values
 * may be preserved ("": it has none; NULL: the item is new). `from` NULL: the request is no copy.
 * *mtime_ns: the modification time to set, or FILES_TIME_KEPT. */
int smb_read(struct request *r, const char *old, const struct smb_source *from,
             const char **properties, int64_t *mtime_ns, struct err *e) MUST_CHECK;
/* Call before the row is written: marks a given time of change as valid for the present change of
 * the file only. */
void smb_changed(struct request *r, const char **properties, const struct file_facts *f);
/* The value of the header x-ms-file-attributes. */
const char *smb_attributes(struct request *r, const struct file_facts *f,
                           const struct share_item *i);
/* The values of x-ms-file-creation-time and similar headers, in the form of item_time(). */
struct smb_times {
    const char *created;
    char accessed[ITEM_TIME_SIZE], written[ITEM_TIME_SIZE], changed[ITEM_TIME_SIZE];
};
void smb_times(struct request *r, const struct file_facts *f, const struct share_item *i,
               struct smb_times *out);

/* Fails with 404 if the share does not exist, or with an error of its lease. needs_id: only the
 * lease's holder may do this. */
int azshare_find(struct request *r, bool needs_id, struct err *e) MUST_CHECK;
/* Reads x-ms-share-quota; without the header *out is `fallback`. */
int azshare_quota(struct request *r, int fallback, int *out, struct err *e) MUST_CHECK;
#define AZRANGE_MAX (4 * 1024 * 1024) /* most bytes of a range that is written or hashed */
void azfile_md5_reply(struct request *r, const uint8_t md5[]); /* FILES_MD5 bytes */
/* Reads x-ms-content-length. */
int azfile_size(struct request *r, uint64_t *out, struct err *e) MUST_CHECK;

/* Sets Azure's error for a fault of a file. Returns -1. */
int azfile_fault(const struct err *why, enum file_fault fault, struct err *e);

/* Like azfile_fault(), for a new file. A client that may create but not overwrite gets another
 * error for an existing file. */
int azfile_fault_of_new(const struct request *r, const struct err *why, enum file_fault fault,
                        struct err *e);

/* Adds ETag, Last-Modified and the headers of files: attributes, times, ids. */
void azfile_state(struct request *r, const struct file_facts *f, const struct share_item *i);

struct replied *azfile_copy(struct request *r);

#endif
