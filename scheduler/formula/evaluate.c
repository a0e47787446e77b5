/* SPDX-License-Identifier: MIT
 *
 * Evaluates statement after statement, each tree from its leaves to its root. Every node is
 * evaluated at most once, so time is bounded by the length of the text, FORMULA_MOST_ITEMS and
 * FORMULA_MOST_READ.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/formula/formula_priv.h"

const char *formula_option_word(enum formula_option o)
{
    static const char *const words[FORMULA_OPTIONS] = {
        [FORMULA_REQUEUE] = "requeue",
        [FORMULA_TERMINATE] = "terminate",
        [FORMULA_TASK_COMPLETION] = "taskcompletion",
        [FORMULA_RETAINED_DATA] = "retaineddata",
    };
    return words[o];
}

static int option_of(const char *word, enum formula_option *out)
{
    for (int o = 0; o < FORMULA_OPTIONS; o++)
        if (strcmp(word, formula_option_word((enum formula_option)o)) == 0) {
            *out = (enum formula_option)o;
            return 0;
        }
    return -1;
}

static const struct {
    const char *name;
    int64_t ticks;
} intervals[] = {
    {"TimeInterval_Zero", 0},
    {"TimeInterval_100ns", 1},
    {"TimeInterval_Microsecond", TICKS_PER_US},
    {"TimeInterval_Millisecond", 1000 * TICKS_PER_US},
    {"TimeInterval_Second", TICKS_PER_SECOND},
    {"TimeInterval_Minute", 60 * TICKS_PER_SECOND},
    {"TimeInterval_Hour", 3600 * TICKS_PER_SECOND},
    {"TimeInterval_Day", 86400 * TICKS_PER_SECOND},
    {"TimeInterval_Week", 7 * 86400 * TICKS_PER_SECOND},
    {"TimeInterval_Year", 365 * 86400 * TICKS_PER_SECOND},
};

static const struct {
    const char *name;
    enum target target;
    bool whole;
} targets[] = {
    {"$TargetDedicatedNodes", TARGET_DEDICATED, true},
    {"$TargetDedicated", TARGET_DEDICATED, false},
    {"$TargetLowPriorityNodes", TARGET_LOW_PRIORITY, true},
    {"$TargetLowPriority", TARGET_LOW_PRIORITY, false},
    {"$NodeDeallocationOption", TARGET_OPTION, true},
};

bool target_named(const char *name, enum target *t, bool *whole)
{
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (strcmp(name, targets[i].name) == 0) {
            *t = targets[i].target;
            *whole = targets[i].whole;
            return true;
        }
    return false;
}

/* Older formulas use other names for two metrics. */
static const struct {
    const char *name;
    enum sample_metric metric;
} metric_aliases[] = {
    {"$CurrentDedicated", SAMPLE_CURRENT_DEDICATED},
    {"$CurrentLowPriority", SAMPLE_CURRENT_LOW_PRIORITY},
};

static bool metric_named(const char *name, enum sample_metric *out)
{
    for (int m = 0; m < SAMPLE_METRIC_COUNT; m++)
        if (strcmp(name, sample_metric_name((enum sample_metric)m)) == 0) {
            *out = (enum sample_metric)m;
            return true;
        }
    for (size_t i = 0; i < sizeof metric_aliases / sizeof *metric_aliases; i++)
        if (strcmp(name, metric_aliases[i].name) == 0) {
            *out = metric_aliases[i].metric;
            return true;
        }
    return false;
}

/* Finds a variable that the service sets and no formula may set. */
static bool given_name(const struct formula_run *r, const char *name, struct formula_value *out)
{
    enum sample_metric m;
    if (metric_named(name, &m)) {
        *out = (struct formula_value){.kind = VALUE_METRIC, .metric = m};
        return true;
    }
    if (strcmp(name, "$TaskSlotsPerNode") == 0) {
        *out = value_number((double)r->in->slots_per_node);
        return true;
    }
    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++)
        if (strcmp(name, intervals[i].name) == 0) {
            *out = value_of_ticks(VALUE_INTERVAL, intervals[i].ticks);
            return true;
        }
    enum formula_option option;
    if (option_of(name, &option) < 0)
        return false;
    *out = (struct formula_value){.kind = VALUE_TEXT, .text = formula_option_word(option)};
    return true;
}

