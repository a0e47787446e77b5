/* SPDX-License-Identifier: MIT
 *
 * The state machine of leases (leases.h has its picture), and the replies to each transition. The
 * row stores the state as of the last change of the lease; the present state is computed from that
 * state and the time that has passed since. On the loop's thread.
 */
#include "api/plane/storage/leases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <uuid/uuid.h>

#define US_PER_S     1000000LL
#define SHORTEST_S   15
#define ACTION       "x-ms-lease-action"
#define ID           "x-ms-lease-id"
#define PROPOSED     "x-ms-proposed-lease-id"
#define DURATION     "x-ms-lease-duration"
#define BREAK_PERIOD "x-ms-lease-break-period"

/* --- leases in rows --------------------------------------------------------------------------- */

struct lease lease_of_item(const struct share_item *i)
{
    return (struct lease){i->lease_state, i->lease_id, i->lease_duration_s, i->lease_until_us};
}

void lease_to_item(const struct lease *l, struct share_item *i)
{
    i->lease_state = l->state;
    i->lease_id = l->id;
    i->lease_duration_s = l->duration_s;
    i->lease_until_us = l->until_us;
}

void lease_to_share(const struct lease *l, struct share *s)
{
    s->lease_state = l->state;
    s->lease_id = l->id;
    s->lease_duration_s = l->duration_s;
    s->lease_until_us = l->until_us;
}

static const struct lease_clock *clock_of(const struct request *r)
{
    return azstorage_of(r)->leases;
}

static int64_t now_of(const struct request *r)
{
    return lease_clock_us(clock_of(r));
}

static enum lease_state state_of(const struct request *r, const struct lease *l)
{
    return lease_state_now(clock_of(r), l);
}

/* --- leases in replies ------------------------------------------------------------------------ */

struct lease_shown lease_shown(const struct request *r, const struct lease *l)
{
    static const char *const names[] = {[LEASE_AVAILABLE] = "available",
                                        [LEASE_LEASED] = "leased",
                                        [LEASE_EXPIRED] = "expired",
                                        [LEASE_BREAKING] = "breaking",
                                        [LEASE_BROKEN] = "broken"};
    enum lease_state state = state_of(r, l);
    struct lease_shown s = {.status = lease_is_held(state) ? "locked" : "unlocked",
                            .state = names[state]};
    if (state == LEASE_LEASED)
        s.duration = l->duration_s == LEASE_INFINITE ? "infinite" : "fixed";
    return s;
}

void lease_headers(struct request *r, const struct lease *l)
{
    const struct lease_shown s = lease_shown(r, l);
    reply_header_text(r, "x-ms-lease-status", s.status);
    reply_header_text(r, "x-ms-lease-state", s.state);
    if (s.duration)
        reply_header_text(r, "x-ms-lease-duration", s.duration);
}

/* --- whether a request may go on ------------------------------------------------------------ */

/* Reads a GUID in the forms that Azure accepts: with hyphens, as 32 digits, or with hyphens and in
 * braces or parentheses. */
static int parse_guid(const char *text, uuid_t out)
{
    char form[37];
    size_t n = strlen(text);
    if (n == 38 && ((text[0] == '{' && text[37] == '}') || (text[0] == '(' && text[37] == ')')))
        snprintf(form, sizeof form, "%.36s", text + 1);
    else if (n == 32)
        snprintf(form, sizeof form, "%.8s-%.4s-%.4s-%.4s-%.12s", text, text + 8, text + 12,
                 text + 16, text + 20);
    else if (n == 36)
        snprintf(form, sizeof form, "%s", text);
    else
        return -1;
    return uuid_parse(form, out);
}

static bool is_its_id(const struct lease *l, const char *id)
{
    uuid_t a, b;
    return l->id && id && parse_guid(l->id, a) == 0 && parse_guid(id, b) == 0 &&
           uuid_compare(a, b) == 0;
}

int lease_check_by(struct request *r, const char *header, const struct lease *l, bool needs,
                   const struct lease_errors *errors, struct err *e)
{
    const char *id = request_header(r, header);
    if (!lease_is_held(state_of(r, l))) {
        if (!id)
            return 0;
        if (is_its_id(l, id))
            return err_set(e, AZSTORAGE_LEASE_LOST, header,
                           "A lease ID was specified, but the lease for the %s has expired.",
                           errors->what);
        return err_set(e, errors->not_present, header, "There is currently no lease on the %s.",
                       errors->what);
    }
    if (!id && needs)
        return err_set(e, AZSTORAGE_LEASE_MISSING, header,
                       "There is currently a lease on the %s and no lease ID was specified in the "
                       "request.",
                       errors->what);
    if (id && !is_its_id(l, id))
        return err_set(e, errors->mismatch, header,
                       "The lease ID specified did not match the lease ID for the %s.",
                       errors->what);
    return 0;
}

int lease_check(struct request *r, const struct lease *l, bool needs,
                const struct lease_errors *errors, struct err *e)
{
    return lease_check_by(r, ID, l, needs, errors, e);
}

