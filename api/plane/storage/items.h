/* SPDX-License-Identifier: MIT
 *
 * What replies say of a file or blob, from its file and from what is noted beside it (struct
 * share_item). Files are the truth: whoever writes one gives it a new ETag.
 */
#ifndef API_PLANE_STORAGE_ITEMS_H
#define API_PLANE_STORAGE_ITEMS_H

#include "api/plane/storage/data_plane.h"
#include "storage/folders/files.h"

/* Differs as soon as the file, or what is noted of it, does. `i`: NULL: nothing is noted. */
uint64_t item_etag(const struct file_facts *f, const struct share_item *i);
/* The instant of the last change of the blob's file, or of what is noted of it. */
int64_t item_modified_us(const struct file_facts *f, const struct share_item *i);
/* A text of a noted JSON object; NULL: it has none of this name. */
const char *noted_text(struct arena *a, const char *doc, const char *name);
/* What is noted is changed: it gets a revision that it never had. Revisions are instants, as far as
 * the clock goes on, so that none comes again when a backup of the database was put back. */
void item_revise(const struct request *r, struct share_item *i);
/* Whether what was noted of the bytes (md5, blocks) is still of these. */
bool item_is_of(const struct share_item *i, const struct file_facts *f);
/* Notes that it is. */
void item_set_file(struct share_item *i, const struct file_facts *f);
/* Notes another file, whose bytes have neither the MD5 nor the blocks that were noted. Does nothing
 * to the notes of the same file. */
void item_follow_file(struct share_item *i, const struct file_facts *f);
/* Whether it is the same file, and nobody has written it in between. */
bool item_same_file(const struct file_facts *a, const struct file_facts *b);

/* The facts of that file, as far as they were noted. */
struct file_facts item_facts(const struct share_item *i);
/* A time as item_time() writes it, with 7 digits, in microseconds. -1: it is none. INT64_MAX: a
 * time between two microseconds. */
int item_time_read(const char *text, int64_t *us);

/* What is noted; without a row, or a share, it is empty. -1: err. */
int item_load(struct request *r, const char *path, struct share_item *out,
              struct err *e) MUST_CHECK;

/* The properties that a request gives in headers of this prefix ("x-ms-" or "x-ms-blob-"):
 * JSON text, NULL if it gives none. is_body: the body becomes what they are of, so without a type
 * its Content-Type counts. */
int properties_read(struct request *r, const char *prefix, bool is_body, const char **out,
                    struct err *e) MUST_CHECK;
/* Likewise of a request that sets all anew: without a type there is none from now on. */
int properties_replace(struct request *r, const char *prefix, const char **out,
                       struct err *e) MUST_CHECK;
/* Adds them to a reply, but for the type (NULL: it was cleared), and with what a signature says
 * instead (rscc, ...). */
void properties_reply(struct request *r, const struct share_item *i, const char **type);
/* Whether a request gives this property, "Content-MD5", and its value. NULL: no. */
const char *property_given(struct request *r, const char *prefix, const char *name);

/* Says in the reply what CRC64 the bytes have, as the service does since some version. */
void crc64_reply(struct request *r, uint64_t crc64);

enum property {
    PROPERTY_TYPE,
    PROPERTY_ENCODING,
    PROPERTY_LANGUAGE,
    PROPERTY_DISPOSITION,
    PROPERTY_CACHE_CONTROL,
    PROPERTIES
};
#define BYTES_TYPE "application/octet-stream" /* of what no type is noted of */
/* The properties in that text; NULL: it is not there; "" for a type that was cleared. */
void properties_of(struct arena *a, const char *text, const char *out[PROPERTIES]);
/* The same text, or NULL, with this type. */
const char *properties_with_type(struct arena *a, const char *text, const char *type);

/* 2019-05-09T01:19:19.6861907Z, of ns since 1970. */
#define ITEM_TIME_SIZE 64
void item_time(int64_t ns, char out[ITEM_TIME_SIZE]);
/* The same of ticks of 100 ns since 1970, which also hold times that ns do not. */
void item_ticks(int64_t ticks, char out[ITEM_TIME_SIZE]);

#endif