/* The place of the variable in the list, or its place for insertion. */
static struct formula_variable **find_variable(struct formula_run *r, const char *name)
{
    struct formula_variable **at = &r->variables;
    while (*at && strcmp((*at)->name, name) < 0)
        at = &(*at)->next;
    return at;
}

static bool variable_named(struct formula_run *r, const char *name, struct formula_value *out)
{
    struct formula_variable *v = *find_variable(r, name);
    if (!v || strcmp(v->name, name) != 0)
        return false;
    *out = v->value;
    return true;
}

static int evaluate_name(struct formula_run *r, const struct formula_node *n,
                         struct formula_value *out)
{
    enum target t;
    bool whole;
    if (target_named(n->name, &t, &whole)) {
        *out = r->targets[t];
        return 0;
    }
    if (variable_named(r, n->name, out) || given_name(r, n->name, out))
        return 0;
    const char *other = *n->name == '$' ? n->name + 1 : arena_concat(&r->arena, "$", n->name);
    if (variable_named(r, other, out))
        return 0;
    return run_fail(r, n->at, "Undefined symbol: %.120s", n->name);
}

static int evaluate(struct formula_run *r, const struct formula_node *n, struct formula_value *out);

static int as_truth(struct formula_run *r, const struct formula_node *n, bool *out)
{
    struct formula_value v;
    double d;
    if (evaluate(r, n, &v) < 0 || value_as_number(r, n->at, &v, &d) < 0)
        return -1;
    *out = d != 0;
    return 0;
}

static int evaluate_choice(struct formula_run *r, const struct formula_node *n,
                           struct formula_value *out)
{
    bool yes;
    if (as_truth(r, n->children[0], &yes) < 0)
        return -1;
    return evaluate(r, n->children[yes ? 1 : 2], out);
}

static int evaluate_binary(struct formula_run *r, const struct formula_node *n,
                           struct formula_value *out)
{
    if (n->sign == SIGN_AND || n->sign == SIGN_OR) {
        bool truth;
        if (as_truth(r, n->children[0], &truth) < 0)
            return -1;
        if (truth == (n->sign == SIGN_AND) && as_truth(r, n->children[1], &truth) < 0)
            return -1;
        *out = value_number(truth);
        return 0;
    }
    struct formula_value a, b;
    if (evaluate(r, n->children[0], &a) < 0 || evaluate(r, n->children[1], &b) < 0)
        return -1;
    return operate(r, n, &a, &b, out);
}

static int evaluate_unary(struct formula_run *r, const struct formula_node *n,
                          struct formula_value *out)
{
    struct formula_value v;
    return evaluate(r, n->children[0], &v) < 0 ? -1 : operate_unary(r, n, &v, out);
}

static int evaluate_member(struct formula_run *r, const struct formula_node *n,
                           struct formula_value *out)
{
    struct formula_value v;
    return evaluate(r, n->children[0], &v) < 0 ? -1 : timestamp_member(r, n, &v, out);
}

/* Evaluates the arguments of a call or a method; NULL: an argument has no value. */
static struct formula_value *evaluate_children(struct formula_run *r, const struct formula_node *n)
{
    struct formula_value *values = arena_alloc(&r->arena, (n->count + 1) * sizeof *values);
    for (size_t i = 0; i < n->count; i++)
        if (evaluate(r, n->children[i], &values[i]) < 0)
            return NULL;
    return values;
}

static int evaluate_call(struct formula_run *r, const struct formula_node *n,
                         struct formula_value *out)
{
    const struct formula_value *given = evaluate_children(r, n);
    return given ? call_function(r, n, given, out) : -1;
}

static int evaluate_method(struct formula_run *r, const struct formula_node *n,
                           struct formula_value *out)
{
    const struct formula_value *given = evaluate_children(r, n);
    return given ? call_method(r, n, given, out) : -1;
}

static int evaluate_number(struct formula_run *r, const struct formula_node *n,
                           struct formula_value *out)
{
    (void)r;
    *out = value_number(n->number);
    return 0;
}

