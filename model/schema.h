/* SPDX-License-Identifier: MIT
 *
 * Field tables and the engine that interprets them.
 *
 * Each property of each resource is described once, by a row in model/schema/<resource>.c or
 * model/batch/: name, kind, flags, enum, default, range, and its api-versions (with its name
 * there). model/schema_rows.h explains rows. The engine walks them in order
 *   - to accept a request: schema_accept() checks types, ranges, enums, required properties and
 *     cross-field rules, fills defaults, normalises (vmSize upper-case, enums lower-case), drops
 *     read-only and unknown properties, and moves every secret out into a separate object;
 *   - to render a reply: schema_render() writes the properties of the requested version, in the
 *     rows' order, without nulls, and cannot render a secret;
 *   - to fill a struct: schema_decode() copies every property whose row has a place in the struct.
 *     Adding a property or a version is adding rows.
 *
 * Canonical documents use the newest version's names. json_t ownership follows jansson: functions
 * return new references; arguments are borrowed.
 */
#ifndef MODEL_SCHEMA_H
#define MODEL_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/strbuf.h"
#include "model/enums.h"

/* Bit set of api-versions. Rows list the versions that have them. */
enum api_version {
    V_2017_09_01_PREVIEW = 1 << 0,
    V_2018_03_01 = 1 << 1,
    V_2018_05_01 = 1 << 2,
    /* the versions without workspaces: model/home.h */
    V_FLAT = V_2017_09_01_PREVIEW | V_2018_03_01,
    V_ALL = (1 << 3) - 1,
    V_STORED = 1 << 8 /* not an api-version: a member of stored documents only */
};

/* "2018-05-01" -> V_2018_05_01; 0 if unknown. And back (static string). */
enum api_version api_version_from_name(const char *name);
const char *api_version_name(enum api_version v);

enum field_kind {
    FIELD_STRING,
    FIELD_INT,
    FIELD_REAL, /* a number, perhaps with a fraction */
    FIELD_BOOL,
    FIELD_ENUM,     /* string out of .values */
    FIELD_OBJECT,   /* .sub */
    FIELD_ARRAY,    /* of objects, .sub */
    FIELD_STRINGS,  /* array of strings; from .values, if the row has such */
    FIELD_MAP,      /* object of strings: tags */
    FIELD_FREE,     /* any object */
    FIELD_DURATION, /* ISO 8601, P7D */
    FIELD_TIME      /* instants, stored in UTC to the microsecond */
};

enum field_flag {
    FIELD_REQUIRED = 1 << 0,
    FIELD_READONLY = 1 << 1,   /* set by the service; ignored in requests */
    FIELD_SECRET = 1 << 2,     /* moved out on accept; the engine will not render it */
    FIELD_UPPER = 1 << 3,      /* stored upper-case (vmSize) */
    FIELD_KEEP_EMPTY = 1 << 4, /* rendered even when empty: credentials:{} */
    FIELD_MUTABLE = 1 << 5,    /* may be changed by PUT/PATCH of an existing resource */
    FIELD_INPUT_ONLY = 1 << 6, /* accepted as .canon, never rendered in these versions */
    FIELD_DISCARD = 1 << 7,    /* a parameter of the request, not stored */
    FIELD_ID = 1 << 8,     /* a resource's id: stored with workspace, shown in the version's form */
    FIELD_ALWAYS = 1 << 9, /* a string that replies of this version always have: "" when absent */
    FIELD_POINTER = 1 << 10, /* decoded into a separate struct, .into is the pointer to it */
    FIELD_LOWER = 1 << 11,   /* stored lower-case */
    FIELD_BARE = 1 << 12     /* a string in a body means an object with only the first property */
};

struct schema;

/* The type of the member that a value is decoded into. */
enum into_type {
    INTO_IS_OTHER,
    INTO_IS_TEXT,
    INTO_IS_INT,
    INTO_IS_BOOL,
    INTO_IS_INT64, /* an integer, a duration or an instant in microseconds */
    INTO_IS_REAL
};

