/* SPDX-License-Identifier: MIT */
#include "daemon/config_text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "daemon/config_table.h"
#include "lib/arena.h"

enum { MAX_DEPTH = 16 };

/* A mapping or sequence that is being read. `path` is cut back to `len` for each of its values.
 */
struct level {
    bool mapping, at_key;
    size_t len;
    int index;
};

struct walk {
    struct config_places *places;
    yaml_parser_t parser;
    yaml_emitter_t emitter;
    struct strbuf path;
    struct level levels[MAX_DEPTH];
    int depth, documents;
    bool says_something;
};

/* Advice for frequent mistakes: characters with a special meaning in YAML. */
static const char *syntax_advice(const yaml_parser_t *p)
{
    if (p->error == YAML_READER_ERROR)
        return "; a configuration is text in UTF-8";
    if (p->context && strstr(p->context, "alias"))
        return "; put a text that begins with * in quotes";
    if (p->context && strstr(p->context, "flow sequence"))
        return "; put a text with brackets or commas in quotes";
    return "";
}

static int syntax_error(const struct walk *w, struct err *e)
{
    const yaml_parser_t *p = &w->parser;
    bool unreadable = p->error == YAML_READER_ERROR;
    const char *context = !unreadable && p->context ? p->context : "";
    err_set(e, ERR_CONFIG, NULL, "%s%s%s%s", p->problem ? p->problem : "it is no YAML",
            *context ? ", " : "", context, syntax_advice(p));
    if (unreadable)
        return err_prefix(e, "%s", w->places->file);
    return err_prefix(e, "%s:%d", w->places->file, (int)p->problem_mark.line + 1);
}

static int at_line(const struct walk *w, const yaml_event_t *ev, const char *what, struct err *e)
{
    return err_set(e, ERR_CONFIG, NULL, "%s:%d: %s", w->places->file, (int)ev->start_mark.line + 1,
                   what);
}

static struct level *innermost(struct walk *w)
{
    return w->depth ? &w->levels[w->depth - 1] : NULL;
}

static void cut_path(struct walk *w, size_t len)
{
    assert(len <= w->path.len);
    w->path.len = len;
    if (w->path.s)
        w->path.s[len] = '\0';
}

static void remember(struct walk *w, const yaml_event_t *ev)
{
    struct config_places *p = w->places;
    if ((p->n & (p->n - 1)) == 0)
        p->items = xrealloc(p->items, (p->n ? 2 * p->n : 1) * sizeof *p->items);
    p->items[p->n++] = (struct config_place){.path = xstrdup(w->path.s ? w->path.s : ""),
                                             .line = (int)ev->start_mark.line + 1};
}

/* Enters a key: the value behind it has its path and, for messages, its line. */
static int enter_key(struct walk *w, const yaml_event_t *ev, struct err *e)
{
    struct level *in = innermost(w);
    if (ev->type != YAML_SCALAR_EVENT)
        return at_line(w, ev, "a key must be one word, as in log: or listen:", e);
    cut_path(w, in->len);
    strbuf_printf(&w->path, "%s%s", in->len ? "." : "", (const char *)ev->data.scalar.value);
    in->at_key = false;
    remember(w, ev);
    return 0;
}

/* Called before a value: extends the path, if the value is in a sequence. */
static void enter_value(struct walk *w, const yaml_event_t *ev)
{
    struct level *in = innermost(w);
    if (!in || in->mapping) {
        if (in)
            in->at_key = true;
        return;
    }
    cut_path(w, in->len);
    strbuf_printf(&w->path, "[%d]", in->index++);
    remember(w, ev);
}

static int push(struct walk *w, const yaml_event_t *ev, struct err *e)
{
    if (w->depth == MAX_DEPTH)
        return at_line(w, ev, "lists and mappings are nested too deeply", e);
    bool mapping = ev->type == YAML_MAPPING_START_EVENT;
    w->levels[w->depth++] =
        (struct level){.mapping = mapping, .at_key = mapping, .len = w->path.len};
    return 0;
}

static bool is_one_of_a_list(const struct walk *w)
{
    const struct setting *s = config_find(w->path.s);
    size_t n = w->path.len;
    return s && s->type == SETTING_TEXTS && w->path.s[n - 1] != ']';
}

/* Takes ownership of the event, like yaml_emitter_emit(). */
static bool emit(struct walk *w, yaml_event_t *ev)
{
    yaml_event_t start, end;
    bool wrap = ev->type == YAML_SCALAR_EVENT && w->depth && innermost(w)->mapping &&
                innermost(w)->at_key && is_one_of_a_list(w);
    if (!wrap)
        return yaml_emitter_emit(&w->emitter, ev);
    yaml_sequence_start_event_initialize(&start, NULL, NULL, 1, YAML_FLOW_SEQUENCE_STYLE);
    yaml_sequence_end_event_initialize(&end);
    bool begun = yaml_emitter_emit(&w->emitter, &start);
    bool put = yaml_emitter_emit(&w->emitter, ev);
    return yaml_emitter_emit(&w->emitter, &end) && begun && put;
}

