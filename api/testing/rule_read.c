/* SPDX-License-Identifier: MIT
 *
 * Rules of scripted work, out of JSON and into it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/testing/rules.h"
#include "lib/arena.h"
#include "lib/strbuf.h"
#include "model/span.h"
#include "model/spec.h"

#define TIMES_MAX   1000000
#define OUTPUTS_MAX 10000
#define NAME_MAX    1000
#define TEXT_MAX    (1024 * 1024)

const char *const rule_roles[] = {"job", "preparation", "setup", NULL};

/* Where in the document something is, for errors. */
struct place {
    const char *where; /* "rules[2]." */
    struct err *e;
};

#define FAIL(p, name, ...) err_set((p)->e, ERR_INVALID_PROPERTY, name, __VA_ARGS__)

/* Every member is one of `known`. */
static int check_members(const struct place *p, const json_t *o, const char *within,
                         const char *const *known)
{
    const char *name;
    json_t *value;
    if (!json_is_object(o))
        return FAIL(p, within, "%s%s is no object.", p->where, *within ? within : "the rule");
    json_object_foreach((json_t *)(uintptr_t)o, name, value) {
        const char *const *k = known;
        while (*k && strcmp(*k, name) != 0)
            k++;
        if (*k)
            continue;
        struct strbuf all = STRBUF_INIT;
        for (k = known; *k; k++)
            strbuf_printf(&all, "%s%s", k == known ? "" : ", ", *k);
        int rc = FAIL(p, name, "%s%s%s'%.60s' is not known; there are: %s.", p->where, within,
                      *within ? "." : "", name, all.s);
        strbuf_free(&all);
        return rc;
    }
    return 0;
}

/* *out stays NULL if there is none. A copy. */
static int read_text(const struct place *p, const json_t *o, const char *name, size_t max,
                     char **out)
{
    const json_t *v = json_object_get(o, name);
    const char *text = json_string_value(v);
    if (!v)
        return 0;
    if (!text || strlen(text) > max)
        return FAIL(p, name, "%s%s must be a text of at most %zu bytes.", p->where, name, max);
    *out = xstrdup(text);
    return 0;
}

static int read_number(const struct place *p, const json_t *o, const char *name, int min, int max,
                       int *out)
{
    const json_t *v = json_object_get(o, name);
    if (!v)
        return 0;
    json_int_t n = json_integer_value(v);
    if (!json_is_integer(v) || n < min || n > max)
        return FAIL(p, name, "%s%s must be a whole number from %d to %d.", p->where, name, min,
                    max);
    *out = (int)n;
    return 0;
}

static int read_span(const struct place *p, const json_t *o, const char *name, int64_t *out)
{
    const json_t *v = json_object_get(o, name);
    const char *text = json_string_value(v);
    if (!v)
        return 0;
    if (!text || span_parse(text, out) < 0 || *out < 0 || *out > DURATION_MAX_US)
        return FAIL(p, name, "%s%s must be a duration of ISO 8601, such as PT1H30M or PT0.5S.",
                    p->where, name);
    return 0;
}

static int read_flag(const struct place *p, const json_t *o, const char *name, bool *out)
{
    const json_t *v = json_object_get(o, name);
    *out = json_is_true(v);
    return !v || json_is_boolean(v) ? 0
                                    : FAIL(p, name, "%s%s must be true or false.", p->where, name);
}

/* --- what it fits ------------------------------------------------------------------------------
 */

static int read_role(const struct place *p, const json_t *match, enum rule_role *out)
{
    const json_t *v = json_object_get(match, "role");
    const char *text = json_string_value(v);
    *out = RULE_JOB;
    if (!v)
        return 0;
    for (size_t i = 0; text && rule_roles[i]; i++)
        if (strcmp(text, rule_roles[i]) == 0) {
            *out = (enum rule_role)i;
            return 0;
        }
    return FAIL(p, "role", "%smatch.role must be job, preparation or setup.", p->where);
}

static int read_environment(const struct place *p, const json_t *match, struct rule_match *out)
{
    json_t *env = json_object_get(match, "environment"), *value;
    const char *name;
    if (!env)
        return 0;
    if (!json_is_object(env))
        return FAIL(p, "environment", "%smatch.environment must be an object of texts.", p->where);
    out->env = xcalloc(json_object_size(env) + 1, sizeof *out->env);
    json_object_foreach(env, name, value) {
        if (!json_is_string(value))
            return FAIL(p, name, "%smatch.environment.%.100s must be a text.", p->where, name);
        out->env[out->n_env++] =
            (struct kv){.name = xstrdup(name), .value = xstrdup(json_string_value(value))};
    }
    return 0;
}

static int read_match(const struct place *p, const json_t *match, struct rule_match *out)
{
    static const char *const known[] = {"name", "command",     "pool", "subscription",
                                        "role", "environment", NULL};
    if (!match)
        return 0;
    if (check_members(p, match, "match", known) < 0 || read_role(p, match, &out->role) < 0)
        return -1;
    return read_text(p, match, "name", NAME_MAX, &out->name) < 0 ||
                   read_text(p, match, "command", NAME_MAX, &out->command) < 0 ||
                   read_text(p, match, "pool", NAME_MAX, &out->pool) < 0 ||
                   read_text(p, match, "subscription", NAME_MAX, &out->subscription) < 0
               ? -1
               : read_environment(p, match, out);
}

