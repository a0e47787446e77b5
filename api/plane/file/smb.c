/* SPDX-License-Identifier: MIT
 *
 * SMB's properties of files: attributes, times, permissions. The time of the last write is the
 * modification time of the file. Attributes and the time of creation cannot be set on a Linux file,
 * so the file's row has them if they differ from the default. All files have one permission.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/plane/file/handlers.h"
#include "lib/jsontext.h"

#define ATTRIBUTES "x-ms-file-attributes"
#define CREATED    "x-ms-file-creation-time"
#define WRITTEN    "x-ms-file-last-write-time"
#define CHANGED    "x-ms-file-change-time"
/* the kernel's time of change, in ns, for which the stored time "changed" is shown instead */
#define CHANGED_OF  "changed-of"
#define SET_ARCHIVE "x-ms-file-copy-set-archive"
#define NS_PER_US   1000

static const char *const known[] = {"ReadOnly",          "Hidden",     "System",    "Directory",
                                    "Archive",           "Normal",     "Temporary", "Offline",
                                    "NotContentIndexed", "NoScrubData"};

static int bad(const char *name, const char *value, const char *rule, struct err *e)
{
    return err_set(e, AZSTORAGE_HEADER, name,
                   "The value for one of the HTTP headers is not in the correct format: %s is "
                   "'%.80s'; it must be %s.",
                   name, value, rule);
}

/* --- attributes ----------------------------------------------------------------------------- */

static bool is(const char *value, const char *word)
{
    return strcasecmp(value, word) == 0;
}

/* Reads "ReadOnly|Hidden" and writes it in Azure's form: "ReadOnly | Hidden". */
static int read_attributes(const char *value, struct strbuf *out, struct err *e)
{
    for (const char *p = value; *p;) {
        p += strspn(p, " |");
        size_t n = strcspn(p, " |"), i = 0;
        if (n == 0)
            break;
        while (i < sizeof known / sizeof *known &&
               (strlen(known[i]) != n || strncasecmp(known[i], p, n) != 0))
            i++;
        if (i == sizeof known / sizeof *known)
            return bad(ATTRIBUTES, value, "None, or names such as 'ReadOnly | Hidden'", e);
        strbuf_concat(out, out->len ? " | " : "", known[i]);
        p += n;
    }
    return 0;
}

/* Whether the copy takes this value from its source. */
static bool is_source(const char *value, const struct smb_source *from)
{
    return from && is(value, "source");
}

static void set_text(json_t *doc, const char *name, const char *text)
{
    if (text)
        json_object_set_new(doc, name, json_string(text));
}

static int put_attributes(struct request *r, const struct smb_source *from, json_t *doc,
                          struct err *e)
{
    const char *value = request_header(r, ATTRIBUTES), *archive = request_header(r, SET_ARCHIVE);
    struct strbuf b = STRBUF_INIT;
    int rc = 0;
    if (value && is_source(value, from))
        value = smb_attributes(r, from->facts, from->item);
    if (value && !is(value, "preserve")) {
        json_object_del(doc, ATTRIBUTES);
        rc = is(value, "none") ? 0 : read_attributes(value, &b, e);
    }
    if (rc == 0 && from && archive && is(archive, "true") && b.len > 0 && !strstr(b.s, "Archive"))
        strbuf_puts(&b, " | Archive");
    if (rc == 0 && b.len > 0 && strcmp(b.s, "Archive") != 0 && strcmp(b.s, "Directory") != 0)
        set_text(doc, ATTRIBUTES, b.s);
    strbuf_free(&b);
    return rc;
}

/* --- times ---------------------------------------------------------------------------------- */

/* Times as ticks of 100 ns since 1970. They are limited to SMB's range, which begins in 1601, and
 * to the dates that a reply can write. */
