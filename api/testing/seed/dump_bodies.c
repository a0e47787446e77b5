/* SPDX-License-Identifier: MIT
 *
 * Turns the reply to a GET into the body of the request that creates the resource, by the table of
 * its kind: removes read-only members, puts secrets back into their places, and writes the state in
 * the form of a seed.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/plane/batch/pfx.h"
#include "api/testing/seed/dump.h"
#include "lib/timefmt.h"
#include "scheduler/front/batch/tasks.h"

/* --- the tree --------------------------------------------------------------------------------- */

json_t *dump_at(const struct dump_place *at)
{
    return json_object_get(json_object_get(at->into, at->collection), at->name);
}

void dump_put(json_t *into, const char *collection, const char *name, json_t *body)
{
    json_t *named = json_object_get(into, collection);
    if (!named)
        json_object_set_new(into, collection, named = json_object());
    json_object_set_new(named, name, body);
}

void dump_member(struct dumping *d, const struct dump_place *at, const char *name, json_t *value)
{
    struct dumped_member *m = arena_alloc(d->a, sizeof *m);
    *m = (struct dumped_member){
        .at = *at, .name = name, .value = request_own(d->r, value), .next = d->members};
    d->members = m;
}

void dump_cut(struct dumping *d, const struct dump_place *at, enum dump_change change)
{
    struct dumped_member *m = arena_alloc(d->a, sizeof *m);
    *m = (struct dumped_member){.at = *at, .change = change, .next = d->members};
    d->members = m;
}

/* --- members of tables ------------------------------------------------------------------------ */

static const char *text_at(const json_t *v, const char *name)
{
    const char *text = json_string_value(json_object_get(v, name));
    return text ? text : "";
}

bool dump_is_going(const json_t *item)
{
    const char *state = text_at(json_object_get(item, "properties"), "provisioningState");
    return strcasecmp(state, "deleting") == 0 || strcmp(text_at(item, "state"), "deleting") == 0;
}

const char *dump_name(const struct seed_kind *kind, const json_t *item)
{
    return text_at(item, kind->posted ? kind->posted : "name");
}

/* "executionInfo.exitCode" */
static const json_t *value_at(const json_t *v, const char *place)
{
    char name[64];
    for (size_t n; v && *place; place += n + (place[n] == '.')) {
        n = strcspn(place, ".");
        snprintf(name, sizeof name, "%.*s", (int)n, place);
        v = json_object_get(v, name);
    }
    return v;
}

/* The final state of a transition; any other state unchanged. */
static const char *settled(const struct seed_kind *kind, const char *state)
{
    static const char *const on_the_way[][2] = {{"preparing", "active"},
                                                {"enabling", "active"},
                                                {"disabling", "disabled"},
                                                {"terminating", "completed"}};
    for (size_t i = 0; i < sizeof on_the_way / sizeof *on_the_way; i++)
        if (kind->plane == SEED_AT_BATCH && strcmp(on_the_way[i][0], state) == 0)
            return on_the_way[i][1];
    return state;
}

static json_t *state_member(const struct seed_state *row, const json_t *value)
{
    const char *text = json_string_value(value), *behind;
    switch (row->how) {
    case STATE_BEHIND:
        return text && (behind = strrchr(text, '/')) ? json_string(behind + 1) : NULL;
    case STATE_NUMBER:
        behind = text ? strrchr(text, '-') : NULL;
        return json_integer(behind ? strtol(behind + 1, NULL, 10) : 0);
    case STATE_ALWAYS:
    case STATE_BEGUN:
        break;
    }
    return value ? json_deep_copy(value) : NULL;
}

static bool waits(const char *state)
{
    return strcmp(state, "queued") == 0 || strcmp(state, "active") == 0;
}

static json_t *state_of(const struct seed_kind *kind, const json_t *item)
{
    const struct seed_state *row = kind->state;
    const char *now = settled(kind, json_string_value(value_at(item, row->place)));
    json_t *all = json_pack("{s:s}", row->member, now), *one;
    for (row++; row->member; row++)
        if (!(row->how == STATE_BEGUN && waits(now)) &&
            (one = state_member(row, value_at(item, row->place))))
            json_object_set_new(all, row->member, one);
    return all;
}

/* --- members that no table has ---------------------------------------------------------------- */

/* Adds the certificate's format, which its data show. */
static void finish_certificate(struct dumping *d, json_t *body)
{
    struct pfx read;
    struct err e;
    const char *data = json_string_value(json_object_get(body, "data"));
    const char *password = json_string_value(json_object_get(body, "password"));
    bool is_pfx = data && pfx_read(d->a, data, true, password, &read, &e) == 0;
    json_object_set_new(body, "certificateFormat", json_string(is_pfx ? "pfx" : "cer"));
}

/* Whether the role belongs to this list: a role is dumped in the group that contains its scope, or
 * else in the subscription. */
static bool stands_here(struct dumping *d, const struct dumped_list *l, const char *scope)
{
    const char *name;
    json_t *group;
    if (!scope_within(scope, l->path))
        return false;
    if (l->kind == &seed_kinds[SEED_ROLE])
        return true;
    json_object_foreach(json_object_get(l->into, "groups"), name, group) {
        if (!json_object_get(group, "deleted") &&
            scope_within(scope, arena_concat(d->a, l->path, "/resourceGroups/", name)))
            return false;
    }
    return true;
}