void lease_written(const struct request *r, struct share_item *i)
{
    const struct lease l = lease_of_item(i), over = {.state = LEASE_AVAILABLE, .id = l.id};
    enum lease_state state = state_of(r, &l);
    if (state == LEASE_EXPIRED || state == LEASE_BROKEN)
        lease_to_item(&over, i);
}

bool lease_is_callers(struct request *r, const struct lease *l)
{
    return lease_is_held(state_of(r, l)) && is_its_id(l, request_header(r, ID));
}

int lease_check_infinite(struct request *r, const struct lease *l, struct err *e)
{
    if (!lease_is_held(state_of(r, l)) || l->duration_s == LEASE_INFINITE)
        return 0;
    return err_set(e, AZSTORAGE_LEASE_INFINITE, ID,
                   "The lease ID matched, but the specified lease must be an infinite-duration "
                   "lease.");
}

/* --- actions -------------------------------------------------------------------------------- */

static int read_guid(struct request *r, const char *name, const char **out, struct err *e)
{
    const char *text = request_header(r, name);
    uuid_t parsed;
    char usual[37];
    *out = NULL;
    if (!text)
        return 0;
    if (parse_guid(text, parsed) < 0)
        return err_set(e, AZSTORAGE_HEADER, name, "%s is '%.60s'; it must be a GUID.", name, text);
    uuid_unparse_lower(parsed, usual);
    *out = arena_strdup(&r->arena, usual);
    return 0;
}

struct seconds_bounds {
    int least, most; /* range of the value; `most` below `least`: only -1 is valid */
    bool infinite;   /* whether -1 (infinite) is valid too */
    int fallback;    /* the value if the header is missing */
};

static int read_seconds(struct request *r, const char *name, struct seconds_bounds b, int *out,
                        struct err *e)
{
    const char *text = request_header(r, name);
    char *end;
    *out = b.fallback;
    if (!text)
        return 0;
    long n = strtol(text, &end, 10);
    bool good = end != text && !*end && ((n >= b.least && n <= b.most) || (b.infinite && n == -1));
    if (!good && b.most < b.least)
        return err_set(e, AZSTORAGE_HEADER, name, "%s is '%.40s'; it must be -1.", name, text);
    if (!good)
        return err_set(e, AZSTORAGE_HEADER, name,
                       "%s is '%.40s'; it must be a number of seconds from %d to %d%s.", name, text,
                       b.least, b.most, b.infinite ? ", or -1" : "");
    *out = (int)n;
    return 0;
}

static const char *new_guid(struct arena *a)
{
    uuid_t id;
    char text[37];
    uuid_generate_random(id);
    uuid_unparse_lower(id, text);
    return arena_strdup(a, text);
}

static void hold(const struct request *r, struct lease *l, const char *id, int duration_s)
{
    *l = (struct lease){.state = LEASE_LEASED,
                        .id = id,
                        .duration_s = duration_s,
                        .until_us =
                            duration_s == LEASE_INFINITE ? 0 : now_of(r) + duration_s * US_PER_S};
}

static int acquire(struct request *r, struct lease *l, bool infinite_only, struct err *e)
{
    const char *proposed;
    int duration;
    enum lease_state state = state_of(r, l);
    const struct seconds_bounds any = {SHORTEST_S, LEASE_LONGEST_S, true, 0},
                                infinite = {0, -1, true, LEASE_INFINITE};
    if (read_guid(r, PROPOSED, &proposed, e) < 0 ||
        read_seconds(r, DURATION, infinite_only ? infinite : any, &duration, e) < 0)
        return -1;
    if (duration == 0)
        return err_set(e, AZSTORAGE_HEADER_MISSING, DURATION,
                       "An HTTP header that's mandatory for this request is not specified: "
                       "x-ms-lease-duration.");
    bool own = proposed && is_its_id(l, proposed);
    if (state == LEASE_BREAKING && own)
        return err_set(e, AZSTORAGE_LEASE_BREAKING, NULL,
                       "There is already a breaking lease, and it cannot be acquired until the "
                       "break is over.");
    if (lease_is_held(state) && !own)
        return err_set(e, AZSTORAGE_LEASE_PRESENT, NULL, "There is already a lease present.");
    hold(r, l, proposed ? proposed : new_guid(&r->arena), duration);
    reply_header_text(r, ID, l->id);
    return 201;
}

/* Reads the lease id, which most actions require. */
static int need_id(struct request *r, const struct lease *l, const char **id, struct err *e)
{
    if (read_guid(r, ID, id, e) < 0)
        return -1;
    if (!*id)
        return err_set(e, AZSTORAGE_HEADER_MISSING, ID,
                       "An HTTP header that's mandatory for this request is not specified: "
                       "x-ms-lease-id.");
    if (!l->id)
        return err_set(e, AZSTORAGE_LEASE_NONE, NULL, "There is currently no lease.");
    return 0;
}

static int wrong_id(struct err *e)
{
    return err_set(e, AZSTORAGE_LEASE_ID, ID, "The lease ID specified did not match the lease ID.");
}

