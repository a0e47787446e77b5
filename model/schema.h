/* SPDX-License-Identifier: MIT
 *
 * Field tables and the engine that interprets them.
 *
 * Each property of each resource is described once, by a row in model/schema/<resource>.c or
 * model/batch/: its name, kind, flags, enum, default and range, and the api-versions that have it
 * under this name. model/schema_rows.h explains rows. The engine walks them in order
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

/* Api-versions as bits. Each row contains the bits of the versions in which its property exists. */
enum api_version {
    V_2017_09_01_PREVIEW = 1 << 0,
    V_2018_03_01 = 1 << 1,
    V_2018_05_01 = 1 << 2,
    /* the versions without workspaces: model/home.h */
    V_FLAT = V_2017_09_01_PREVIEW | V_2018_03_01,
    V_ALL = (1 << 3) - 1,
    V_STORED = 1 << 8 /* not an api-version: a member of stored documents only */
};

/* Converts "2018-05-01" to V_2018_05_01 (0: unknown), and back (a static string). */
enum api_version api_version_from_name(const char *name);
const char *api_version_name(enum api_version v);

enum field_kind {
    FIELD_STRING,
    FIELD_INT,
    FIELD_REAL, /* a number, perhaps with a fraction */
    FIELD_BOOL,
    FIELD_ENUM,     /* a string that .values lists */
    FIELD_OBJECT,   /* an object; .sub is its table */
    FIELD_ARRAY,    /* an array of objects; .sub is the table of each */
    FIELD_STRINGS,  /* an array of strings; if the row has .values, of these only */
    FIELD_MAP,      /* an object of strings, such as tags */
    FIELD_FREE,     /* any object */
    FIELD_DURATION, /* ISO 8601, P7D */
    FIELD_TIME      /* an instant, stored in UTC to the microsecond */
};

