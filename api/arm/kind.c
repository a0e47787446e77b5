/* SPDX-License-Identifier: MIT
 *
 * The handlers that all kinds of resources share, the steps of a PUT, and what kinds of accounts
 * have in common. Each handler has one struct rm on its stack; rows, names and texts are in the
 * request's memory. Called only on the loop's thread.
 */
#include "api/arm/kind.h"

#include <assert.h>
#include <string.h>

#include "api/arm/errors.h"
#include "api/arm/lookup.h"
#include "api/arm/operation.h"
#include "lib/jsontext.h"

const int rm_missing[] = {ERR_RESOURCE_NOT_FOUND, 0};

struct rm rm_begin(struct request *r)
{
    const struct rm_kind *kind = r->route->data;
    assert(kind);
    return (struct rm){.r = r,
                       .kind = kind,
                       .row = arena_alloc(&r->arena, kind->columns.size),
                       .in_group = true,
                       .done = true};
}

struct rm rm_begin_named(struct request *r)
{
    struct rm m = rm_begin(r);
    m.name = request_param(r, m.kind->param);
    return m;
}

const char *rm_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

const char *rm_given_text(struct rm *m, const char *key, const char *otherwise)
{
    const json_t *value = json_object_get(m->given.doc, key);
    return value ? request_own_text(m->r, jsontext(value)) : otherwise;
}

/* --- rows ------------------------------------------------------------------------------------- */

static const void *at(const void *row, size_t column)
{
    return (const char *)row + column;
}

static struct rm_row read_row(const struct rm_kind *kind, const void *row)
{
    const struct rm_columns *c = &kind->columns;
    return (struct rm_row){
        .id = *(const int64_t *)at(row, c->id),
        .updated_us = *(const int64_t *)at(row, c->updated),
        .name = *(const char *const *)at(row, c->name),
        .scope = c->scope ? at(row, c->scope) : NULL,
        .state = c->state ? *(const enum prov_state *)at(row, c->state) : PROV_SUCCEEDED,
    };
}

struct rm_row rm_row_of(const struct rm *m)
{
    return read_row(m->kind, m->row);
}

int64_t rm_id(const struct rm_kind *kind, const void *row)
{
    return read_row(kind, row).id;
}

bool rm_is_being_deleted(const struct rm_kind *kind, const void *row)
{
    return read_row(kind, row).state == PROV_DELETING;
}

/* --- steps of a PUT --------------------------------------------------------------------------- */

int rm_step_subscription(struct rm *m, struct err *e)
{
    return find_subscription(m->r, e);
}

int rm_step_group(struct rm *m, struct err *e)
{
    return find_group(m->r, &m->group, e);
}

int rm_step_group_alive(struct rm *m, struct err *e)
{
    return check_group_alive(&m->group, e);
}

int rm_step_name(struct rm *m, struct err *e)
{
    const struct rm_name_rule *rule = m->kind->name_rule;
    if (rule->is_valid(m->name))
        return 0;
    return err_set(e, rule->error, NULL, "%s%.*s%s", rule->invalid.before, rule->shown, m->name,
                   rule->invalid.after);
}

int rm_step_body(struct rm *m, struct err *e)
{
    return request_accept(m->r, m->kind->schema, 0, &m->given, e);
}

int rm_check_location(struct rm *m, const char *name, const char *location, const char *group,
                      struct err *e)
{
    const struct rm_kind *kind = m->kind;
    const char *given = rm_text(m->given.doc, "location");
    if (!given || same_region(&m->r->arena, given, location))
        return 0;
    if (kind->cannot_move)
        return err_set(e, kind->other_location, "location",
                       "The %s %s exists in location '%s'; %s to '%.100s'.", kind->what, name,
                       location, kind->cannot_move, given);
    return err_set(e, kind->other_location, "location",
                   "The resource '%s' already exists in location '%s' in resource group '%s'. A "
                   "resource with the same name cannot be created in location '%.100s'.",
                   name, location, group, given);
}

/* --- showing ---------------------------------------------------------------------------------- */

struct replied *rm_show(struct rm *m, int status)
{
    struct strbuf out = STRBUF_INIT;
    if (m->kind->show)
        return m->kind->show(m, status);
    if (m->kind->headers)
        m->kind->headers(m);
    m->kind->render(m->r, m->row, &out);
    return reply_json_text(m->r, status, &out);
}

static struct replied *show_anew(struct rm *m)
{
    struct err e;
    return m->kind->rereads && m->kind->find(m, &e) < 0 ? reply_err(m->r, &e) : rm_show(m, 200);
}

struct replied *rm_get(struct request *r)
{
    struct err e;
    struct rm m = rm_begin_named(r);
    return m.kind->find(&m, &e) < 0 ? reply_err(r, &e) : rm_show(&m, 200);
}

/* --- create and change ------------------------------------------------------------------------ */