static bool is_nothing(const yaml_event_t *ev)
{
    return ev->type == YAML_SCALAR_EVENT && ev->data.scalar.length == 0 &&
           ev->data.scalar.plain_implicit;
}

static int look_at(struct walk *w, const yaml_event_t *ev, struct err *e)
{
    switch (ev->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (w->documents++)
            return at_line(w, ev, "a second document begins here; a configuration is one", e);
        return 0;
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        assert(w->depth > 0); /* libyaml ends what it has begun */
        w->depth--;
        return 0;
    case YAML_ALIAS_EVENT:
    case YAML_SCALAR_EVENT:
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
        break;
    default:
        return 0;
    }
    if (w->depth == 0 && !is_nothing(ev))
        w->says_something = true;
    if (w->depth && innermost(w)->mapping && innermost(w)->at_key)
        return enter_key(w, ev, e);
    enter_value(w, ev);
    bool opens = ev->type == YAML_MAPPING_START_EVENT || ev->type == YAML_SEQUENCE_START_EVENT;
    return opens ? push(w, ev, e) : 0;
}

static int copy_events(struct walk *w, struct err *e)
{
    bool ended = false;
    while (!ended) {
        yaml_event_t ev;
        if (!yaml_parser_parse(&w->parser, &ev))
            return syntax_error(w, e);
        ended = ev.type == YAML_STREAM_END_EVENT;
        if (look_at(w, &ev, e) < 0) {
            yaml_event_delete(&ev);
            return -1;
        }
        if (!emit(w, &ev))
            return err_set(e, ERR_CONFIG, NULL, "%s: %s", w->places->file, w->emitter.problem);
    }
    return 0;
}

static int write_yaml(void *to, unsigned char *bytes, size_t n)
{
    strbuf_add(to, bytes, n);
    return 1;
}

int config_text_read(const char *file, const char *text, size_t len, struct config_places *places,
                     struct strbuf *yaml, struct err *e)
{
    struct walk w = {.places = places, .path = STRBUF_INIT};
    *places = (struct config_places){.file = xstrdup(file)};
    if (!yaml_parser_initialize(&w.parser) || !yaml_emitter_initialize(&w.emitter))
        abort(); /* out of memory */
    yaml_parser_set_input_string(&w.parser, (const unsigned char *)text, len);
    yaml_emitter_set_output(&w.emitter, write_yaml, yaml);
    yaml_emitter_set_unicode(&w.emitter, 1);
    yaml_emitter_set_width(&w.emitter, -1);
    int rc = copy_events(&w, e);
    if (rc == 0 && !w.says_something)
        strbuf_reset(yaml);
    yaml_emitter_delete(&w.emitter);
    yaml_parser_delete(&w.parser);
    strbuf_free(&w.path);
    return rc;
}

void config_places_free(struct config_places *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->items[i].path);
    free(p->items);
    free(p->file);
    memset(p, 0, sizeof *p);
}

static int find_line(const struct config_places *p, const char *path, size_t len, int nth)
{
    for (size_t i = 0; i < p->n; i++) {
        const char *at = p->items[i].path;
        if (strncmp(at, path, len) == 0 && !at[len] && --nth == 0)
            return p->items[i].line;
    }
    return 0;
}

bool config_place_known(const struct config_places *p, const char *path)
{
    return find_line(p, path, strlen(path), 1) > 0;
}

int config_place_line(const struct config_places *p, const char *path, int nth)
{
    size_t len = strlen(path);
    int line = find_line(p, path, len, nth);
    while (!line && len > 0) {
        len--;
        if (path[len] == '.' || path[len] == '[')
            line = find_line(p, path, len, 1);
    }
    return line;
}

int config_place_blame(const struct config_places *p, const char *path, int nth, struct err *e)
{
    const char *file = p->file ? p->file : "(defaults)";
    size_t len = strlen(path);
    int line = find_line(p, path, len, nth);
    /* A single text that stands for a list has no items in the file. */
    if (!line && len && path[len - 1] == ']')
        len = (size_t)(strrchr(path, '[') - path);
    line = config_place_line(p, path, nth);
    if (*path)
        err_prefix(e, "%.*s", (int)len, path);
    return line ? err_prefix(e, "%s:%d", file, line) : err_prefix(e, "%s", file);
}
