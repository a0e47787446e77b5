/* SPDX-License-Identifier: MIT
 *
 * Every row of every property table, and every rule over several of them, with hostile texts. The
 * first line chooses: its first byte a table, the others what its body has. Each further line is
 * one text; the texts are given to each row that has a check, and then to the body. A check ends,
 * and says why it refuses.
 */
#include <jansson.h>

#include "lib/jsontext.h"
#include "model/schema.h"
#include "test/fuzz/fuzz.h"

/* Those that have a name for others (the build lists them); the others are below them. */
#define TABLE(name) extern const struct schema name;
#include "tables.h"
#undef TABLE
#define TABLE(name) &name,
static const struct schema *const tops[] = {
#include "tables.h"
};
enum { N_TOPS = sizeof tops / sizeof tops[0], TABLES_MOST = 512, TEXTS_MOST = 4, DEPTH_MOST = 6 };

static const struct schema *tables[TABLES_MOST];
static size_t n_tables;

struct body {
    const char *text[TEXTS_MOST]; /* UTF-8, at least one */
    size_t n, next;
    const char *bits, *bit; /* bytes; which is next */
    unsigned version;
};

static void collect(const struct schema *s)
{
    for (size_t i = 0; i < n_tables; i++)
        if (tables[i] == s)
            return;
    CLAIM(n_tables < TABLES_MOST);
    tables[n_tables++] = s;
    for (size_t i = 0; i < s->n_fields; i++)
        if (s->fields[i].sub)
            collect(s->fields[i].sub);
}

static const char *next_text(struct body *b)
{
    return b->text[b->next++ % b->n];
}

/* The bytes again and again; without any everything is there. */
static unsigned next_bits(struct body *b)
{
    if (!*b->bits)
        return 0xff;
    if (!*b->bit)
        b->bit = b->bits;
    return (unsigned char)*b->bit++;
}

static json_t *make_object(struct body *b, const struct schema *s, int depth);

static json_t *make_list(struct body *b, const struct field *f, int depth)
{
    json_t *list = json_array();
    for (unsigned left = 1 + next_bits(b) % 3; left > 0; left--) {
        const char *name = f->values ? f->values[next_bits(b) & 1].name : NULL;
        json_array_append_new(list, f->kind == FIELD_ARRAY ? make_object(b, f->sub, depth + 1)
                                    : name                 ? json_string(name)
                                                           : json_string(next_text(b)));
    }
    return list;
}

/* NULL: no text fits. */
static json_t *make_value(struct body *b, const struct field *f, int depth)
{
    switch (f->kind) {
    case FIELD_OBJECT:
        return make_object(b, f->sub, depth + 1);
    case FIELD_ARRAY:
    case FIELD_STRINGS:
        return make_list(b, f, depth);
    case FIELD_ENUM:
        return json_string(f->values[0].name);
    case FIELD_BOOL:
        return json_boolean(next_bits(b) & 1);
    case FIELD_INT:
    case FIELD_REAL:
        return json_integer((int)next_bits(b) - 1);
    case FIELD_MAP:
    case FIELD_FREE:
        return json_pack("{s:s}", next_text(b), next_text(b));
    case FIELD_DURATION:
        return json_string(next_bits(b) & 1 ? "PT10M" : next_text(b));
    case FIELD_TIME:
        return json_string(next_bits(b) & 1 ? "2024-01-01T00:00:00Z" : next_text(b));
    case FIELD_STRING:
        break;
    }
    return json_string(next_text(b));
}

static bool is_known(const struct field *f, unsigned version)
{
    return !(f->flags & FIELD_READONLY) && (!f->versions || (f->versions & version));
}

/* Half of the rows of each level. */
static json_t *make_object(struct body *b, const struct schema *s, int depth)
{
    json_t *out = json_object();
    for (size_t i = 0; i < s->n_fields && depth < DEPTH_MOST; i++) {
        const struct field *f = &s->fields[i];
        if (is_known(f, b->version) && ((f->flags & FIELD_REQUIRED) || (next_bits(b) & 2)))
            json_object_set_new(out, f->name, make_value(b, f, depth));
    }
    return out;
}

static void accept(const struct schema *s, unsigned version, unsigned how, const json_t *body)
{
    json_t *doc = NULL, *secrets = NULL;
    struct err e = {0};
    int rc = schema_accept_as(s, (enum api_version)version, how, body, &doc, &secrets, &e);
    tell(s->name, rc, e.msg);
    CLAIM(rc == 0 ? doc != NULL : doc == NULL && secrets == NULL && e.msg[0]);
    json_decref(doc);
    json_decref(secrets);
}

/* A row by itself, so that no other refuses the body before it is looked at. */
static void try_row(const struct field *row, struct body *b)
{
    struct field alone = *row;
    const struct schema s = {.name = row->name, .fields = &alone, .n_fields = 1};
    alone.versions = 0;
    for (size_t i = 0; i < b->n; i++) {
        json_t *body = json_object();
        b->next = i;
        json_object_set_new(body, row->name, make_value(b, row, DEPTH_MOST));
        accept(&s, V_ALL, 0, body);
        json_decref(body);
    }
}

static void try_rows(struct body *b)
{
    for (size_t i = 0; i < n_tables; i++)
        for (size_t k = 0; k < tables[i]->n_fields; k++) {
            const struct field *row = &tables[i]->fields[k];
            if (row->check && !(row->flags & FIELD_READONLY))
                try_row(row, b);
        }
}

/* The whole of it, in the newest version that some row names. */
static void try_body(const struct schema *s, struct body *b)
{
    unsigned versions = 0;
    for (size_t i = 0; i < s->n_fields; i++)
        versions |= s->fields[i].versions & ~(unsigned)V_STORED;
    b->version = V_2018_05_01;
    while (versions > b->version)
        b->version <<= 1;
    if (versions && !(versions & b->version))
        b->version >>= 1;
    b->next = 0;
    json_t *body = make_object(b, s, 0);
    accept(s, b->version, 0, body);
    accept(s, b->version, SCHEMA_PARTIAL, body);
    accept(s, b->version, SCHEMA_BATCH, body);
    json_decref(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pieces in = {(const char *)data, (const char *)data + size};
    char *head = next_line(&in);
    json_t *text[TEXTS_MOST];
    struct body b = {.bits = *head ? head + 1 : head};
    b.bit = b.bits;
    for (size_t i = n_tables == 0 ? 0 : N_TOPS; i < N_TOPS; i++)
        collect(tops[i]);
    for (; b.n < TEXTS_MOST && (b.n == 0 || in.p < in.end); b.n++) {
        char *line = next_line(&in);
        text[b.n] = jsontext_string(line);
        b.text[b.n] = json_string_value(text[b.n]);
        free(line);
    }
    try_rows(&b);
    try_body(tables[(unsigned char)*head % n_tables], &b);
    for (size_t i = 0; i < b.n; i++)
        json_decref(text[i]);
    free(head);
    return 0;
}