/* A row. The macros of model/schema_rows.h write it, with the first four members by position. */
struct field {
    const char *name; /* the name on the wire, in the versions of .versions */
    unsigned flags;   /* enum field_flag */
    /* Integer range, string length, item count or seconds; max 0: no limit (int32). */
    long min, max;
    enum field_kind kind;
    const char *canon; /* canonical name; NULL: `name` */
    unsigned versions; /* 0 means V_ALL */
    unsigned unless;   /* not with these bits, whichever others there are */
    const struct schema *sub;
    const struct enum_name *values;
    const char *fallback; /* default as JSON text; NULL: none */
    /* the condition for a value, for messages; NULL: the usual one of its kind */
    const char *expected;
    /* Extra check of one value; may be NULL. Fills target and message. */
    int (*check)(const json_t *value, const char *path, struct err *e);
    /* The place of the value in the decoded struct: 1 + the offset; 0: none. */
    unsigned short into;
    /* of a list or map: the place of the number of items: 1 + the offset; 0: none */
    unsigned short count_into;
    unsigned short into_size; /* of the member; 0 with INTO_SAME */
    unsigned char into_type;  /* enum into_type */
};

struct schema {
    const char *name;
    const struct field *fields;
    size_t n_fields;
    /* Cross-field rule over the canonical object (two of manual/autoScale, ...); may be NULL. */
    int (*check)(json_t *obj, const char *path, struct err *e);
    size_t size; /* of the decoded struct; 0: not decoded */
    /* Decoding beyond the rows (the share in a URL); may be NULL. */
    void (*finish)(struct arena *a, const json_t *obj, void *into);
};

/* The tables of model/schema/. The top object holds location, tags, properties as the resource and
 * version have them; read-only rows (id, name, type, states, times) are in the same tables. */
extern const struct schema schema_group, schema_workspace, schema_workspace_update,
    schema_experiment, schema_cluster, schema_cluster_update, schema_file_server, schema_job,
    schema_remote_login, schema_file, schema_usage, schema_operation_entry, schema_listed,
    schema_vault, schema_vault_policies, schema_vault_name, schema_storage_account,
    schema_account_name, schema_key_name, schema_account_sas, schema_service_sas, schema_share_rm,
    schema_container_rm;

/* Checks and normalises a request body. On success *doc is the canonical object and *secrets an
 * object from property path ("properties.secrets[0].value") to secret string, or NULL if the body
 * has none; the caller owns both. Errors: ERR_MISSING_PROPERTY, ERR_INVALID_PROPERTY, target set to
 * the property's path. A null property is treated as absent, because clients send nulls. */
int schema_accept(const struct schema *s, enum api_version v, const json_t *body, json_t **doc,
                  json_t **secrets, struct err *e) MUST_CHECK;

/* The rules of Azure Batch for bodies. They differ from Azure Resource Manager's. */
enum schema_how {
    SCHEMA_PARTIAL = 1 << 0, /* as schema_accept_partial() below */
    SCHEMA_KNOWN = 1 << 1,   /* refuses properties that the version lacks: ERR_INVALID_CONTENT */
    SCHEMA_TEXT_NUMBERS = 1 << 2, /* integers may be texts: "3" */
    SCHEMA_SPANS = 1 << 3, /* durations may be zero or have years and months, and are stored in
                              .NET's form (model/span.h) */
    SCHEMA_BATCH = SCHEMA_KNOWN | SCHEMA_TEXT_NUMBERS | SCHEMA_SPANS,
    SCHEMA_OWN = 1 << 4 /* as schema_read() below */
};
int schema_accept_as(const struct schema *s, enum api_version v, unsigned how, const json_t *body,
                     json_t **doc, json_t **secrets, struct err *e) MUST_CHECK;

/* Reads a body of one of our own operations into *into, a struct of s->size bytes that has the
 * values of absent properties; texts and lists are in the arena. Stricter than a service of Azure:
 * a property that the table lacks is refused with the names that the table has, null is a value,
 * and a map has no limits. Durations are read as Azure Batch reads them. Secrets are read like
 * other texts. NULL counts as an empty object. */
int schema_read(const struct schema *s, const json_t *body, struct arena *a, void *into,
                struct err *e) MUST_CHECK;

/* The input of rendering: the text of a stored document with members on top of it, merged down to
 * common objects. */
