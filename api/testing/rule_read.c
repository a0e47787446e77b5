/* SPDX-License-Identifier: MIT
 *
 * Rules of scripted work, out of JSON and into it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/json_members.h"
#include "api/testing/rules.h"
#include "lib/arena.h"
#include "model/span.h"
#include "model/spec.h"

#define TIMES_MAX   1000000
#define OUTPUTS_MAX 10000
#define NAME_MAX    1000
#define TEXT_MAX    (1024 * 1024)

const char *const rule_roles[] = {"job", "preparation", "setup", NULL};

static char *copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

/* Where in the document something is, for errors: "rules[2].match". */
struct rule_place {
    char name[120];
};

static struct rule_place within(const char *where, const char *name)
{
    struct rule_place p;
    snprintf(p.name, sizeof p.name, "%.80s%s%.30s", where, *where ? "." : "", name);
    return p;
}

/* --- what it fits ------------------------------------------------------------------------------
 */

static int read_role(const char *where, const char *text, enum rule_role *out, struct err *e)
{
    *out = RULE_JOB;
    if (!text)
        return 0;
    for (size_t i = 0; rule_roles[i]; i++)
        if (strcmp(text, rule_roles[i]) == 0) {
            *out = (enum rule_role)i;
            return 0;
        }
    return err_set(e, ERR_INVALID_PROPERTY, "role",
                   "%s.role is '%.60s'; it must be job, preparation or setup.", where, text);
}

static int read_environment(const char *where, const json_t *env, struct rule_match *out,
                            struct err *e)
{
    const char *name;
    json_t *value;
    char shown[MEMBER_VALUE_SIZE];
    if (!env)
        return 0;
    if (!json_is_object(env))
        return err_set(e, ERR_INVALID_PROPERTY, "environment",
                       "%s.environment is %s; it must be an object of texts.", where,
                       member_value(env, shown));
    out->env = xcalloc(json_object_size(env) + 1, sizeof *out->env);
    json_object_foreach((json_t *)(uintptr_t)env, name, value) {
        if (!json_is_string(value))
            return err_set(e, ERR_INVALID_PROPERTY, name,
                           "%s.environment.%.100s is %s; it must be a text.", where, name,
                           member_value(value, shown));
        out->env[out->n_env++] =
            (struct kv){.name = xstrdup(name), .value = xstrdup(json_string_value(value))};
    }
    return 0;
}

static int read_match(const char *where, const json_t *match, struct rule_match *out, struct err *e)
{
    const char *name = NULL, *command = NULL, *pool = NULL, *subscription = NULL, *role = NULL;
    const json_t *env = NULL;
    const struct member members[] = {
        {"name", .text = &name, .max = NAME_MAX},
        {"command", .text = &command, .max = NAME_MAX},
        {"pool", .text = &pool, .max = NAME_MAX},
        {"subscription", .text = &subscription, .max = NAME_MAX},
        {"role", .text = &role},
        {"environment", .any = &env},
    };
    const struct rule_place p = within(where, "match");
    if (members_read(match, p.name, MEMBERS(members), e) < 0 ||
        read_role(p.name, role, &out->role, e) < 0)
        return -1;
    out->name = copy(name);
    out->command = copy(command);
    out->pool = copy(pool);
    out->subscription = copy(subscription);
    return read_environment(p.name, env, out, e);
}

/* --- what it writes ----------------------------------------------------------------------------
 */

/* A line is a text, or {"at", "text"}; a file {"path", "text", "at"}. */
static int read_output(const char *where, const json_t *o, bool is_file, struct rule_output *out,
                       struct err *e)
{
    const char *text = NULL, *path = NULL;
    const struct member members[] = {
        {"text", .text = &text, .max = TEXT_MAX, .needed = !is_file},
        {"at", .span_us = &out->at_us, .max = DURATION_MAX_US},
        {"path", .text = &path, .max = NAME_MAX, .needed = is_file},
    };
    char shown[MEMBER_VALUE_SIZE];
    if (!is_file && json_is_string(o))
        text = json_string_value(o);
    else if (!is_file && !json_is_object(o))
        return err_set(e, ERR_INVALID_PROPERTY, where,
                       "%s is %s; it must be a text, or an object with text and at.", where,
                       member_value(o, shown));
    else if (members_read(o, where, members, is_file ? 3 : 2, e) < 0)
        return -1;
    if (is_file && (!*path || *path == '/' || strstr(path, "..")))
        return err_set(e, ERR_INVALID_PROPERTY, "path",
                       "%s.path is '%.100s'; it must name a file, below the job's directory or "
                       "behind a variable ($AZ_BATCHAI_OUTPUT_X/name), without '/' in front and "
                       "without '..'.",
                       where, path);
    out->path = copy(path);
    out->text = xstrdup(text ? text : "");
    return 0;
}

