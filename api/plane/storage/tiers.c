/* SPDX-License-Identifier: MIT
 *
 * Tiers as members of a row's properties: the name of the tier; for a rehydration also the new
 * tier, and the instants at which it got its priorities. Texts are the request's. On the loop's
 * thread.
 */
#include "api/plane/storage/tiers.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>
#include <strings.h>

#include "api/plane/storage/beside.h"
#include "scheduler/wake/paced.h"
#include "storage/storage.h"

#define TIER        BESIDE_TIER
#define REHYDRATION BESIDE_REHYDRATION
#define PRIORITY    "x-ms-rehydrate-priority"
#define ARCHIVE     "Archive"

/* --- at present ------------------------------------------------------------------------------- */

/* Whether a rehydration is not over yet. It is over when the duration for one of the priorities
 * that it has had has passed. */
static bool goes_on(const struct wakes *wakes, const char *subscription, const json_t *rehydration)
{
    static const struct {
        const char *name;
        enum pace_step step;
    } priorities[] = {{"standard", PACE_REHYDRATION}, {"high", PACE_REHYDRATION_HIGH}};
    for (size_t i = 0; i < sizeof priorities / sizeof *priorities; i++) {
        const json_t *since = json_object_get(rehydration, priorities[i].name);
        const struct paced step = {.step = priorities[i].step,
                                   .subscription = subscription,
                                   .since_us = json_integer_value(since)};
        if (since && wakes_paced_until(wakes, &step) == 0)
            return false;
    }
    return true;
}

struct tier tier_of(struct arena *a, const struct wakes *wakes, const char *subscription,
                    const struct share_item *i, const struct file_facts *f)
{
    struct tier t = {0};
    if (!i->properties || !strstr(i->properties, TIER))
        return t;
    json_auto_t *doc = beside_open(i);
    const json_t *rehydration = json_object_get(doc, REHYDRATION);
    const char *name = json_string_value(json_object_get(doc, TIER));
    const char *to = json_string_value(json_object_get(rehydration, "to"));
    t.archived = name && strcmp(name, ARCHIVE) == 0;
    if (t.archived && f && !item_is_of(i, f))
        return (struct tier){0};
    if (t.archived && to && goes_on(wakes, subscription, rehydration)) {
        t.to = arena_strdup(a, to);
        t.priority = json_object_get(rehydration, "high") ? "High" : "Standard";
    } else if (t.archived && to) {
        t.archived = false;
        name = to;
    }
    t.name = name ? arena_strdup(a, name) : NULL;
    return t;
}

struct tier tier_now(struct request *r, const char *subscription, const struct share_item *i,
                     const struct file_facts *f)
{
    return tier_of(&r->arena, azstorage_of(r)->wakes, subscription, i, f);
}

struct tier tier_here(struct request *r, const struct share_item *i, const struct file_facts *f)
{
    return tier_now(r, grant_of(r)->account.scope.subscription, i, f);
}

const char *tier_status(struct request *r, const struct tier *t)
{
    char *status = arena_printf(&r->arena, "rehydrate-pending-to-%s", t->to);
    for (char *p = status; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return status;
}

int tier_refuse(const struct tier *t, struct err *e)
{
    if (t->to)
        return err_set(e, AZSTORAGE_ARCHIVED, NULL,
                       "This operation is not permitted on an archived blob: it is being "
                       "rehydrated to %s, with the priority %s, and can be used after that.",
                       t->to, t->priority);
    return err_set(e, AZSTORAGE_ARCHIVED, NULL,
                   "This operation is not permitted on an archived blob. Set Blob Tier to Hot, "
                   "Cool or Cold, or Copy Blob with such an x-ms-access-tier, rehydrates it.");
}

/* Finds the row of a mounted blob. A mount may have capital letters in the container's name; the
 * container has none. */
static int find_blob(struct request *r, const struct mount_volume *v, const char *path,
                     struct storage_account *account, struct share_item *out, struct err *e)
{
    struct storage *st = azstorage_of(r)->storage;
    struct share share;
    const char *container = arena_lower(&r->arena, v->share);
    int rc = st_account_by_name(st, &r->arena, arena_lower(&r->arena, v->account), account, e);
    if (rc > 0)
        rc = st_share_by_name(st, &r->arena, account->id, SHARE_BLOBS, container, &share, e);
    return rc > 0 ? st_item_get(st, &r->arena, share.id, path, out, e) : rc;
}

int tier_check_file(struct request *r, const struct mount_volume *v, const char *path,
                    const struct file_facts *f, struct err *e)
{
    struct storage_account account;
    struct share_item item;
    int rc = v->kind == MOUNT_BLOBS && strcmp(r->method, "GET") == 0
                 ? find_blob(r, v, path, &account, &item, e)
                 : 0;
    if (rc <= 0)
        return rc;
    const struct tier now = tier_now(r, account.scope.subscription, &item, f);
    return now.archived ? tier_refuse(&now, e) : 0;
}

/* --- changed ---------------------------------------------------------------------------------- */

void tier_set(struct arena *a, struct share_item *i, const char *tier)
{
    json_t *doc = beside_open(i);
    json_object_del(doc, REHYDRATION);
    json_object_del(doc, TIER);
    if (tier)
        json_object_set_new(doc, TIER, json_string(tier));
    beside_close(a, i, doc);
}

void tier_rehydrate(struct request *r, struct share_item *i, const char *tier, bool high)
{
    enum pace_step step = high ? PACE_REHYDRATION_HIGH : PACE_REHYDRATION;
    const char *subscription = grant_of(r)->account.scope.subscription;
    if (pace_us(wakes_pace(azstorage_of(r)->wakes), subscription, step) == 0) {
        tier_set(&r->arena, i, tier);
        return;
    }
    tier_set(&r->arena, i, ARCHIVE);
    json_t *doc = beside_open(i);
    json_object_set_new(
        doc, REHYDRATION,
        json_pack("{s:s, s:I}", "to", tier, high ? "high" : "standard", (json_int_t)r->now_us));
    beside_close(&r->arena, i, doc);
}

void tier_hasten(struct request *r, struct share_item *i)
{
    json_t *doc = beside_open(i);
    json_object_set_new(json_object_get(doc, REHYDRATION), "high", json_integer(r->now_us));
    beside_close(&r->arena, i, doc);
}

/* --- asked for -------------------------------------------------------------------------------- */

/* Reads a header whose value is one of the names, in any case. */
static int read_name(struct request *r, const char *header, const char *const *of,
                     const char *wanted, const char **out, struct err *e)
{
    const char *given = request_header(r, header);
    *out = NULL;
    for (; given && *of; of++)
        if (strcasecmp(given, *of) == 0)
            *out = *of;
    if (!given || *out)
        return 0;
    return err_set(e, AZSTORAGE_HEADER, header,
                   "The value for one of the HTTP headers is not in the correct format: %s is "
                   "'%.40s'; it must be %s.",
                   header, given, wanted);
}

int tier_read(struct request *r, const char **out, struct err *e)
{
    return read_name(r, TIER, beside_tiers, "Hot, Cool, Cold or Archive", out, e);
}

int tier_read_priority(struct request *r, const char **out, struct err *e)
{
    static const char *const names[] = {"Standard", "High", NULL};
    return read_name(r, PRIORITY, names, "Standard or High", out, e);
}