static int insert_in_tx(struct storage *st, void *ctx, struct err *e)
{
    struct rm *m = ctx;
    (void)st;
    if (m->kind->insert(m, e) < 0)
        return -1;
    const struct scope scope = {.subscription = m->group.subscription,
                                .group = m->group.name,
                                .location = rm_text(m->given.doc, "location")};
    const struct op_request op = {.kind = m->kind->kind,
                                  .resource_id = m->id,
                                  .scope = m->scope ? m->scope : &scope,
                                  .name = m->name,
                                  .in_group = m->in_group,
                                  .done = m->done};
    return operation_start(m->r, &op, &m->guid, e);
}

static int insert(struct rm *m, struct err *e)
{
    struct storage *st = arm_of(m->r)->storage;
    if (!m->kind->operation)
        return m->kind->insert(m, e);
    return m->kind->whole ? st_whole(st, insert_in_tx, m, e)
                          : st_tx(st, m->kind->what, insert_in_tx, m, e);
}

static struct replied *create(struct rm *m)
{
    struct err e;
    if (m->kind->create)
        return m->kind->create(m);
    if ((m->kind->prepare && m->kind->prepare(m, &e) < 0) || insert(m, &e) < 0)
        return reply_err(m->r, &e);
    return m->kind->made ? m->kind->made(m) : show_anew(m);
}

static int take_found(struct rm *m, struct err *e)
{
    const struct rm_row row = rm_row_of(m);
    m->id = row.id;
    return m->kind->refuses_deleting ? check_alive(m->kind->what, row.name, row.state, e) : 0;
}

struct replied *rm_put(struct request *r)
{
    struct err e;
    struct rm m = rm_begin_named(r);
    for (rm_step *const *step = m.kind->steps; *step; step++)
        if ((*step)(&m, &e) < 0)
            return reply_err(r, &e);
    int rc = m.kind->seek(&m, &e);
    if (rc == 0)
        return create(&m);
    if (rc < 0 || take_found(&m, &e) < 0 || (m.kind->change && m.kind->change(&m, &e) < 0))
        return reply_err(r, &e);
    return show_anew(&m);
}

struct replied *rm_patch(struct request *r)
{
    struct err e;
    struct rm m = rm_begin_named(r);
    rm_step *find = m.kind->find_made ? m.kind->find_made : m.kind->find;
    if (find(&m, &e) < 0 || take_found(&m, &e) < 0 ||
        (m.kind->patch_schema &&
         request_accept(r, m.kind->patch_schema, SCHEMA_PARTIAL, &m.given, &e) < 0) ||
        m.kind->patch(&m, &e) < 0)
        return reply_err(r, &e);
    return show_anew(&m);
}

/* --- delete ----------------------------------------------------------------------------------- */

static bool says_missing(const struct rm_kind *kind, const struct err *e)
{
    const int *code = kind->missing;
    while (*code && *code != (int)e->code)
        code++;
    return *code != 0;
}

static struct replied *delete_named(struct rm *m)
{
    struct err e;
    if (m->kind->find(m, &e) < 0)
        return says_missing(m->kind, &e) ? reply_empty(m->r, 204) : reply_err(m->r, &e);
    return m->kind->remove(m);
}

struct replied *rm_delete(struct request *r)
{
    struct rm m = rm_begin_named(r);
    return delete_named(&m);
}

/* --- names ------------------------------------------------------------------------------------ */

static json_t *unavailable(struct rm *m, const char *reason, const struct rm_words *words)
{
    const char *message = words->after
                              ? arena_concat(&m->r->arena, words->before, m->name, words->after)
                              : words->before;
    return json_pack("{s:b, s:s, s:o}", "nameAvailable", 0, "reason", reason, "message",
                     jsontext_string(message));
}

struct replied *rm_check_name(struct request *r)
{
    struct err e;
    struct rm m = rm_begin(r);
    const struct rm_name_rule *rule = m.kind->name_rule;
    if (find_subscription(r, &e) < 0 ||
        request_accept(r, m.kind->named_schema, 0, &m.given, &e) < 0)
        return reply_err(r, &e);
    m.name = rm_text(m.given.doc, "name");
    if (!rule->is_valid(m.name))
        return reply_json(r, 200, unavailable(&m, rule->reason, &rule->answer_invalid));
    int rc = m.kind->taken(&m, &e);
    if (rc < 0)
        return reply_err(r, &e);
    return reply_json(r, 200,
                      rc > 0 ? unavailable(&m, "AlreadyExists", &rule->answer_taken)
                             : json_pack("{s:b}", "nameAvailable", 1));
}

/* --- accounts --------------------------------------------------------------------------------- */

enum { NAME_LEAST = 3, NAME_MOST = 24 };

bool account_name_is_valid(const char *name)
{
    size_t n = strlen(name);
    return n >= NAME_LEAST && n <= NAME_MOST &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789") == n;
}

const char *account_provisioning(const struct request *r, const struct scope *at,
                                 enum pace_step step, int64_t created_us)
{
    return creation_look(r, at->subscription, step, &created_us) ? "Creating" : "Succeeded";
}