enum field_flag {
    FIELD_REQUIRED = 1 << 0,
    FIELD_READONLY = 1 << 1, /* set by the service; ignored in requests */
    FIELD_SECRET = 1 << 2, /* schema_accept() moves it out of the document; it is never rendered */
    FIELD_UPPER = 1 << 3,  /* stored upper-case (vmSize) */
    FIELD_KEEP_EMPTY = 1 << 4, /* rendered even when empty: credentials:{} */
    FIELD_MUTABLE = 1 << 5,    /* may be changed by PUT/PATCH of an existing resource */
    FIELD_INPUT_ONLY = 1 << 6, /* accepted and stored as .canon; not in replies of these versions */
    FIELD_DISCARD = 1 << 7,    /* a parameter of the request, not stored */
    FIELD_ID = 1 << 8, /* a resource's id: stored with its workspace, shown in the version's form */
    FIELD_ALWAYS = 1 << 9,   /* a string that replies of this version always have: "" when absent */
    FIELD_POINTER = 1 << 10, /* decoded into a separate struct; .into: a pointer to it */
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

/* A row. The macros of model/schema_rows.h write rows; they set the first four members by
 * position. */
struct field {
    const char *name; /* the name on the wire, in the versions of .versions */
    unsigned flags;   /* enum field_flag */
    /* The smallest and largest integer, length of a string, number of items, or seconds. max 0: no
     * limit, but INT32_MAX for an integer. */
    long min, max;
    enum field_kind kind;
    const char *canon; /* canonical name; NULL: `name` */
    unsigned versions; /* 0 means V_ALL */
    unsigned unless;   /* the row does not apply to a version with any of these bits */
    const struct schema *sub;
    const struct enum_name *values;
    const char *fallback; /* default as JSON text; NULL: none */
    /* What a message says that a value must be; NULL: the usual text of its kind. */
    const char *expected;
    /* An extra check of one value; may be NULL. On failure it sets the error's target and
     * message. */
    int (*check)(const json_t *value, const char *path, struct err *e);
    /* The place of the value in the decoded struct: 1 + the offset; 0: none. */
    unsigned short into;
    /* For a list or map: the place of the number of its items: 1 + the offset; 0: none. */
    unsigned short count_into;
    unsigned short into_size; /* the size of the member in bytes; 0 with INTO_SAME */
    unsigned char into_type;  /* enum into_type */
};

struct schema {
    const char *name;
    const struct field *fields;
    size_t n_fields;
    /* Checks a rule about several properties of the canonical object, such as "not both manual and
     * autoScale"; may be NULL. */
    int (*check)(json_t *obj, const char *path, struct err *e);
    size_t size; /* the size of the decoded struct; 0: the object is not decoded */
    /* Decodes what rows cannot describe, such as the share in a URL; may be NULL. */
    void (*finish)(struct arena *a, const json_t *obj, void *into);
};

/* The tables of model/schema/. The top object contains location, tags and properties, if the
 * resource and the version have them; rows that are only in replies (id, name, type, states, times)
 * are in the same tables. */
extern const struct schema schema_group, schema_workspace, schema_workspace_update,
    schema_experiment, schema_cluster, schema_cluster_update, schema_file_server, schema_job,
    schema_remote_login, schema_file, schema_usage, schema_operation_entry, schema_listed,
    schema_vault, schema_vault_policies, schema_vault_name, schema_storage_account,
    schema_account_name, schema_key_name, schema_account_sas, schema_service_sas, schema_share_rm,
    schema_container_rm;

/* Checks and normalises a request body. On success *doc is the canonical object, and *secrets an
 * object that maps the path of each secret ("properties.secrets[0].value") to its text, or NULL if
 * the body has no secrets; the caller owns both. On failure: ERR_MISSING_PROPERTY or
 * ERR_INVALID_PROPERTY, with the property's path as target. A null property is treated as absent,
 * because clients send nulls. */
int schema_accept(const struct schema *s, enum api_version v, const json_t *body, json_t **doc,
                  json_t **secrets, struct err *e) MUST_CHECK;

/* The rules of Azure Batch for bodies. They differ from Azure Resource Manager's. */
enum schema_how {
    SCHEMA_PARTIAL = 1 << 0, /* the body is partial, as for schema_accept_partial() below */
    SCHEMA_KNOWN = 1 << 1,   /* refuses properties that the version lacks: ERR_INVALID_CONTENT */
    SCHEMA_TEXT_NUMBERS = 1 << 2, /* integers may be texts: "3" */
    SCHEMA_SPANS = 1 << 3, /* durations may be zero or have years and months, and are stored in
                              .NET's form (model/span.h) */
    SCHEMA_BATCH = SCHEMA_KNOWN | SCHEMA_TEXT_NUMBERS | SCHEMA_SPANS,
    SCHEMA_OWN = 1 << 4 /* the stricter rules of schema_read() below */
};
int schema_accept_as(const struct schema *s, enum api_version v, unsigned how, const json_t *body,
                     json_t **doc, json_t **secrets, struct err *e) MUST_CHECK;

/* Reads a body of one of batchaid's own operations into *into, a struct of s->size bytes, in which
 * the caller has set the values of absent properties; texts and lists are in the arena. The rules
 * differ from those of Azure: a property that the table lacks is refused with an error that lists
 * the table's names, null is not treated as absent, and a map has no limits. Durations are read as
 * Azure Batch reads them. Secrets are read like other texts. NULL counts as an empty object. */
int schema_read(const struct schema *s, const json_t *body, struct arena *a, void *into,
                struct err *e) MUST_CHECK;

/* The input of rendering is the text of a stored document and a list of members that are put over
 * it. If both contain the same object, its members are merged. */
enum over_kind {
    OVER_TEXT,
    OVER_INT,
    OVER_BOOL, /* false if `number` is 0 */
    OVER_JSON, /* `text` is JSON that the daemon made; it is rendered unchanged */
    OVER_DOC,  /* `text` is JSON of a document; it is rendered by the table */
    OVER_OBJECT
};
struct over {
    const char *name; /* the canonical name; at most once in a list */
    enum over_kind kind;
    const char *text; /* UTF-8; NULL: the member is absent */
    int64_t number;
    const struct over *member; /* the members of an OVER_OBJECT */
    size_t n;
};
/* Make the members of a list for rendering. */
#define SHOW_TEXT(key, value)  ((struct over){.name = (key), .kind = OVER_TEXT, .text = (value)})
#define SHOW_JSON(key, value)  ((struct over){.name = (key), .kind = OVER_JSON, .text = (value)})
#define SHOW_DOC(key, value)   ((struct over){.name = (key), .kind = OVER_DOC, .text = (value)})
#define SHOW_INT(key, value)   ((struct over){.name = (key), .kind = OVER_INT, .number = (value)})
#define SHOW_BOOL(key, value)  ((struct over){.name = (key), .kind = OVER_BOOL, .number = (value)})
#define SHOW_OBJECT(key, list) SHOW_OBJECT_OF(key, list, sizeof(list) / sizeof *(list))
#define SHOW_OBJECT_OF(key, list, count)                                                           \
    ((struct over){.name = (key), .kind = OVER_OBJECT, .member = (list), .n = (count)})

typedef uint64_t schema_set; /* a set of properties of a table's top object, as bits */
struct rendering {
    const struct schema *schema;
    unsigned version;        /* the bit of a version */
    const char *stored;      /* NULL: nothing is stored */
    const struct over *over; /* put over `stored`; a list, because trees of many rows are costly */
    size_t n;
    schema_set set; /* only these properties, from $select; 0: all */
};
#define SHOW_LIST(list) .over = (list), .n = sizeof(list) / sizeof *(list)

/* Appends an object with the version's properties as JSON, in the rows' order, without nulls. Never
 * fails: a value that does not match its row is left out, and a stored text that is not a JSON
 * object counts as empty. */
void schema_render(struct strbuf *out, const struct rendering *what);
/* Like schema_render(), for a document in memory. */
void schema_render_tree(struct strbuf *out, const struct schema *s, unsigned version,
                        const json_t *doc);

/* Parses names of properties of the top object, separated by commas ("id, state"). If the text is
 * NULL or empty, *out is 0, which means all properties. ERR_INVALID_QUERY: the version has no such
 * property. */
int schema_select(const struct schema *s, enum api_version v, const char *text, schema_set *out,
                  struct err *e) MUST_CHECK;

/* Writes a value in the form for messages: shortened and escaped, and without the content of an
 * object. Returns `out`. */
#define VALUE_TEXT_SIZE 320
const char *value_text(const json_t *value, char out[VALUE_TEXT_SIZE]);

/* Finds an object in the text of a stored document. `path` is a list of names that ends with a
 * NULL. Returns the beginning of the object's text, of *n bytes; NULL: there is no such object. */
const char *stored_member(const char *stored, const char *const *path, size_t *n);

/* Makes the same checks as schema_accept(), for a partial body. The top level and "properties" are
 * merged into the stored document, so nothing is required there and nothing gets a default. Values
 * below these two levels are replaced as a whole, so they are checked as a whole. */
int schema_accept_partial(const struct schema *s, enum api_version v, const json_t *body,
                          json_t **doc, json_t **secrets, struct err *e) MUST_CHECK;

/* Fills *into, a zeroed struct of s->size bytes, from a canonical document; texts and lists are
 * copied to the arena. Absent properties leave their members unchanged; if several rows have arrays
 * with the same place, the arrays are joined in the rows' order. The document was accepted before,
 * so nothing is checked: a value that does not match its row counts as absent. */
void schema_decode(const struct schema *s, struct arena *a, const json_t *doc, void *into);

/* Compares two canonical documents, `after` accepted from a body of version `v`. Appends to `list`
 * (size bytes) the paths of differing properties without FIELD_MUTABLE, comma-separated. Properties
 * that `v` lacks cannot differ. Returns how many differ. */
int schema_immutable_changes(const struct schema *s, enum api_version v, const json_t *before,
                             const json_t *after, char *list, size_t size);

/* Removes from `shown`, an object in the form of version `v`, all properties that a request may not
 * contain. */
void schema_given(const struct schema *s, enum api_version v, json_t *shown);
/* Appends the names of the top properties that schema_given() would leave, in the form for
 * schema_select(): "id,displayName". */
void schema_given_names(const struct schema *s, enum api_version v, struct strbuf *out);

/* Puts secrets back into their places in the document. */
void schema_put_secrets(json_t *doc, const json_t *secrets);
/* Returns a deep copy with the secrets back in their places. */
json_t *schema_merge_secrets(const json_t *doc, const json_t *secrets);

#endif
