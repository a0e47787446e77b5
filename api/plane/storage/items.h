/* SPDX-License-Identifier: MIT
 *
 * The state of a file or blob in replies, from its file and from its notes (the row, struct
 * share_item). If they differ the file counts: every write of a file gives it a new ETag.
 */
#ifndef API_PLANE_STORAGE_ITEMS_H
#define API_PLANE_STORAGE_ITEMS_H

#include "api/plane/storage/data_plane.h"
#include "storage/folders/files.h"

/* The ETag. It changes with every change of the file or of its notes. `i` NULL: there are no
 * notes. */
uint64_t item_etag(const struct file_facts *f, const struct share_item *i);
/* The instant of the last change of the blob's file or its notes. */
int64_t item_modified_us(const struct file_facts *f, const struct share_item *i);
/* A text member of a stored JSON object; NULL: there is none of this name. */
const char *noted_text(struct arena *a, const char *doc, const char *name);
/* Call when notes are changed: gives them a revision that they never had. A revision is an instant
 * of the clock, or later, so that none is used twice even if an old backup of the database is
 * restored. */
void item_revise(const struct request *r, struct share_item *i);
/* Whether the notes about bytes (md5, blocks) are about the present bytes of the file. */
bool item_is_of(const struct share_item *i, const struct file_facts *f);
/* Stores the facts of the file, so that the notes about bytes are about this file. */
void item_set_file(struct share_item *i, const struct file_facts *f);
/* Stores the facts of the file, like item_set_file(). If the notes were about another file, removes
 * its MD5 and its list of blocks. */
void item_follow_file(struct share_item *i, const struct file_facts *f);
/* Whether both facts are of one file, which nobody has written in between. */
bool item_same_file(const struct file_facts *a, const struct file_facts *b);

/* The facts of the file as they are stored in the notes. */
struct file_facts item_facts(const struct share_item *i);
/* Reads a time of item_time(), with 7 digits, in microseconds. -1: the text is no time. INT64_MAX:
 * the time is between two microseconds. */
int item_time_read(const char *text, int64_t *us);

/* Loads the notes of an item; they are empty if there is no row, or no share. -1: error. */
int item_load(struct request *r, const char *path, struct share_item *out,
              struct err *e) MUST_CHECK;

/* Reads the properties in headers with this prefix ("x-ms-" or "x-ms-blob-") as JSON text; NULL:
 * none. is_body: the properties are those of the request's body, so the default of the type is
 * Content-Type. */
int properties_read(struct request *r, const char *prefix, bool is_body, const char **out,
                    struct err *e) MUST_CHECK;
/* Like properties_read(), for a request that sets all properties: without a type the type is
 * cleared. */
int properties_replace(struct request *r, const char *prefix, const char **out,
                       struct err *e) MUST_CHECK;
/* Adds the properties to a reply, except the type, which *type becomes (NULL: it was cleared). A
 * SAS may replace some properties (rscc, ...). */
void properties_reply(struct request *r, const struct share_item *i, const char **type);
/* The value that the request gives to the property, such as "content-md5"; NULL: none. */
const char *property_given(struct request *r, const char *prefix, const char *name);

/* Reads an MD5 from the header `header`, such as Content-MD5. 1: the request has the header; 0: it
 * has not. */
int md5_read(struct request *r, const char *header, uint8_t out[FILES_MD5],
             struct err *e) MUST_CHECK;
/* Reads the property content-md5 from the header with this prefix, to be noted as it is; NULL:
 * none. */
int md5_given(struct request *r, const char *prefix, const char **out, struct err *e) MUST_CHECK;

/* Adds the CRC64 of the bytes to the reply, if the request's api-version has this header. */
void crc64_reply(struct request *r, uint64_t crc64);

enum property {
    PROPERTY_TYPE,
    PROPERTY_ENCODING,
    PROPERTY_LANGUAGE,
    PROPERTY_DISPOSITION,
    PROPERTY_CACHE_CONTROL,
    PROPERTIES
};
#define BYTES_TYPE "application/octet-stream" /* type of bytes whose notes have no type */
/* Reads the properties of a JSON text. An element is NULL if the text lacks the property, and ""
 * for a type that was cleared. */
void properties_of(struct arena *a, const char *text, const char *out[PROPERTIES]);
/* The JSON text of properties (NULL: none) with this type added. */
const char *properties_with_type(struct arena *a, const char *text, const char *type);

/* Writes ns since 1970 in the form 2019-05-09T01:19:19.6861907Z. */
#define ITEM_TIME_SIZE 64
void item_time(int64_t ns, char out[ITEM_TIME_SIZE]);
/* Like item_time(), from ticks of 100 ns since 1970, which have a larger range than ns. */
void item_ticks(int64_t ticks, char out[ITEM_TIME_SIZE]);

#endif