enum over_kind {
    OVER_TEXT,
    OVER_INT,
    OVER_BOOL, /* number 0: false */
    OVER_JSON, /* text: JSON of the daemon, shown unchanged */
    OVER_DOC,  /* text: JSON of a document, shown by the table */
    OVER_OBJECT
};
struct over {
    const char *name; /* canonical; each at most once in a list */
    enum over_kind kind;
    const char *text; /* UTF-8; NULL: absent */
    int64_t number;
    const struct over *member; /* of the object */
    size_t n;
};
/* Members of a list. */
#define SHOW_TEXT(key, value)  ((struct over){.name = (key), .kind = OVER_TEXT, .text = (value)})
#define SHOW_JSON(key, value)  ((struct over){.name = (key), .kind = OVER_JSON, .text = (value)})
#define SHOW_DOC(key, value)   ((struct over){.name = (key), .kind = OVER_DOC, .text = (value)})
#define SHOW_INT(key, value)   ((struct over){.name = (key), .kind = OVER_INT, .number = (value)})
#define SHOW_BOOL(key, value)  ((struct over){.name = (key), .kind = OVER_BOOL, .number = (value)})
#define SHOW_OBJECT(key, list) SHOW_OBJECT_OF(key, list, sizeof(list) / sizeof *(list))
#define SHOW_OBJECT_OF(key, list, count)                                                           \
    ((struct over){.name = (key), .kind = OVER_OBJECT, .member = (list), .n = (count)})

typedef uint64_t schema_set; /* a set of properties of the top of a table */
struct rendering {
    const struct schema *schema;
    unsigned version;        /* the bit of a version */
    const char *stored;      /* NULL: nothing is stored */
    const struct over *over; /* on top; a list instead of a tree: trees of many rows are costly */
    size_t n;
    schema_set set; /* only these properties, from $select; 0: all */
};
#define SHOW_LIST(list) .over = (list), .n = sizeof(list) / sizeof *(list)

/* Appends the version's properties, as JSON in the rows' order, without nulls. Never fails: a value
 * that does not match its row is left out, and a text that is not a JSON object counts as empty. */
void schema_render(struct strbuf *out, const struct rendering *what);
/* Like schema_render(), for a document in memory. */
void schema_render_tree(struct strbuf *out, const struct schema *s, unsigned version,
                        const json_t *doc);

/* Parses "id, state": names of properties of the top, separated by commas. NULL or empty: 0; this
 * means all properties. ERR_INVALID_QUERY: the version has no such property. */
int schema_select(const struct schema *s, enum api_version v, const char *text, schema_set *out,
                  struct err *e) MUST_CHECK;

/* A value as messages show it: cut, escaped, and never the inside of an object. Returns `out`. */
#define VALUE_TEXT_SIZE 320
const char *value_text(const json_t *value, char out[VALUE_TEXT_SIZE]);

/* The text (*n bytes) of the object at a path (names, NULL at the end) in a stored document. NULL:
 * none. */
const char *stored_member(const char *stored, const char *const *path, size_t *n);

/* Same checks as schema_accept() for a partial body. The top level and "properties" are merged into
 * the stored document, so nothing is required there and nothing gets a default. Values below these
 * two levels are replaced as a whole, so they are checked as a whole. */
int schema_accept_partial(const struct schema *s, enum api_version v, const json_t *body,
                          json_t **doc, json_t **secrets, struct err *e) MUST_CHECK;

/* Fills *into, a zeroed struct of s->size bytes, from a canonical document; texts and lists are
 * copied to the arena. Absent properties leave their members unchanged; arrays of several rows with
 * one place are joined in the rows' order. The document was accepted before, so nothing is checked:
 * a value that does not match its row counts as absent. */
void schema_decode(const struct schema *s, struct arena *a, const json_t *doc, void *into);

/* Compares two canonical documents, `after` accepted from a body of version `v`. Appends to `list`
 * (size bytes) the paths of differing properties without FIELD_MUTABLE, comma-separated. Properties
 * that `v` lacks cannot differ. Returns how many differ. */
int schema_immutable_changes(const struct schema *s, enum api_version v, const json_t *before,
                             const json_t *after, char *list, size_t size);

/* Removes all properties from an object in the form of `v` that a request may not contain. */
void schema_given(const struct schema *s, enum api_version v, json_t *shown);
/* Appends the names of the remaining properties at the top, for schema_select():
 * "id,displayName". */
void schema_given_names(const struct schema *s, enum api_version v, struct strbuf *out);

/* Puts secrets back into their places. */
void schema_put_secrets(json_t *doc, const json_t *secrets);
/* Returns a deep copy with the secrets back in their places. */
json_t *schema_merge_secrets(const json_t *doc, const json_t *secrets);

#endif
