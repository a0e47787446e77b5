/* SPDX-License-Identifier: MIT
 *
 * Decides the effect of an exit on the job and on dependent tasks. Pure.
 */
#include "model/batch/exits.h"

#include <string.h>

static const struct batch_exit_options *find(const struct batch_exit_rule *rules, size_t n,
                                             int exit_code)
{
    for (size_t i = 0; i < n; i++)
        if (exit_code >= rules[i].low && exit_code <= rules[i].high)
            return &rules[i].options;
    return NULL;
}

static bool succeeded(enum batch_end how, int exit_code)
{
    return how == BATCH_END_EXIT && exit_code == 0;
}

/* Returns the options that the user gave for this end; NULL: none. After a failed preparation, the
 * rule for that precedes the default rule. After other ends, the order of precedence is: the rule
 * for the single exit code, a rule for a range of codes, the rule for a failed upload of output
 * files, the default rule. The default rule does not apply to exit code 0. */
static const struct batch_exit_options *said(const struct batch_exit_conditions *c,
                                             enum batch_end how, int exit_code)
{
    const struct batch_exit_options *o = NULL;
    bool exited = how == BATCH_END_EXIT || how == BATCH_END_UPLOAD;
    if (how == BATCH_END_PRE_PROCESSING)
        o = c->pre_processing;
    if (exited)
        o = find(c->codes, c->n_codes, exit_code);
    if (exited && !o)
        o = find(c->ranges, c->n_ranges, exit_code);
    if (how == BATCH_END_UPLOAD && !o)
        o = c->upload;
    return o || succeeded(how, exit_code) ? o : c->fallback;
}

struct batch_exit_options batch_exit_means(const struct batch_exit_conditions *c,
                                           enum batch_end how, int exit_code)
{
    bool well = succeeded(how, exit_code);
    struct batch_exit_options out = {.job = well ? BATCH_JOB_ACT_NONE : BATCH_JOB_ACT_TERMINATE,
                                     .dependency = well ? BATCH_SATISFY : BATCH_BLOCK};
    const struct batch_exit_options *o = said(c, how, exit_code);
    if (o && o->job)
        out.job = o->job;
    if (o && o->dependency)
        out.dependency = o->dependency;
    return out;
}

int64_t batch_id_number(const char *id)
{
    int64_t n = 0;
    if (!*id)
        return -1;
    for (; *id; id++)
        if (*id < '0' || *id > '9' || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, *id - '0', &n))
            return -1;
    return n;
}