#define TICKS_PER_S INT64_C(10000000)
#define FIRST_TICK  (INT64_C(-11644473600) * TICKS_PER_S)
#define LAST_TICK   (INT64_C(253402300800) * TICKS_PER_S - 1)
#define NS_PER_TICK 100

static int64_t within(int64_t ticks, int64_t least, int64_t most)
{
    return ticks < least ? least : ticks > most ? most : ticks;
}

static int read_time(const char *name, const char *value, int64_t *ticks, struct err *e)
{
    int64_t us;
    const char *fraction = strchr(value, '.');
    size_t digits = fraction ? strspn(fraction + 1, "0123456789") : 0;
    if (sas_time(value, &us) < 0)
        return bad(name, value, "now, preserve, or an instant such as 2019-05-09T01:19:19Z", e);
    int64_t rest = digits >= 7 ? fraction[7] - '0' : 0;
    *ticks = within(us * 10 + rest, FIRST_TICK, LAST_TICK);
    return 0;
}

/* Whether a value of the request means the default: it is missing or "preserve", or "now" for the
 * creation of a new file. */
static bool is_usual(const char *value, const char *old)
{
    return !value || is(value, "preserve") || (!old && is(value, "now"));
}

static int read_when(struct request *r, const char *name, const char *value, int64_t *ticks,
                     struct err *e)
{
    *ticks = r->now_us * 10;
    return is(value, "now") ? 0 : read_time(name, value, ticks, e);
}

static int put_time(struct request *r, const char *name, const char *value, json_t *doc,
                    struct err *e)
{
    char when[ITEM_TIME_SIZE];
    int64_t ticks;
    if (read_when(r, name, value, &ticks, e) < 0)
        return -1;
    item_ticks(ticks, when);
    set_text(doc, name, when);
    return 0;
}

/* Adds the time of creation. For a copy it is now, unless the request gives a time. */
static int put_created(struct request *r, const char *old, const struct smb_source *from,
                       json_t *doc, struct err *e)
{
    const char *value = request_header(r, CREATED);
    struct smb_times t;
    if (from)
        json_object_del(doc, CREATED);
    if (is_usual(value, old))
        return 0;
    if (!is_source(value, from))
        return put_time(r, CREATED, value, doc, e);
    smb_times(r, from->facts, from->item, &t);
    set_text(doc, CREATED, t.created);
    return 0;
}

/* Adds the time of change that the request gives. It is valid until the next change, which the
 * kernel's own time of change shows (smb_changed()). */
static int put_changed(struct request *r, const struct smb_source *from, json_t *doc, struct err *e)
{
    const char *value = request_header(r, CHANGED);
    struct smb_times t;
    if (!value || is(value, "preserve"))
        return 0;
    json_object_del(doc, CHANGED);
    json_object_del(doc, CHANGED_OF);
    if (is(value, "now"))
        return 0;
    if (!is_source(value, from))
        return put_time(r, CHANGED, value, doc, e);
    smb_times(r, from->facts, from->item, &t);
    set_text(doc, CHANGED, t.changed);
    return 0;
}

/* Reads the time of the last write as ns in an int64_t, like the modification time of a file. */
static int read_written(struct request *r, const char *old, const struct smb_source *from,
                        int64_t *mtime_ns, struct err *e)
{
    const char *value = request_header(r, WRITTEN);
    int64_t ticks;
    *mtime_ns = FILES_TIME_KEPT;
    if (is_usual(value, old))
        return 0;
    if (is_source(value, from)) {
        *mtime_ns = from->facts->mtime_ns;
        return 0;
    }
    if (read_when(r, WRITTEN, value, &ticks, e) < 0)
        return -1;
    *mtime_ns = within(ticks, -INT64_MAX / NS_PER_TICK, INT64_MAX / NS_PER_TICK) * NS_PER_TICK;
    return 0;
}

