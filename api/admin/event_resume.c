/* SPDX-License-Identifier: MIT
 *
 * Finds where a stream begins: after the last event that its client got, if that event still
 * exists. After a backup was restored, another event may have the same number.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/admin/event_stream_priv.h"
#include "storage/storage.h"

#define TAG_DIGITS 8

/* Reads a tag like "-0a1b2c3d" and returns the text after it. NULL: `text` does not begin with a
 * tag. */
static const char *parse_tag(const char *text, unsigned *out)
{
    if (*text != '-' || strspn(text + 1, "0123456789abcdef") < TAG_DIGITS)
        return NULL;
    char digits[TAG_DIGITS + 1] = "";
    memcpy(digits, text + 1, TAG_DIGITS);
    *out = (unsigned)strtoul(digits, NULL, 16);
    return text + 1 + TAG_DIGITS;
}

/* Reads an event's id, with its tags or without: "123", "123-0a1b2c3d", "123-0a1b2c3d-4e5f6a7b". */
static bool parse(const char *text, struct event_from *out)
{
    char *end;
    *out = (struct event_from){.is_given = true};
    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    out->seq = strtoll(text, &end, 10);
    if (errno != 0 || *end == '\0')
        return errno == 0;
    const char *rest = parse_tag(end, &out->tag);
    out->has_tag = true;
    if (!rest || *rest == '\0')
        return rest != NULL;
    rest = parse_tag(rest, &out->roles);
    out->has_roles = true;
    return rest && *rest == '\0';
}

int event_from_read(struct request *r, struct event_from *out, struct err *e)
{
    const char *last = request_header(r, "Last-Event-ID"), *since = request_query(r, "since");
    const char *name = last && *last ? "Last-Event-ID" : "since";
    const char *text = last && *last ? last : since;
    *out = (struct event_from){.is_given = false};
    if (!text || parse(text, out))
        return 0;
    return err_set(e, ERR_INVALID_QUERY, name,
                   "'%s' is '%.60s', which is not the id of an event; it must be the last id of "
                   "a stream, or a whole number from 0 to %lld, such as `next` of GET "
                   "/batchaid/events.",
                   name, text, (long long)INT64_MAX);
}

static int judge_row(const struct event_feed *f, struct request *r, const struct event_from *from,
                     const char **why, struct err *e)
{
    struct event_rows rows;
    char id[EVENT_ID_SIZE], *tag;
    const struct st_page page = {.after = from->seq - 1, .limit = 1};
    if (st_event_since(f->st, &r->arena, &page, &rows, e) < 0)
        return -1;
    if (rows.n == 0 || rows.items[0].seq != from->seq) {
        *why = arena_printf(&r->arena, "event %lld has been removed", (long long)from->seq);
        return 0;
    }
    event_id(&rows.items[0], id);
    tag = strchr(id, '-') + 1;
    if (from->has_tag && strtoul(tag, NULL, 16) != from->tag)
        *why = arena_printf(
            &r->arena,
            "the number %lld belongs to another event now, because the database was restored",
            (long long)from->seq);
    return 0;
}

int event_from_judge(const struct event_feed *f, struct request *r, const struct event_from *from,
                     const char **why, struct err *e)
{
    int64_t oldest = 0;
    *why = NULL;
    if (!from->is_given)
        return 0;
    if (from->seq > st_events_on_disk(f->st)) {
        *why = arena_printf(&r->arena,
                            "event %lld has not happened; the database was perhaps restored",
                            (long long)from->seq);
        return 0;
    }
    if (from->seq > 0 && judge_row(f, r, from, why, e) < 0)
        return -1;
    if (!*why && event_ring_lacks(&f->ring, from->seq))
        *why = "a deletion since your last event is not recorded for streams any more";
    if (*why || (f->is_on && from->seq >= f->ring.after))
        return 0;
    int rc = st_event_nth(f->st, INT64_MAX, EVENT_RING_EVENTS + 1, &oldest, e);
    if (rc > 0 && from->seq < oldest)
        *why = arena_printf(&r->arena, "more than %d events have happened since event %lld",
                            EVENT_RING_EVENTS, (long long)from->seq);
    return rc < 0 ? -1 : 0;
}
