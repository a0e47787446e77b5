/* SPDX-License-Identifier: MIT
 *
 * Reads rules of scripted work (rules.h) from JSON, and renders them as JSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/testing/rules.h"
#include "model/schema_rows.h"
#include "model/span.h"
#include "model/spec.h"

#define TIMES_MAX   1000000
#define OUTPUTS_MAX 10000
#define NAME_MAX    1000
#define TEXT_MAX    (1024 * 1024)

/* --- the match of a rule ---------------------------------------------------------------------- */

static const struct enum_name role_names[] = {
    {RULE_JOB, "job"}, {RULE_PREPARATION, "preparation"}, {RULE_SETUP, "setup"}, {0, NULL}};

static const struct field match_rows[] = {
    TEXT("name", .max = NAME_MAX, INTO(rule_match, name)),
    TEXT("command", .max = NAME_MAX, INTO(rule_match, command)),
    TEXT("pool", .max = NAME_MAX, INTO(rule_match, pool)),
    TEXT("subscription", .max = NAME_MAX, INTO(rule_match, subscription)),
    ENUM("role", 0, role_names, .fallback = "\"job\"", INTO(rule_match, role)),
    MAP("environment", INTO_LIST(rule_match, env, n_env)),
};
static SCHEMA(match_body, match_rows, "Match", FILLS(rule_match));

/* --- the outputs of a rule -------------------------------------------------------------------- */

static int check_path(const json_t *value, const char *path, struct err *e)
{
    const char *file = json_string_value(value);
    return *file && *file != '/' && !strstr(file, "..")
               ? 0
               : err_set(e, ERR_INVALID_PROPERTY, path,
                         "%s is '%.100s'; it must name a file, below the job's directory or "
                         "behind a variable ($AZ_BATCHAI_OUTPUT_X/name), without '/' in front and "
                         "without '..'.",
                         path, file);
}

static void is_of_stderr(struct arena *a, const json_t *o, void *into)
{
    struct rule_output *out = into;
    (void)a;
    (void)o;
    out->to_stderr = true;
}

static const struct field line_rows[] = {
    TEXT("text", REQUIRED, .max = TEXT_MAX, INTO(rule_output, text)),
    SPAN("at", .max = DURATION_MAX_S, INTO(rule_output, at_us)),
};
static SCHEMA(line_body, line_rows, "Line", FILLS(rule_output));
static SCHEMA(stderr_body, line_rows, "Line", FILLS(rule_output), .finish = is_of_stderr);

static const struct field file_rows[] = {
    TEXT("path", REQUIRED, .max = NAME_MAX, .check = check_path, INTO(rule_output, path)),
    TEXT("text", .max = TEXT_MAX, .fallback = "\"\"", INTO(rule_output, text)),
    SPAN("at", .max = DURATION_MAX_S, INTO(rule_output, at_us)),
};
static SCHEMA(file_body, file_rows, "File", FILLS(rule_output));

/* Orders outputs by time; outputs of one instant stay in the order of the rule. */
static int by_time(const void *a, const void *b)
{
    const struct rule_output *x = a, *y = b;
    if (x->at_us != y->at_us)
        return x->at_us < y->at_us ? -1 : 1;
    return x->nth < y->nth ? -1 : 1;
}

/* --- the whole rule ----------------------------------------------------------------------------
 */

static const struct field rule_rows[] = {
    OBJECT("match", 0, match_body, .fallback = "{}", INTO(rule, match)),
    INT("skip", .max = TIMES_MAX, INTO(rule, skip)),
    INT("times", .max = TIMES_MAX, INTO(rule, times)),
    SPAN("duration", .max = DURATION_MAX_S, INTO(rule, run_us)),
    INT("exitCode", .max = 255, INTO(rule, exit_code)),
    BOOL("hold", INTO(rule, hold)),
    TEXT("failsToStart", .max = NAME_MAX, INTO(rule, start_fails)),
    LIST("stdout", BARE, line_body, .max = OUTPUTS_MAX, INTO_LIST(rule, outputs, n_outputs)),
    LIST("stderr", BARE, stderr_body, .max = OUTPUTS_MAX, INTO_LIST(rule, outputs, n_outputs)),
    LIST("files", 0, file_body, .max = OUTPUTS_MAX, INTO_LIST(rule, outputs, n_outputs)),
};
static SCHEMA(rule_body, rule_rows, "Rule", FILLS(rule));