static json_t *role_body(const struct dumped_list *l, const json_t *properties, const char *scope)
{
    json_t *body = json_pack("{s:{s:O, s:O}}", "properties", "roleDefinitionId",
                             json_object_get(properties, "roleDefinitionId"), "principalId",
                             json_object_get(properties, "principalId"));
    if (strcasecmp(scope, l->path) != 0)
        json_object_set_new(body, "scope", json_string(scope));
    return body;
}

static bool is_role(const struct seed_kind *kind)
{
    return kind == &seed_kinds[SEED_ROLE] || kind == &seed_kinds[SEED_SUBSCRIPTION_ROLE];
}

/* --- bodies ----------------------------------------------------------------------------------- */

/* Turns an item of the reply to a GET into the body. */
static void make_body(struct dumping *d, const struct seed_kind *kind, json_t *item)
{
    json_t *state = kind->state ? state_of(kind, item) : NULL;
    json_auto_t *secrets = json_incref(json_object_get(item, "secrets"));
    schema_given(kind->shown, (enum api_version)kind->shown_in, item);
    schema_put_secrets(item, secrets);
    if (kind->posted)
        json_object_del(item, kind->posted); /* the resource's key in the tree is its name */
    if (kind == &seed_kinds[SEED_BATCH_CERTIFICATE])
        finish_certificate(d, item);
    if (state)
        json_object_set_new(item, "state", state);
}

/* Puts the members of the body before the members that `into` has already. */
static void put_before(json_t *into, json_t *body)
{
    json_object_update(body, into);
    json_object_clear(into);
    json_object_update(into, body);
}

static void add_role(struct dumping *d, const struct dumped_list *l, const json_t *item)
{
    const json_t *properties = json_object_get(item, "properties");
    const char *scope = text_at(properties, "scope");
    if (stands_here(d, l, scope))
        dump_put(l->into, l->kind->collection, dump_name(l->kind, item),
                 role_body(l, properties, scope));
}

/* Adds an item of a list. An item that contains other resources is in the tree already, or is left
 * out. */
static void add_item(struct dumping *d, const struct dumped_list *l, json_t *item, bool has_others)
{
    const char *name = arena_strdup(d->a, dump_name(l->kind, item));
    json_t *there = dump_at(&(struct dump_place){l->into, l->kind->collection, name});
    if (is_role(l->kind))
        add_role(d, l, item);
    if (is_role(l->kind) || (has_others ? !there : dump_is_going(item)))
        return;
    make_body(d, l->kind, item);
    if (has_others)
        put_before(there, item);
    else
        dump_put(l->into, l->kind->collection, name, json_incref(item));
}

static void read_list(struct dumping *d, const struct dumped_list *l)
{
    size_t i;
    json_t *item;
    json_auto_t *read = l->shown ? NULL : json_loads(request_inner_body(l->asked), 0, NULL);
    const json_t *shown = l->shown ? l->shown : read;
    json_array_foreach(json_object_get(shown, "value"), i, item) {
        add_item(d, l, item, l->shown != NULL);
    }
}

/* Removes the body of a manager task: its job creates it, so it needs none. */
static void drop_body(json_t *task)
{
    void *next;
    const char *name;
    json_t *v;
    json_object_foreach_safe(task, next, name, v) {
        if (!seed_is_own(&seed_kinds[SEED_BATCH_TASK], name))
            json_object_del(task, name);
    }
}

static void change(const struct dumped_member *m)
{
    json_t *body = dump_at(&m->at);
    switch (m->change) {
    case DUMP_MEMBER:
        json_object_set(body, m->name, m->value);
        break;
    case DUMP_BARE:
        drop_body(body);
        break;
    case DUMP_LEFT_OUT:
        json_object_del(json_object_get(m->at.into, m->at.collection), m->at.name);
        break;
    }
}

/* --- jobs and tasks that are ending ----------------------------------------------------------- */

/* Sets the state to completed, and the end to now if there is none. */
static void end_state(const struct dumping *d, json_t *state)
{
    char now[TIMEFMT_SIZE];
    timefmt_exact(d->r->now_us, now);
    json_object_set_new(state, "state", json_string("completed"));
    if (!json_object_get(state, "endTime"))
        json_object_set_new(state, "endTime", json_string(now));
}

/* Completes a job that was being terminated: it is completed here, but may have running tasks or no
 * end. */
static void end_job(const struct dumping *d, json_t *job)
{
    const struct batch_failure_words words = batch_failure_words(FAIL_RUN_TERMINATED);
    json_t *state = json_object_get(job, "state"), *task;
    const char *name;
    if (strcmp(text_at(state, "state"), "completed") != 0)
        return;
    end_state(d, state);
    json_object_foreach(json_object_get(job, "tasks"), name, task) {
        json_t *of_task = json_object_get(task, "state");
        if (strcmp(text_at(of_task, "state"), "running") != 0)
            continue;
        end_state(d, of_task);
        json_object_set_new(of_task, "failureInfo",
                            json_pack("{s:s, s:s, s:s}", "category", "UserError", "code",
                                      words.code, "message", words.message));
    }
}

static void end_jobs(const struct dumping *d, const struct dumped_list *l)
{
    const char *name;
    json_t *job;
    if (l->kind == &seed_kinds[SEED_BATCH_JOB])
        json_object_foreach(json_object_get(l->into, l->kind->collection), name, job)
            end_job(d, job);
}

void dump_bodies(struct dumping *d)
{
    for (const struct dumped_list *l = d->lists; l; l = l->next)
        read_list(d, l);
    for (const struct dumped_member *m = d->members; m; m = m->next)
        change(m);
    for (const struct dumped_list *l = d->lists; l; l = l->next)
        end_jobs(d, l);
}
