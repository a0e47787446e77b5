/* SPDX-License-Identifier: MIT
 *
 * What SMB notes of files: attributes, times, permissions. The time of the last write is the file's
 * own; attributes and the time of creation, which no program can set, are noted beside it if they
 * are not the usual ones. All files have one permission.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/azfiles/handlers.h"
#include "lib/jsontext.h"

#define ATTRIBUTES "x-ms-file-attributes"
#define CREATED    "x-ms-file-creation-time"
#define WRITTEN    "x-ms-file-last-write-time"
#define NS_PER_US  1000

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

static bool is(const char *value, const char *word)
{
    return strcasecmp(value, word) == 0;
}

/* "ReadOnly|Hidden" -> "ReadOnly | Hidden", as the service shows them. */
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

static int put_attributes(struct request *r, json_t *doc, struct err *e)
{
    const char *value = request_header(r, ATTRIBUTES);
    struct strbuf b = STRBUF_INIT;
    if (!value || is(value, "preserve"))
        return 0;
    json_object_del(doc, ATTRIBUTES);
    if (is(value, "none"))
        return 0;
    int rc = read_attributes(value, &b, e);
    if (rc == 0 && b.len > 0 && strcmp(b.s, "Archive") != 0 && strcmp(b.s, "Directory") != 0)
        json_object_set_new(doc, ATTRIBUTES, json_string(b.s));
    strbuf_free(&b);
    return rc;
}

static int read_time(const char *name, const char *value, int64_t *us, struct err *e)
{
    if (sas_time(value, us) == 0)
        return 0;
    return bad(name, value, "now, preserve, or an instant such as 2019-05-09T01:19:19Z", e);
}

/* A new file was made now without being told so. */
static bool is_usual(const char *value, const char *old)
{
    return !value || is(value, "preserve") || (!old && is(value, "now"));
}

static int put_created(struct request *r, const char *old, json_t *doc, struct err *e)
{
    const char *value = request_header(r, CREATED);
    char when[ITEM_TIME_SIZE];
    int64_t us;
    if (is_usual(value, old))
        return 0;
    if (is(value, "now"))
        us = r->now_us;
    else if (read_time(CREATED, value, &us, e) < 0)
        return -1;
    item_time(us * 1000, when);
    json_object_set_new(doc, CREATED, json_string(when));
    return 0;
}

static int read_written(struct request *r, const char *old, int64_t *mtime_ns, struct err *e)
{
    const char *value = request_header(r, WRITTEN);
    int64_t us;
    *mtime_ns = FILES_TIME_KEPT;
    if (is_usual(value, old))
        return 0;
    if (is(value, "now"))
        us = r->now_us;
    else if (read_time(WRITTEN, value, &us, e) < 0)
        return -1;
    *mtime_ns = us * 1000;
    return 0;
}

/* What there was is kept, unless it is said anew. */
static void keep(json_t *doc, const char *old)
{
    static const char *const names[] = {ATTRIBUTES, CREATED};
    json_t *was = old ? json_loads(old, 0, NULL) : NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_t *value = json_object_get(was, names[i]);
        if (value)
            json_object_set(doc, names[i], value);
    }
    json_decref(was);
}

int smb_read(struct request *r, const char *old, const char **properties, int64_t *mtime_ns,
             struct err *e)
{
    json_t *doc = *properties ? json_loads(*properties, 0, NULL) : NULL;
    doc = doc ? doc : json_object();
    keep(doc, old);
    int rc = read_written(r, old, mtime_ns, e);
    if (rc == 0)
        rc = put_attributes(r, doc, e);
    if (rc == 0)
        rc = put_created(r, old, doc, e);
    char *text = rc == 0 && json_object_size(doc) > 0 ? jsontext(doc) : NULL;
    *properties = text ? arena_strdup(&r->arena, text) : NULL;
    free(text);
    json_decref(doc);
    return rc;
}

const char *smb_attributes(struct request *r, const struct file_facts *f,
                           const struct share_item *i)
{
    const char *noted = noted_text(&r->arena, i->properties, ATTRIBUTES);
    const char *usual = f->is_directory ? "Directory" : "Archive";
    if (!noted || !f->is_directory || strstr(noted, "Directory"))
        return noted ? noted : usual;
    return arena_concat(&r->arena, noted, " | Directory");
}

/* A clock that changes is not the kernel's, which notes these: then they are what was noted here,
 * or follow from the time of the last write. */
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
    out->created = noted_text(&r->arena, i->properties, CREATED);
    if (!out->created)
        out->created = arena_strdup(&r->arena, created);
}