/* --- what it writes ----------------------------------------------------------------------------
 */

/* A line is a text, or {"at", "text"}; a file {"path", "text", "at"}. */
static int read_output(const struct place *p, const json_t *o, bool is_file,
                       struct rule_output *out)
{
    static const char *const line[] = {"at", "text", NULL};
    static const char *const file[] = {"path", "at", "text", NULL};
    if (!is_file && json_is_string(o)) {
        json_t *text = json_pack("{s:O}", "text", o);
        int rc = read_output(p, text, false, out);
        json_decref(text);
        return rc;
    }
    if (check_members(p, o, "", is_file ? file : line) < 0 ||
        read_span(p, o, "at", &out->at_us) < 0 ||
        read_text(p, o, "text", TEXT_MAX, &out->text) < 0 ||
        (is_file && read_text(p, o, "path", NAME_MAX, &out->path) < 0))
        return -1;
    if (is_file && (!out->path || !*out->path || strstr(out->path, "..")))
        return FAIL(p, "path",
                    "%spath must name a file, below the job's directory or behind a "
                    "variable ($AZ_BATCHAI_OUTPUT_X/name), without '..'.",
                    p->where);
    if (!out->text && !is_file)
        return FAIL(p, "text", "%stext is missing.", p->where);
    if (!out->text)
        out->text = xstrdup("");
    return 0;
}

static int read_outputs(const struct place *p, const json_t *o, const char *name, struct rule *rule)
{
    json_t *list = json_object_get(o, name), *item;
    bool is_file = strcmp(name, "files") == 0, to_stderr = strcmp(name, "stderr") == 0;
    size_t i;
    if (!list)
        return 0;
    size_t n = json_array_size(list);
    if (!json_is_array(list) || rule->n_outputs + n > OUTPUTS_MAX)
        return FAIL(p, name, "%s%s must be a list, and a rule has at most %d outputs.", p->where,
                    name, OUTPUTS_MAX);
    rule->outputs = xrealloc(rule->outputs, (rule->n_outputs + n + 1) * sizeof *rule->outputs);
    json_array_foreach(list, i, item) {
        char where[120];
        snprintf(where, sizeof where, "%.60s%s[%zu].", p->where, name, i);
        const struct place at = {where, p->e};
        struct rule_output *out = &rule->outputs[rule->n_outputs++];
        *out = (struct rule_output){.to_stderr = to_stderr};
        if (read_output(&at, item, is_file, out) < 0)
            return -1;
        if (out->at_us > rule->run_us)
            return FAIL(p, name, "%sat is behind the rule's duration, so it is never written.",
                        where);
    }
    return 0;
}

/* By time; those of one instant as they were given. */
static void sort_outputs(struct rule *rule)
{
    for (size_t i = 1; i < rule->n_outputs; i++) {
        struct rule_output o = rule->outputs[i];
        size_t k = i;
        for (; k > 0 && rule->outputs[k - 1].at_us > o.at_us; k--)
            rule->outputs[k] = rule->outputs[k - 1];
        rule->outputs[k] = o;
    }
}

/* --- all of it ---------------------------------------------------------------------------------
 */

static int read_rule(const struct place *p, const json_t *o, struct rule *rule)
{
    static const char *const known[] = {"match", "skip",         "times",  "duration", "exitCode",
                                        "hold",  "failsToStart", "stdout", "stderr",   "files",
                                        NULL};
    if (check_members(p, o, "", known) < 0 ||
        read_match(p, json_object_get(o, "match"), &rule->match) < 0 ||
        read_number(p, o, "skip", 0, TIMES_MAX, &rule->skip) < 0 ||
        read_number(p, o, "times", 0, TIMES_MAX, &rule->times) < 0 ||
        read_span(p, o, "duration", &rule->run_us) < 0 ||
        read_number(p, o, "exitCode", 0, 255, &rule->exit_code) < 0 ||
        read_flag(p, o, "hold", &rule->hold) < 0 ||
        read_text(p, o, "failsToStart", NAME_MAX, &rule->start_fails) < 0 ||
        read_outputs(p, o, "stdout", rule) < 0 || read_outputs(p, o, "stderr", rule) < 0 ||
        read_outputs(p, o, "files", rule) < 0)
        return -1;
    if (rule->start_fails && (rule->run_us > 0 || rule->n_outputs > 0 || rule->hold))
        return FAIL(p, "failsToStart",
                    "%sfailsToStart goes with no duration, output or hold: "
                    "nothing runs.",
                    p->where);
    sort_outputs(rule);
    return 0;
}

struct rule *rule_read(const json_t *o, const char *where, struct err *e)
{
    const struct place p = {where, e};
    struct rule *rule = xcalloc(1, sizeof *rule);
    if (read_rule(&p, o, rule) == 0)
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
    json_t *env = json_object();
    for (size_t i = 0; i < m->n_env; i++)
        json_object_set_new(env, m->env[i].name, json_string(m->env[i].value));
    if (m->n_env > 0)
        json_object_set(o, "environment", env);
    json_decref(env);
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
