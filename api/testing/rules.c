/* SPDX-License-Identifier: MIT
 *
 * The rules of scripted work: finds the rule that matches a starting task, and handles requests
 * about rules.
 */
#include "api/testing/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/testing/errors.h"
#include "api/testing/routes.h"
#include "api/testing/testing.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "lib/wildcard.h"
#include "scheduler/front/front.h"
#include "storage/storage.h"

#define RULES_MAX 10000
/* The largest file of rules, in bytes. */
#define FILE_MAX (64U * 1024 * 1024)

struct testing_rules {
    struct storage *st; /* borrowed, like all members except the rules */
    const struct fronts *fronts;
    const struct log *log;
    struct fake_nodes *nodes;
    struct testing_faults *faults;
    struct rule *first, **end;
    int n;
    int64_t last;
};

struct testing_rules *testing_rules_create(struct storage *st, const struct fronts *fronts,
                                           const struct log *log)
{
    struct testing_rules *rules = xcalloc(1, sizeof *rules);
    *rules = (struct testing_rules){.st = st, .fronts = fronts, .log = log, .end = &rules->first};
    return rules;
}

void testing_rules_of(struct testing_rules *rules, struct fake_nodes *nodes)
{
    rules->nodes = nodes;
}

void testing_rules_tell(struct testing_rules *rules, struct testing_faults *faults)
{
    rules->faults = faults;
}

static void remove_at(struct testing_rules *rules, struct rule **at)
{
    struct rule *rule = *at;
    if (rule->hold && rules->nodes)
        fake_let_go(rules->nodes, rule->number);
    *at = rule->next;
    if (!*at)
        rules->end = at;
    rules->n--;
    rule_free(rule);
}

void testing_rules_free(struct testing_rules *rules)
{
    if (!rules)
        return;
    rules->nodes = NULL;
    while (rules->first)
        remove_at(rules, &rules->first);
    free(rules);
}

void testing_rules_clear(struct testing_rules *rules, const char *subscription)
{
    for (struct rule **at = &rules->first; *at;) {
        const char *of = (*at)->match.subscription;
        if (subscription && (!of || strcasecmp(of, subscription) != 0))
            at = &(*at)->next;
        else
            remove_at(rules, at);
    }
}

/* --- matching --------------------------------------------------------------------------------- */

/* The properties of a starting process that rules match. */
struct rule_work {
    const struct task_spec *spec;
    enum rule_role role;
    const char *name; /* the name of its job or task, or of its pool */
    struct pool_place place;
};

/* Whether a task is a user's. Tasks of the daemon itself (mounts, directories) have no output that
 * users see. */
static bool is_users(const struct task_spec *spec)
{
    const char *out = spec->stdout_path;
    return out && strcmp(out, "/dev/null") != 0 &&
           (!spec->log_path || strcmp(out, spec->log_path) != 0) && strstr(out, "/stdout");
}