static int read_outputs(const char *where, const char *name, const json_t *list, struct rule *rule,
                        struct err *e)
{
    bool is_file = strcmp(name, "files") == 0, to_stderr = strcmp(name, "stderr") == 0;
    const struct rule_place p = within(where, name);
    char shown[MEMBER_VALUE_SIZE];
    json_t *item;
    size_t i, n = json_array_size(list);
    if (!list)
        return 0;
    if (!json_is_array(list))
        return err_set(e, ERR_INVALID_PROPERTY, name, "%s is %s; it must be a list.", p.name,
                       member_value(list, shown));
    if (rule->n_outputs + n > OUTPUTS_MAX)
        return err_set(e, ERR_INVALID_PROPERTY, name,
                       "%s has %zu members; stdout, stderr and files of a rule have at most %d.",
                       p.name, n, OUTPUTS_MAX);
    rule->outputs = xrealloc(rule->outputs, (rule->n_outputs + n + 1) * sizeof *rule->outputs);
    json_array_foreach((json_t *)(uintptr_t)list, i, item) {
        char at[sizeof p.name + 30];
        snprintf(at, sizeof at, "%s[%zu]", p.name, i);
        struct rule_output *out = &rule->outputs[rule->n_outputs];
        *out = (struct rule_output){.to_stderr = to_stderr, .nth = rule->n_outputs++};
        if (read_output(at, item, is_file, out, e) < 0)
            return -1;
        if (out->at_us > rule->run_us)
            return err_set(e, ERR_INVALID_PROPERTY, name,
                           "%s.at is behind the rule's duration, so it is never written.", at);
    }
    return 0;
}

/* By time; those of one instant as they were given. */
static int by_time(const void *a, const void *b)
{
    const struct rule_output *x = a, *y = b;
    if (x->at_us != y->at_us)
        return x->at_us < y->at_us ? -1 : 1;
    return x->nth < y->nth ? -1 : 1;
}

/* --- all of it ---------------------------------------------------------------------------------
 */

static int read_rule(const char *where, const json_t *o, struct rule *rule, struct err *e)
{
    const json_t *match = NULL, *out = NULL, *err = NULL, *files = NULL;
    const char *fails = NULL;
    const struct member members[] = {
        {"match", .any = &match},
        {"skip", .number = &rule->skip, .max = TIMES_MAX},
        {"times", .number = &rule->times, .max = TIMES_MAX},
        {"duration", .span_us = &rule->run_us, .max = DURATION_MAX_US},
        {"exitCode", .number = &rule->exit_code, .max = 255},
        {"hold", .flag = &rule->hold},
        {"failsToStart", .text = &fails, .max = NAME_MAX},
        {"stdout", .any = &out},
        {"stderr", .any = &err},
        {"files", .any = &files},
    };
    if (members_read(o, where, MEMBERS(members), e) < 0 ||
        read_match(where, match, &rule->match, e) < 0)
        return -1;
    rule->start_fails = copy(fails);
    if (read_outputs(where, "stdout", out, rule, e) < 0 ||
        read_outputs(where, "stderr", err, rule, e) < 0 ||
        read_outputs(where, "files", files, rule, e) < 0)
        return -1;
    if (rule->start_fails && (rule->run_us > 0 || rule->n_outputs > 0 || rule->hold))
        return err_set(e, ERR_INVALID_PROPERTY, "failsToStart",
                       "%s goes with no duration, output or hold: nothing runs.",
                       within(where, "failsToStart").name);
    if (rule->n_outputs > 0)
        qsort(rule->outputs, rule->n_outputs, sizeof *rule->outputs, by_time);
    return 0;
}

struct rule *rule_read(const json_t *o, const char *where, struct err *e)
{
    struct rule *rule = xcalloc(1, sizeof *rule);
    if (read_rule(where, o, rule, e) == 0)
        return rule;
    rule_free(rule);
    return NULL;
}

void rule_free(struct rule *rule)
{
    struct rule_match *m = &rule->match;
    for (size_t i = 0; i < rule->n_outputs; i++) {
        free(rule->outputs[i].path);
        free(rule->outputs[i].text);
    }
    for (size_t i = 0; i < m->n_env; i++) {
        free((char *)(uintptr_t)m->env[i].name);
        free((char *)(uintptr_t)m->env[i].value);
    }
    free(rule->outputs);
    free(m->env);
    free(m->name);
    free(m->command);
    free(m->pool);
    free(m->subscription);
    free(rule->start_fails);
    free(rule);
}

static json_t *render_match(const struct rule_match *m)
{
    json_t *o =
        json_pack("{s:s*, s:s*, s:s*, s:s*, s:s}", "name", m->name, "command", m->command, "pool",
                  m->pool, "subscription", m->subscription, "role", rule_roles[m->role]);
    json_auto_t *env = json_object();
    for (size_t i = 0; i < m->n_env; i++)
        json_object_set_new(env, m->env[i].name, json_string(m->env[i].value));
    if (m->n_env > 0)
        json_object_set(o, "environment", env);
    return o;
}

static json_t *render_span(int64_t us)
{
    char text[SPAN_SIZE];
    span_text(us, text);
    return json_string(text);
}

json_t *rule_render(const struct rule *rule)
{
    json_t *o =
        json_pack("{s:I, s:o, s:i, s:i, s:I, s:o, s:i, s:i}", "id", (json_int_t)rule->number,
                  "match", render_match(&rule->match), "skip", rule->skip, "times", rule->times,
                  "hits", (json_int_t)rule->hits, "duration", render_span(rule->run_us), "exitCode",
                  rule->exit_code, "outputs", (int)rule->n_outputs);
    if (rule->hold)
        json_object_set_new(o, "hold", json_true());
    if (rule->start_fails)
        json_object_set_new(o, "failsToStart", json_string(rule->start_fails));
    return o;
}
