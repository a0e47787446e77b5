/* SPDX-License-Identifier: MIT
 *
 * The state of a file or blob in replies, from its file and from its notes (struct share_item). The
 * file is the truth: every write of a file gives it a new ETag.
 */
#ifndef API_PLANE_STORAGE_ITEMS_H
#define API_PLANE_STORAGE_ITEMS_H

#include "api/plane/storage/data_plane.h"
#include "storage/folders/files.h"

/* Changes with every change of the file or its notes. `i` NULL: there are no notes. */
uint64_t item_etag(const struct file_facts *f, const struct share_item *i);
/* The instant of the last change of the blob's file or its notes. */
int64_t item_modified_us(const struct file_facts *f, const struct share_item *i);
/* A text of a noted JSON object; NULL: it has none of this name. */
const char *noted_text(struct arena *a, const char *doc, const char *name);
/* Call when the notes are changed: gives them a revision that they never had. Revisions are
 * instants of the clock, or later, so that none comes twice after a backup of the database was put
 * back. */
void item_revise(const struct request *r, struct share_item *i);
/* Whether the notes about bytes (md5, blocks) are about the present bytes of the file. */
bool item_is_of(const struct share_item *i, const struct file_facts *f);
/* Notes that they are. */
void item_set_file(struct share_item *i, const struct file_facts *f);
/* Notes another file: removes the MD5 and the list of blocks of the earlier file. Does nothing if
 * it is the noted file. */
void item_follow_file(struct share_item *i, const struct file_facts *f);
/* Whether both are one file, and nobody has written it in between. */
bool item_same_file(const struct file_facts *a, const struct file_facts *b);

/* The facts of the noted file, as far as they were noted. */
struct file_facts item_facts(const struct share_item *i);
/* A time as item_time() writes it, with 7 digits, in microseconds. -1: it is none. INT64_MAX: a
 * time between two microseconds. */
int item_time_read(const char *text, int64_t *us);

/* The notes; empty if there is no row, or no share. -1: err. */
int item_load(struct request *r, const char *path, struct share_item *out,
              struct err *e) MUST_CHECK;

/* The properties that a request gives in headers with this prefix ("x-ms-" or "x-ms-blob-"), as
 * JSON text; NULL: none. is_body: the properties are those of the request's body, so without a type
 * they get its Content-Type. */
int properties_read(struct request *r, const char *prefix, bool is_body, const char **out,
                    struct err *e) MUST_CHECK;
/* Like properties_read(), for a request that sets all properties anew: if it gives no type, the
 * type is cleared. */
int properties_replace(struct request *r, const char *prefix, const char **out,
                       struct err *e) MUST_CHECK;
/* Adds the properties to a reply, except the type (NULL: it was cleared). A signature may replace
 * some (rscc, ...). */
void properties_reply(struct request *r, const struct share_item *i, const char **type);
/* Whether a request gives this property, "Content-MD5", and its value. NULL: no. */
const char *property_given(struct request *r, const char *prefix, const char *name);

/* Adds the CRC64 of the bytes to the reply, as the service does since some version. */
void crc64_reply(struct request *r, uint64_t crc64);

enum property {
    PROPERTY_TYPE,
    PROPERTY_ENCODING,
    PROPERTY_LANGUAGE,
    PROPERTY_DISPOSITION,
    PROPERTY_CACHE_CONTROL,
    PROPERTIES
};
#define BYTES_TYPE "application/octet-stream" /* for bytes without a noted type */
/* The properties in that text; NULL: it is not there; "" for a type that was cleared. */
void properties_of(struct arena *a, const char *text, const char *out[PROPERTIES]);
/* A JSON text of properties (NULL: none) with this type. */
const char *properties_with_type(struct arena *a, const char *text, const char *type);

/* 2019-05-09T01:19:19.6861907Z, of ns since 1970. */
#define ITEM_TIME_SIZE 64
void item_time(int64_t ns, char out[ITEM_TIME_SIZE]);
/* Like item_time(), from ticks of 100 ns since 1970: ticks reach further than ns. */
void item_ticks(int64_t ticks, char out[ITEM_TIME_SIZE]);

#endif