static const struct field doc_rows[] = {LIST("rules", 0, rule_body, INTO_LIST(rule_doc, rules, n))};
static SCHEMA(doc_body, doc_rows, "Rules", FILLS(rule_doc));

static const char *list_of(const struct rule_output *o)
{
    return o->path ? "files" : o->to_stderr ? "stderr" : "stdout";
}

/* The error of output `i`, which is later than the rule's duration. The message has the position in
 * its list; at this time the outputs of each list are adjacent. */
static int refuse_late(const struct rule *rule, size_t i, const char *where, struct err *e)
{
    const char *list = list_of(&rule->outputs[i]);
    size_t nth = 0;
    for (size_t j = 0; j < i; j++)
        nth += strcmp(list_of(&rule->outputs[j]), list) == 0;
    return err_set(e, ERR_INVALID_PROPERTY, list,
                   "%s%s[%zu].at is later than the rule's duration, so the output is never "
                   "written.",
                   where, list, nth);
}

/* Checks and completes a rule. `where`: its place in the document, such as "rules[1]."; "": the
 * rule is the document. */
static int finish_rule(struct rule *rule, const char *where, struct err *e)
{
    if (rule->n_outputs > OUTPUTS_MAX)
        return err_set(e, ERR_INVALID_PROPERTY, "stdout",
                       "%sstdout, stderr and files have %zu outputs together; a rule may have "
                       "at most %d.",
                       where, rule->n_outputs, OUTPUTS_MAX);
    for (size_t i = 0; i < rule->n_outputs; i++) {
        rule->outputs[i].nth = i;
        if (rule->outputs[i].at_us > rule->run_us)
            return refuse_late(rule, i, where, e);
    }
    if (rule->start_fails && (rule->run_us > 0 || rule->n_outputs > 0 || rule->hold))
        return err_set(e, ERR_INVALID_PROPERTY, "failsToStart",
                       "%sfailsToStart cannot be combined with a duration, output or hold, because "
                       "no process runs.",
                       where);
    if (rule->n_outputs > 0)
        qsort(rule->outputs, rule->n_outputs, sizeof *rule->outputs, by_time);
    return 0;
}

const char *rule_place(const struct rule_doc *doc, size_t i, char out[static 32])
{
    out[0] = '\0';
    if (doc->listed)
        snprintf(out, 32, "rules[%zu].", i);
    return out;
}

static int read_doc(struct rule_doc *doc, const json_t *o, struct err *e)
{
    char where[32];
    doc->listed = json_object_get(o, "rules") != NULL;
    if (doc->listed) {
        if (schema_read(&doc_body, o, &doc->arena, doc, e) < 0)
            return -1;
    } else {
        doc->n = 1;
        doc->rules = arena_alloc(&doc->arena, sizeof *doc->rules);
        if (schema_read(&rule_body, o, &doc->arena, doc->rules, e) < 0)
            return -1;
    }
    doc->left = doc->n;
    for (size_t i = 0; i < doc->n; i++) {
        doc->rules[i].doc = doc;
        if (finish_rule(&doc->rules[i], rule_place(doc, i, where), e) < 0)
            return -1;
    }
    return 0;
}

struct rule_doc *rule_doc_read(const json_t *o, struct err *e)
{
    struct rule_doc *doc = xcalloc(1, sizeof *doc);
    if (read_doc(doc, o, e) == 0)
        return doc;
    rule_doc_free(doc);
    return NULL;
}

void rule_doc_free(struct rule_doc *doc)
{
    arena_free(&doc->arena);
    free(doc);
}

void rule_free(struct rule *rule)
{
    if (--rule->doc->left == 0)
        rule_doc_free(rule->doc);
}

static json_t *render_match(const struct rule_match *m)
{
    json_t *o = json_pack("{s:s*, s:s*, s:s*, s:s*, s:s}", "name", m->name, "command", m->command,
                          "pool", m->pool, "subscription", m->subscription, "role",
                          enum_to_name(role_names, (int)m->role));
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