/* Keeps the old attributes and time of creation if the request gives no new ones. */
static void keep(json_t *doc, const char *old)
{
    static const char *const names[] = {ATTRIBUTES, CREATED};
    json_auto_t *was = old ? json_loads(old, 0, NULL) : NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_t *value = json_object_get(was, names[i]);
        if (value)
            json_object_set(doc, names[i], value);
    }
}

int smb_read(struct request *r, const char *old, const struct smb_source *from,
             const char **properties, int64_t *mtime_ns, struct err *e)
{
    json_t *doc = *properties ? json_loads(*properties, 0, NULL) : NULL;
    doc = doc ? doc : json_object();
    keep(doc, old);
    int rc = read_written(r, old, from, mtime_ns, e);
    if (rc == 0)
        rc = put_attributes(r, from, doc, e);
    if (rc == 0)
        rc = put_created(r, old, from, doc, e);
    if (rc == 0)
        rc = put_changed(r, from, doc, e);
    *properties = jsontext_filled_in(&r->arena, doc);
    return rc;
}

void smb_changed(struct request *r, const char **properties, const struct file_facts *f)
{
    if (!*properties || !strstr(*properties, CHANGED))
        return; /* almost no file has this property */
    json_t *doc = json_loads(*properties, 0, NULL);
    if (json_object_get(doc, CHANGED) && !json_object_get(doc, CHANGED_OF))
        json_object_set_new(doc, CHANGED_OF, json_integer(f->ctime_ns));
    *properties = jsontext_filled_in(&r->arena, doc);
}

/* The stored time of change; NULL: there is none, or the file has changed since. */
static const char *noted_change(struct request *r, const struct file_facts *f,
                                const struct share_item *i)
{
    if (!i->properties || !strstr(i->properties, CHANGED))
        return NULL;
    json_auto_t *doc = json_loads(i->properties, 0, NULL);
    const char *when = json_string_value(json_object_get(doc, CHANGED));
    bool holds = json_integer_value(json_object_get(doc, CHANGED_OF)) == f->ctime_ns;
    when = when && holds ? arena_strdup(&r->arena, when) : NULL;
    return when;
}

/* --- shown ---------------------------------------------------------------------------------- */

const char *smb_attributes(struct request *r, const struct file_facts *f,
                           const struct share_item *i)
{
    const char *noted = noted_text(&r->arena, i->properties, ATTRIBUTES);
    const char *usual = f->is_directory ? "Directory" : "Archive";
    if (!noted || !f->is_directory || strstr(noted, "Directory"))
        return noted ? noted : usual;
    return arena_concat(&r->arena, noted, " | Directory");
}

/* With a virtual clock the kernel's times are not shown: shows the stored times, or else the time
 * of the last write. */
static struct file_facts times_shown(const struct request *r, const struct file_facts *f,
                                     const struct share_item *i)
{
    struct file_facts t = *f;
    if (!r->config->clock_changes) {
        t.btime_ns = f->btime_ns ? f->btime_ns : f->ctime_ns;
        return t;
    }
    int64_t noted_ns = i->revision * NS_PER_US;
    t.btime_ns = i->created_us ? i->created_us * NS_PER_US : f->mtime_ns;
    t.ctime_ns = noted_ns > f->mtime_ns ? noted_ns : f->mtime_ns;
    t.atime_ns = f->mtime_ns;
    return t;
}

void smb_times(struct request *r, const struct file_facts *f, const struct share_item *i,
               struct smb_times *out)
{
    const struct file_facts t = times_shown(r, f, i);
    char created[ITEM_TIME_SIZE];
    item_time(t.btime_ns, created);
    item_time(t.atime_ns, out->accessed);
    item_time(t.mtime_ns, out->written);
    item_time(t.ctime_ns, out->changed);
    const char *changed = noted_change(r, f, i);
    if (changed)
        snprintf(out->changed, sizeof out->changed, "%s", changed);
    out->created = noted_text(&r->arena, i->properties, CREATED);
    if (!out->created)
        out->created = arena_strdup(&r->arena, created);
}
