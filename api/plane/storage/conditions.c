/* SPDX-License-Identifier: MIT
 *
 * Reads the four headers and compares them with the present state, in the order of RFC
 * 7232. Keeps no state. On the loop's thread.
 */
#include "api/plane/storage/conditions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "api/plane/storage/errors.h"

/* A set of condition headers, with the errors if they do not hold. */
struct set {
    const char *match, *none_match, *modified, *unmodified;
    struct condition_kinds kinds; /* not_modified: the error of a request that reads */
};

#define OWN_HEADERS "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"

static const struct set own = {OWN_HEADERS,
                               {AZSTORAGE_NOT_MODIFIED, AZSTORAGE_CONDITION, AZSTORAGE_HEADER}};
static const struct set of_source = {
    "x-ms-source-if-match",
    "x-ms-source-if-none-match",
    "x-ms-source-if-modified-since",
    "x-ms-source-if-unmodified-since",
    {AZSTORAGE_SOURCE_CONDITION, AZSTORAGE_SOURCE_CONDITION, AZSTORAGE_HEADER}};

bool conditions_want_new(const struct request *r)
{
    const char *none = request_header(r, own.none_match);
    return none && strcmp(none, "*") == 0;
}

/* Whether a list of ETags, with or without quotes, contains this ETag. Ignores W/. */
static bool lists(const char *list, uint64_t etag)
{
    char wanted[24];
    int n = snprintf(wanted, sizeof wanted, "0x%llX", (unsigned long long)etag);
    for (const char *p = list; *p;) {
        p += strspn(p, " \t,");
        if (strncmp(p, "W/", 2) == 0)
            p += 2;
        p += *p == '"';
        size_t len = strcspn(p, "\", \t");
        if ((int)len == n && strncasecmp(p, wanted, len) == 0)
            return true;
        p += len;
        p += *p == '"';
    }
    return false;
}

static bool matches(const char *list, const struct condition_state *now)
{
    return now->exists && (strcmp(list, "*") == 0 || lists(list, now->etag));
}

static int read_date(const struct set *s, const char *name, const char *text, int64_t *out_s,
                     struct err *e)
{
    struct tm tm = {0};
    const char *end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm);
    if (!end || *end)
        return err_set(e, s->kinds.header, name,
                       "The value for one of the HTTP headers is not in the correct format: %s is "
                       "'%.60s'; it must be like 'Thu, 07 Jun 2018 21:34:00 GMT'.",
                       name, text);
    *out_s = (int64_t)timegm(&tm);
    return 0;
}

/* Compares a date condition. 1: it holds or is missing; 0: it does not hold. Dates have whole
 * seconds. */
static int date_holds(struct request *r, const struct set *s, const char *name, bool after,
                      const struct condition_state *now, struct err *e)
{
    const char *text = request_header(r, name);
    int64_t at = 0, modified = now->modified_us / 1000000;
    if (!text)
        return 1;
    if (read_date(s, name, text, &at, e) < 0)
        return -1;
    return !now->exists || (after ? modified > at : modified <= at);
}

static int fails(int kind, const char *name, struct err *e)
{
    return err_set(e, kind, NULL,
                   "The condition specified using HTTP conditional header(s) is not met: %s.",
                   name);
}

/* RFC 9110, section 13.2.2: a date condition is ignored if there is an ETag condition. */
static int check(struct request *r, const struct set *s, const struct condition_state *now,
                 struct err *e)
{
    bool reads = strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0;
    int fail = s->kinds.condition, read_fails = reads ? s->kinds.not_modified : fail;
    const char *match = request_header(r, s->match), *none = request_header(r, s->none_match);
    if (match && !matches(match, now))
        return fails(fail, s->match, e);
    if (none && matches(none, now))
        return fails(read_fails, s->none_match, e);
    int unmodified = match ? 1 : date_holds(r, s, s->unmodified, false, now, e);
    int modified =
        none || unmodified < 0 ? unmodified : date_holds(r, s, s->modified, true, now, e);
    if (unmodified < 0 || modified < 0)
        return -1;
    if (!unmodified)
        return fails(fail, s->unmodified, e);
    return none || modified ? 0 : fails(read_fails, s->modified, e);
}

int conditions_check(struct request *r, const struct condition_state *now, struct err *e)
{
    return check(r, &own, now, e);
}

int conditions_check_as(struct request *r, const struct condition_state *now,
                        const struct condition_kinds *kinds, struct err *e)
{
    const struct set s = {OWN_HEADERS, *kinds};
    return check(r, &s, now, e);
}

int conditions_check_source(struct request *r, const struct condition_state *now, struct err *e)
{
    return check(r, &of_source, now, e);
}