static int renew(struct request *r, struct lease *l, struct err *e)
{
    const char *id;
    enum lease_state state = state_of(r, l);
    if (need_id(r, l, &id, e) < 0)
        return -1;
    if (!is_its_id(l, id))
        return wrong_id(e);
    if (state == LEASE_BREAKING || state == LEASE_BROKEN)
        return err_set(e, AZSTORAGE_LEASE_BROKEN, NULL,
                       "The lease ID matched, but the lease has been broken explicitly and cannot "
                       "be renewed.");
    if (state == LEASE_AVAILABLE)
        return wrong_id(e);
    hold(r, l, l->id, l->duration_s);
    reply_header_text(r, ID, l->id);
    return 200;
}

static int change(struct request *r, struct lease *l, struct err *e)
{
    const char *id, *proposed;
    enum lease_state state = state_of(r, l);
    if (need_id(r, l, &id, e) < 0 || read_guid(r, PROPOSED, &proposed, e) < 0)
        return -1;
    if (!proposed)
        return err_set(e, AZSTORAGE_HEADER_MISSING, PROPOSED,
                       "An HTTP header that's mandatory for this request is not specified: "
                       "x-ms-proposed-lease-id.");
    if (state == LEASE_BREAKING)
        return err_set(e, AZSTORAGE_LEASE_BREAKING_CHANGE, NULL,
                       "The lease ID matched, but the lease is currently in breaking state and "
                       "cannot be changed.");
    if (state != LEASE_LEASED)
        return err_set(e, AZSTORAGE_LEASE_NONE, NULL, "There is currently no lease.");
    if (!is_its_id(l, id) && !is_its_id(l, proposed)) /* the request may be repeated */
        return wrong_id(e);
    l->id = proposed;
    reply_header_text(r, ID, l->id);
    return 200;
}

static int release(struct request *r, struct lease *l, struct err *e)
{
    const char *id;
    if (need_id(r, l, &id, e) < 0)
        return -1;
    if (!is_its_id(l, id) || l->state == LEASE_AVAILABLE)
        return wrong_id(e);
    *l = (struct lease){.state = LEASE_AVAILABLE};
    return 200;
}

/* The remaining time of a lease, in whole seconds. */
static int left_s(const struct request *r, const struct lease *l)
{
    int64_t end = lease_ends_us(clock_of(r), l), left = (end - now_of(r) + US_PER_S - 1) / US_PER_S;
    return end == 0 || left < 0 ? 0 : (int)left;
}

static int break_it(struct request *r, struct lease *l, struct err *e)
{
    enum lease_state state = state_of(r, l);
    int period;
    if (read_seconds(r, BREAK_PERIOD, (struct seconds_bounds){0, LEASE_LONGEST_S, false, -1},
                     &period, e) < 0)
        return -1;
    if (state == LEASE_AVAILABLE)
        return err_set(e, AZSTORAGE_LEASE_NONE, NULL, "There is currently no lease.");
    int left = lease_is_held(state) ? left_s(r, l) : 0;
    bool endless = state == LEASE_LEASED && l->duration_s == LEASE_INFINITE;
    if (period >= 0 && lease_is_held(state) && (endless || period < left))
        left = period; /* a break never prolongs a lease */
    l->state = left > 0 ? LEASE_BREAKING : LEASE_BROKEN;
    l->until_us = left > 0 ? now_of(r) + left * US_PER_S : 0;
    l->duration_s = 0;
    reply_header(r, "x-ms-lease-time", "%d", left);
    return 202;
}

/* Checks the action: a SAS with "d" and without "w" may only break leases.
 * https://learn.microsoft.com/rest/api/storageservices/create-service-sas */
static int check_permission(struct request *r, const char *action, struct err *e)
{
    if (grant_has(grant_of(r), 'w') || (action && strcasecmp(action, "break") == 0))
        return 0;
    return err_set(e, AZSTORAGE_PERMISSION, NULL,
                   "This request is not authorized to perform this operation using this "
                   "permission: with d alone a lease can be broken, and nothing else (w).");
}

int lease_act(struct request *r, struct lease *l, bool infinite_only, struct err *e)
{
    const char *action = request_header(r, ACTION);
    if (check_permission(r, action, e) < 0)
        return -1;
    if (action && strcasecmp(action, "acquire") == 0)
        return acquire(r, l, infinite_only, e);
    if (action && strcasecmp(action, "renew") == 0)
        return renew(r, l, e);
    if (action && strcasecmp(action, "change") == 0)
        return change(r, l, e);
    if (action && strcasecmp(action, "release") == 0)
        return release(r, l, e);
    if (action && strcasecmp(action, "break") == 0)
        return break_it(r, l, e);
    return err_set(e, action ? AZSTORAGE_HEADER : AZSTORAGE_HEADER_MISSING, ACTION,
                   "x-ms-lease-action is '%.40s'; it must be acquire, renew, change, release or "
                   "break.",
                   action ? action : "");
}