/* Finds the run of a task among the runs on the node; 0: there is none. */
static int find_run(struct testing_rules *rules, struct arena *a, int64_t node_id, const char *id,
                    struct run *out, struct err *e)
{
    struct allocation *parts;
    size_t n;
    if (st_allocation_of_node(rules->st, a, node_id, &parts, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (strncmp(id, parts[i].task_prefix, strlen(parts[i].task_prefix)) == 0)
            return st_run_by_id(rules->st, a, parts[i].run_id, out, e);
    return 0;
}

static enum rule_role role_of_run(const struct task_spec *spec, const struct run *run)
{
    static const char suffix[] = " preparation";
    size_t n = spec->step ? strlen(spec->step) : 0, m = sizeof suffix - 1;
    bool prepares = n > m && strcmp(spec->step + n - m, suffix) == 0;
    return prepares || run->owner_kind == RES_BATCH_CHORE ? RULE_PREPARATION : RULE_JOB;
}

static void find_work(struct testing_rules *rules, struct arena *a, const struct fake_node *node,
                      struct rule_work *w)
{
    struct node row;
    struct run run;
    struct err e = {0};
    w->role = RULE_SETUP;
    w->name = "";
    if (st_node_by_id(rules->st, a, fake_id(node), &row, &e) != 1 ||
        st_pool_place(rules->st, a, row.pool_id, &w->place, &e) != 1)
        return;
    w->name = w->place.pool;
    if (find_run(rules, a, row.id, w->spec->id, &run, &e) != 1)
        return;
    const struct front *f = front_of(rules->fronts, run.owner_kind);
    w->role = role_of_run(w->spec, &run);
    w->name = f->ops->run_name(f, rules->st, a, &run);
}

static bool matches(const char *pattern, const char *text, enum wildcard_case letters)
{
    return !pattern || (text && wildcard_match(pattern, text, letters));
}

static const char *variable(const struct task_spec *spec, const char *name)
{
    const char *value = NULL; /* of several with this name the last one counts */
    for (size_t i = 0; i < spec->n_env; i++)
        if (strcmp(spec->env[i].name, name) == 0)
            value = spec->env[i].value;
    return value;
}

static bool fits(const struct rule_match *m, const struct rule_work *w)
{
    if (m->role != w->role || !matches(m->name, w->name, WILDCARD_ANY_CASE) ||
        !matches(m->pool, w->place.pool, WILDCARD_ANY_CASE) ||
        !matches(m->subscription, w->place.subscription, WILDCARD_ANY_CASE))
        return false;
    if (m->command && !matches(m->command, w->spec->title, WILDCARD_EXACT) &&
        !matches(m->command, w->spec->command_line, WILDCARD_EXACT))
        return false;
    for (size_t i = 0; i < m->n_env; i++)
        if (!matches(m->env[i].value, variable(w->spec, m->env[i].name), WILDCARD_EXACT))
            return false;
    return true;
}

static bool hits(struct rule *rule, const struct rule_work *w)
{
    if ((rule->times > 0 && rule->hits >= rule->times) || !fits(&rule->match, w))
        return false;
    if (rule->fitted++ < rule->skip)
        return false;
    rule->hits++;
    return true;
}

/* --- carrying rules out ----------------------------------------------------------------------- */

/* Replaces $NAME and ${NAME} by their values, or by nothing if the variable is not set. Returns
 * whether the text begins with the value of a variable. */
static bool expand(struct strbuf *b, const struct task_spec *spec, const char *text)
{
    bool begins = false;
    for (const char *all = text; *text;) {
        bool braced = text[0] == '$' && text[1] == '{';
        const char *name = text + 1 + braced;
        size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
        if (*text != '$' || n == 0) {
            strbuf_putc(b, *text++);
            continue;
        }
        char *key = xcalloc(1, n + 1);
        memcpy(key, name, n);
        const char *value = variable(spec, key);
        begins = begins || (text == all && value && *value);
        strbuf_puts(b, value ? value : "");
        free(key);
        text = name + n + (braced && name[n] == '}');
    }
    return begins;
}

/* The path of a file of a rule: below the process's working directory, or below a directory that is
 * the value of a variable. If the variable is not set, it is below the working directory too, never
 * elsewhere on the daemon's machine. */
static char *file_path(const struct task_spec *spec, const char *path)
{
    struct strbuf b = STRBUF_INIT;
    if (!expand(&b, spec, path) || b.s[0] != '/') {
        struct strbuf below = STRBUF_INIT;
        strbuf_printf(&below, "%s/%s", spec->cwd ? spec->cwd : "", b.len > 0 ? b.s : "file");
        strbuf_free(&b);
        return strbuf_take(&below);
    }
    return strbuf_take(&b);
}

static struct fake_output output_of(const struct task_spec *spec, const struct rule_output *o)
{
    struct strbuf said = STRBUF_INIT;
    const char *std = o->to_stderr && spec->stderr_path ? spec->stderr_path : spec->stdout_path;
    strbuf_printf(&said, "%s%s", o->text, o->path ? "" : "\n");
    size_t n = said.len;
    return (struct fake_output){.at_us = o->at_us,
                                .path = o->path ? file_path(spec, o->path) : xstrdup(std),
                                .text = strbuf_take(&said),
                                .n = n};
}

static void follow(const struct rule *rule, const struct task_spec *spec, struct fake_task *out)
{
    *out = (struct fake_task){.run_us = rule->run_us,
                              .exit_code = rule->exit_code,
                              .start_fails = rule->start_fails,
                              .hold = rule->hold ? rule->number : 0,
                              .outputs = xcalloc(rule->n_outputs + 1, sizeof *out->outputs),
                              .n_outputs = rule->n_outputs};
    for (size_t i = 0; i < rule->n_outputs; i++)
        out->outputs[i] = output_of(spec, &rule->outputs[i]);
}

void testing_rules_plan(void *ctx, const struct fake_node *node, const struct task_spec *spec,
                        struct fake_task *out)
{
    struct testing_rules *rules = ctx;
    struct arena a;
    struct rule_work w = {.spec = spec};
    *out = (struct fake_task){0};
    if (!is_users(spec))
        return;
    arena_init(&a);
    find_work(rules, &a, node, &w);
    if (w.role == RULE_JOB)
        testing_faults_began(rules->faults, node, &w.place, w.name);
    struct rule *rule = rules->first;
    while (rule && !hits(rule, &w))
        rule = rule->next;
    if (rule) {
        LOG_INFO(rules->log, "testing.rule_applied", LF_INT("rule", rule->number),
                 LF_STR("name", w.name), LF_STR("pool", w.place.pool));
        follow(rule, spec, out);
    }
    arena_free(&a);
}

/* The number of GPUs of an Azure size with this name: 1 for NC6 and NV6, 2 for NC12, 4 for NC24, 8
 * for ND40. */
static int gpus_of(const char *vm_size)
{
    const char *n = vm_size;
    while ((n = strpbrk(n, "nN"))) {
        long cores = strchr("cdvCDV", n[1]) && n[1] ? strtol(n + 2, NULL, 10) : 0;
        if (cores > 0)
            return cores >= 40 ? 8 : cores < 12 ? 1 : (int)(cores / 6);
        n++;
    }
    return 0;
}

void testing_rules_met(void *ctx, struct fake_node *node)
{
    struct testing_rules *rules = ctx;
    struct arena a;
    struct node row;
    struct pool_place place;
    struct pool pool;
    struct err e;
    arena_init(&a);
    if (st_node_by_id(rules->st, &a, fake_id(node), &row, &e) == 1 &&
        st_pool_by_id(rules->st, &a, row.pool_id, &pool, &e) == 1 &&
        st_pool_place(rules->st, &a, row.pool_id, &place, &e) == 1) {
        fake_set_gpus(node, gpus_of(pool.vm_size));
        testing_faults_met(rules->faults, node, &place);
    }
    arena_free(&a);
}

/* --- adding them -------------------------------------------------------------------------------
 */

/* Takes over all rules of the document. If there would be too many, takes none, and frees the
 * document. */
static int take(struct testing_rules *rules, struct rule_doc *doc, struct err *e)
{
    if ((size_t)rules->n + doc->n > RULES_MAX) {
        rule_doc_free(doc);
        return err_set(e, ERR_QUOTA, NULL, "There would be more than %d rules; remove some.",
                       RULES_MAX);
    }
    const size_t n = doc->n;
    for (size_t i = 0; i < n; i++) {
        struct rule *rule = &doc->rules[i];
        rule->number = ++rules->last;
        *rules->end = rule;
        rules->end = &rule->next;
        rules->n++;
    }
    if (n == 0)
        rule_doc_free(doc);
    return 0;
}

int testing_rules_load(struct testing_rules *rules, const char *path, struct err *e)
{
    json_error_t why;
    char *text;
    size_t n;
    if (fs_read(path, FILE_MAX, &text, &n, e) < 0)
        return -1;
    json_auto_t *o = json_loadb(text, n, JSON_REJECT_DUPLICATES, &why);
    free(text);
    if (!o)
        return err_set(e, ERR_CONFIG, NULL, "%s:%d: %s", path, why.line, why.text);
    struct rule_doc *doc = rule_doc_read(o, e);
    return !doc || take(rules, doc, e) < 0 ? err_prefix(e, "%s", path) : 0;
}

/* --- handlers ----------------------------------------------------------------------------------
 */

static json_t *render(const struct testing_rules *rules, const struct rule *rule)
{
    json_t *o = rule_render(rule);
    json_object_set_new(o, "held",
                        json_integer(rule->hold ? fake_count_held(rules->nodes, rule->number) : 0));
    return o;
}

/* Renders the rules with numbers above `after` in a subscription (NULL: all). Adds to `unused` the
 * ids of those that have matched no process yet. */
static json_t *render_all(const struct testing_rules *rules, int64_t after,
                          const char *subscription, json_t *unused)
{
    json_t *value = json_array();
    for (const struct rule *rule = rules->first; rule; rule = rule->next) {
        const char *of = rule->match.subscription;
        if (rule->number <= after || (subscription && (!of || strcasecmp(of, subscription) != 0)))
            continue;
        json_array_append_new(value, render(rules, rule));
        if (rule->hits == 0)
            json_array_append_new(unused, json_integer(rule->number));
    }
    return value;
}

static struct replied *reply_rules(struct request *r, int status, int64_t after)
{
    json_t *unused = json_array();
    json_t *value =
        render_all(testing_of(r)->rules, after, request_query(r, "subscription"), unused);
    return reply_json(r, status, json_pack("{s:o, s:o}", "value", value, "unused", unused));
}

struct replied *rules_list(struct request *r)
{
    return reply_rules(r, 200, 0);
}

/* Refuses rules for unknown subscriptions. Patterns are accepted, as they may match subscriptions
 * that will be created later. */
static int check_subscriptions(struct request *r, const struct rule_doc *doc, struct err *e)
{
    struct subscription s;
    char where[32];
    for (size_t i = 0; i < doc->n; i++) {
        const char *id = doc->rules[i].match.subscription;
        int rc = id && !strpbrk(id, "*?[")
                     ? access_subscription(testing_of(r)->arm.access, &r->arena, id, &s, e)
                     : 1;
        if (rc == 0)
            return err_set(e, ARM_SUBSCRIPTION_NOT_FOUND, "match.subscription",
                           "%smatch.subscription is '%.100s', which could not be found.",
                           rule_place(doc, i, where), id);
        if (rc < 0)
            return -1;
    }
    return 0;
}

struct replied *rules_add(struct request *r)
{
    struct err e;
    struct testing_rules *rules = testing_of(r)->rules;
    int64_t before = rules->last;
    struct rule_doc *doc = rule_doc_read(r->body, &e);
    if (!doc)
        return reply_err(r, &e);
    if (check_subscriptions(r, doc, &e) < 0) {
        rule_doc_free(doc);
        return reply_err(r, &e);
    }
    if (take(rules, doc, &e) < 0)
        return reply_err(r, &e);
    return reply_rules(r, 201, before);
}

/* Finds the rule that the path names; NULL: error. */
static struct rule **find(struct request *r, struct err *e)
{
    const char *id = request_param(r, "rule");
    char number[32];
    for (struct rule **at = &testing_of(r)->rules->first; *at; at = &(*at)->next) {
        snprintf(number, sizeof number, "%lld", (long long)(*at)->number);
        if (strcmp(number, id) == 0)
            return at;
    }
    err_set(e, ERR_RESOURCE_NOT_FOUND, NULL, "There is no rule '%.60s'.", id);
    return NULL;
}

struct replied *rules_release(struct request *r)
{
    struct err e;
    struct rule **at = find(r, &e);
    if (!at)
        return reply_err(r, &e);
    int n = fake_let_go(testing_of(r)->rules->nodes, (*at)->number);
    return reply_json(r, 200, json_pack("{s:i}", "released", n));
}

struct replied *rules_remove(struct request *r)
{
    struct err e;
    struct rule **at = find(r, &e);
    if (!at)
        return reply_err(r, &e);
    remove_at(testing_of(r)->rules, at);
    return reply_empty(r, 204);
}

/* ?subscription=ID: only rules that name this subscription. */
struct replied *rules_remove_all(struct request *r)
{
    testing_rules_clear(testing_of(r)->rules, request_query(r, "subscription"));
    return reply_empty(r, 204);
}
