/* SPDX-License-Identifier: MIT
 *
 * Viewers are in a linked list, because few principals have streams at a time. A viewer is freed
 * with its last stream.
 */
#include "api/admin/event_viewers.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/live.h"
#include "lib/hash.h"

#define RIGHTS_MS        5000
#define SHARED_ROLES_MAX 32 /* principals with more roles share no texts */
#define UNREADABLE       "your roles cannot be read now"
#define READ_MACHINES    "batchaid/nodes/read"

/* A hash of the roles that does not depend on their order. */
static uint64_t roles_of(const struct grants *g)
{
    uint64_t sum = g->n;
    for (size_t i = 0; i < g->n; i++) {
        const struct role_assignment *a = &g->rows[i];
        sum += number_hash(text_hash(a->role, strlen(a->role)) ^
                           number_hash(text_hash(a->scope, strlen(a->scope))));
    }
    return sum;
}

static bool has(const struct grants *g, const struct role_assignment *one)
{
    for (size_t i = 0; i < g->n; i++)
        if (strcmp(g->rows[i].role, one->role) == 0 && strcmp(g->rows[i].scope, one->scope) == 0)
            return true;
    return false;
}

/* Whether both viewers have the same roles. Equal numbers suffice, because no role is assigned
 * twice at a scope. */
static bool sees_the_same(const struct event_viewer *a, const struct event_viewer *b)
{
    bool same = a->first == b->first && a->roles == b->roles && a->grants.n == b->grants.n &&
                a->grants.n <= SHARED_ROLES_MAX;
    for (size_t i = 0; same && i < a->grants.n; i++)
        same = has(&b->grants, &a->grants.rows[i]);
    return same;
}

static void leave_texts(struct event_viewer *v)
{
    struct event_texts *t = v->texts;
    v->texts = NULL;
    if (!t || --t->viewers > 0)
        return;
    live_text_drop(t->text);
    free(t);
}

/* Lets the viewer share the texts of a viewer with equal roles. Call it after the viewer's roles
 * were read. */
static void share_texts(const struct event_viewers *all, struct event_viewer *v)
{
    struct event_viewer *other = all->list;
    leave_texts(v);
    while (other && (other == v || !other->texts || !sees_the_same(v, other)))
        other = other->next;
    v->texts = other ? other->texts : xcalloc(1, sizeof *v->texts);
    v->texts->viewers++;
}

static void look_at(struct event_viewers *all, struct event_viewer *v)
{
    struct arena a;
    arena_init(&a);
    const char *scope = arena_concat(&a, "/subscriptions/", all->access->subscription_id);
    v->sees_machines = v->first || access_verdict(&v->grants, READ_MACHINES, scope) == ACCESS_YES;
    arena_free(&a);
    uint64_t now = roles_of(&v->grants);
    bool changed = now != v->roles;
    v->version += changed;
    v->roles = now;
    if (changed || !v->texts)
        share_texts(all, v);
    if (!v->first && v->grants.n == 0)
        v->gone = "your roles were taken away";
}

static int ask(struct event_viewers *all, struct event_viewer *v, struct err *e)
{
    struct principal who;
    v->gone = NULL;
    int rc = access_find((void *)(uintptr_t)all->access, v->object_id, &who, e);
    if (rc == 0)
        v->gone = "you are not in the directory any more";
    if (rc <= 0)
        return rc;
    v->first = who.first;
    arena_reset(&v->arena);
    v->grants = (struct grants){NULL, 0};
    if (!who.first && access_load(all->access, &v->arena, &who, &v->grants, e) < 0)
        return -1;
    look_at(all, v);
    return 0;
}

static struct event_viewer *find(const struct event_viewers *all, const char *object_id)
{
    struct event_viewer *v = all->list;
    while (v && strcasecmp(v->object_id, object_id) != 0)
        v = v->next;
    return v;
}

size_t event_viewer_streams(const struct event_viewers *all, const char *object_id)
{
    const struct event_viewer *v = find(all, object_id);
    return v ? v->streams : 0;
}

int event_viewer_enter(struct event_viewers *all, const struct principal *who, uint64_t now_ms,
                       struct event_viewer **out, struct err *e)
{
    struct event_viewer *v = find(all, who->object_id);
    if (!v) {
        v = xcalloc(1, sizeof *v);
        arena_init(&v->arena);
        snprintf(v->object_id, sizeof v->object_id, "%s", who->object_id);
        snprintf(v->name, sizeof v->name, "%s", who->name);
        v->next = all->list;
        all->list = v;
    }
    v->streams++;
    v->asked_ms = now_ms;
    *out = v;
    if (ask(all, v, e) == 0)
        return 0;
    v->gone = UNREADABLE; /* the principal's other streams will end */
    event_viewer_leave(all, v);
    return -1;
}

void event_viewer_leave(struct event_viewers *all, struct event_viewer *v)
{
    struct event_viewer **at = &all->list;
    assert(v->streams > 0);
    if (--v->streams > 0)
        return;
    while (*at != v)
        at = &(*at)->next;
    *at = v->next;
    leave_texts(v);
    arena_free(&v->arena);
    free(v);
}

/* If the rights of a viewer cannot be read, its streams end; the client may connect again. */
void event_viewers_ask(struct event_viewers *all, uint64_t now_ms)
{
    struct err e;
    for (struct event_viewer *v = all->list; v; v = v->next) {
        if (v->gone || now_ms - v->asked_ms < RIGHTS_MS)
            continue;
        v->asked_ms = now_ms;
        if (ask(all, v, &e) < 0)
            v->gone = UNREADABLE;
    }
}

void event_viewers_forget(struct event_viewers *all)
{
    for (struct event_viewer *v = all->list; v; v = v->next) {
        if (!v->texts)
            continue;
        live_text_drop(v->texts->text);
        v->texts->text = NULL;
        v->texts->is_made = false;
    }
}

unsigned event_viewer_mark(const struct event_viewer *v)
{
    return (unsigned)(number_hash(v->roles + (v->first ? 1 : 0)) & UINT32_MAX);
}

bool event_viewer_sees(const struct event_viewer *v, const struct ring_event *ev)
{
    return v->first || access_verdict(&v->grants, ev->action, ev->scope) == ACCESS_YES;
}
