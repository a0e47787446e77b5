/* SPDX-License-Identifier: MIT
 *
 * The language of autoscale formulas: text in, target numbers of nodes out. Pure: no clock, no I/O,
 * no random numbers except the caller's.
 *
 *     formula   = [statement] *(";" [statement])
 *     statement = [name "="] expression          a bare expression is for stop()
 *     expression: ?: || && == != < <= > >= + - * / unary - ! and ( ), as in C, which are evaluated
 *                 only as far as their value needs; numbers, "texts", names, FUNCTION(...),
 *                 timestamp.MEMBER, metric.METHOD(...)
 *     name      = ["$"] (letter | "_") *(letter | digit | "_")
 *
 * Comments are as in C and C++. Values have one of the types number (double), vector (doubleVec),
 * text, timestamp, interval (timeinterval) and metric. A metric that is used as a number is its
 * last sample, a vector that is used as a number its average. If a name is not found, it is
 * searched again without or with its dollar sign.
 *
 * Sources: the pages of the service on formulas that scale pools automatically; texts of errors as
 * in "Pool autoscale event" there.
 */
#ifndef SCHEDULER_FORMULA_FORMULA_H
#define SCHEDULER_FORMULA_FORMULA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/formula/samples.h"

enum {
    FORMULA_LONGEST = 8192,       /* bytes; the limit of the real service */
    FORMULA_STATEMENTS = 100,     /* the limit of the real service */
    FORMULA_DEPTH = 256,          /* nesting of expressions; useful formulas need far less */
    FORMULA_MOST_ITEMS = 1 << 20, /* items of all vectors of one evaluation: 8 MB */
    /* items of all vectors that one evaluation reads as one number: some 20 ms */
    FORMULA_MOST_READ = 16 * FORMULA_MOST_ITEMS,
};

enum formula_fault {
    FORMULA_OK,
    FORMULA_TOO_LONG,
    FORMULA_SYNTAX,          /* the formula cannot be parsed */
    FORMULA_EVALUATION,      /* valid, but without a value now */
    FORMULA_TOO_FEW_SAMPLES, /* GetSample() required a percentage of samples that are missing */
};

struct formula_error {
    enum formula_fault fault;
    int line, column; /* from 1; 0: not at a place in the text */
    char msg[256];    /* "Line 1, Col 37: ..." */
};

/* The treatment of tasks on a node that leaves; named like the words of $NodeDeallocationOption. */
enum formula_option {
    FORMULA_REQUEUE,
    FORMULA_TERMINATE,
    FORMULA_TASK_COMPLETION,
    FORMULA_RETAINED_DATA,
    FORMULA_OPTIONS
};
const char *formula_option_word(enum formula_option o);

/* The inputs of a formula. All borrowed. */
struct formula_inputs {
    int64_t now_us;
    int64_t target_dedicated, target_low_priority; /* as they are now */
    int64_t current_dedicated, current_low_priority;
    int64_t slots_per_node;
    const struct samples *samples; /* NULL: none */
    double (*random)(void *ctx);   /* from 0 to 1; NULL: rand() is 0 */
    void *ctx;
};

struct formula_outputs {
    int64_t target_dedicated, target_low_priority; /* 0 or more; unchanged if not assigned */
    enum formula_option option;
    char *results; /* the variables: "$TargetDedicatedNodes=3;..."; owned by the caller: free() */
    struct formula_error error; /* .fault FORMULA_OK: no error */
};

struct formula;

/* Parses `len` bytes of text. Returns NULL on failure and fills `e`. The caller frees the formula
 * by formula_free(). */
struct formula *formula_parse(const char *text, size_t len, struct formula_error *e);
void formula_free(struct formula *f); /* NULL is allowed */
/* Whether the formula uses a metric of machines. */
bool formula_asks_machines(const struct formula *f);

/* Evaluates the formula. On failure the targets are the targets in `in`, and the results are the
 * assignments before the failure. */
void formula_evaluate(const struct formula *f, const struct formula_inputs *in,
                      struct formula_outputs *out);

#endif