static int evaluate_text(struct formula_run *r, const struct formula_node *n,
                         struct formula_value *out)
{
    (void)r;
    *out = (struct formula_value){.kind = VALUE_TEXT, .text = n->name};
    return 0;
}

static int evaluate(struct formula_run *r, const struct formula_node *n, struct formula_value *out)
{
    static int (*const by_kind[])(struct formula_run *, const struct formula_node *,
                                  struct formula_value *) = {
        [NODE_NUMBER] = evaluate_number, [NODE_TEXT] = evaluate_text,
        [NODE_NAME] = evaluate_name,     [NODE_UNARY] = evaluate_unary,
        [NODE_BINARY] = evaluate_binary, [NODE_CHOICE] = evaluate_choice,
        [NODE_CALL] = evaluate_call,     [NODE_METHOD] = evaluate_method,
        [NODE_MEMBER] = evaluate_member,
    };
    return by_kind[n->kind](r, n, out);
}

/* A larger number of nodes in one pool is a mistake. */
#define MOST_NODES 1e6

static int check_nodes(struct formula_run *r, const struct statement *s,
                       const struct formula_value *v)
{
    double d;
    if (value_as_number(r, s->value->at, v, &d) < 0)
        return -1;
    if (isnan(d) || d > MOST_NODES)
        return run_fail(r, s->at, "%s is not a number of nodes", s->name);
    return 0;
}

static int set_target(struct formula_run *r, const struct statement *s, enum target t, bool whole,
                      struct formula_value v)
{
    enum formula_option option;
    if (t != TARGET_OPTION) {
        if (check_nodes(r, s, &v) < 0)
            return -1;
    } else if (v.kind != VALUE_TEXT || option_of(v.text, &option) < 0) {
        return run_fail(r, s->at, "%s must be requeue, terminate, taskcompletion or retaineddata",
                        s->name);
    }
    if (r->named[t] && !whole)
        return 0;
    r->named[t] = whole;
    r->targets[t] = v;
    return 0;
}

static int assign(struct formula_run *r, const struct statement *s, struct formula_value v)
{
    enum target t;
    bool whole;
    struct formula_value given;
    if (target_named(s->name, &t, &whole))
        return set_target(r, s, t, whole, v);
    if (given_name(r, s->name, &given))
        return run_fail(r, s->at, "%s cannot be assigned", s->name);
    struct formula_variable **at = find_variable(r, s->name);
    if (!*at || strcmp((*at)->name, s->name) != 0) {
        struct formula_variable *made = arena_alloc(&r->arena, sizeof *made);
        *made = (struct formula_variable){s->name, v, *at};
        *at = made;
    }
    (*at)->value = v;
    return 0;
}

static int run_all(struct formula_run *r, const struct formula *f)
{
    for (size_t i = 0; i < f->count && !r->stopped; i++) {
        struct formula_value v;
        if (evaluate(r, f->statements[i].value, &v) < 0)
            return -1;
        if (!r->stopped && f->statements[i].name && assign(r, &f->statements[i], v) < 0)
            return -1;
    }
    return 0;
}

void formula_evaluate(const struct formula *f, const struct formula_inputs *in,
                      struct formula_outputs *out)
{
    *out = (struct formula_outputs){.target_dedicated = in->target_dedicated,
                                    .target_low_priority = in->target_low_priority};
    struct formula_run r = {.in = in, .error = &out->error};
    arena_init(&r.arena);
    r.targets[TARGET_DEDICATED] = value_number((double)in->target_dedicated);
    r.targets[TARGET_LOW_PRIORITY] = value_number((double)in->target_low_priority);
    r.targets[TARGET_OPTION] =
        (struct formula_value){.kind = VALUE_TEXT, .text = formula_option_word(FORMULA_REQUEUE)};
    if (run_all(&r, f) == 0) {
        out->target_dedicated = target_nodes(&r, TARGET_DEDICATED);
        out->target_low_priority = target_nodes(&r, TARGET_LOW_PRIORITY);
        option_of(r.targets[TARGET_OPTION].text, &out->option);
    }
    out->results = show_results(&r);
    arena_free(&r.arena);
}
