/* SPDX-License-Identifier: MIT
 *
 * What is wrong, and where.
 */
#include <stdarg.h>
#include <stdio.h>

#include "scheduler/formula/formula_priv.h"

int formula_fail(struct formula_error *e, enum formula_fault fault, struct formula_place at,
                 const char *fmt, ...)
{
    e->fault = fault;
    e->line = at.line;
    e->column = at.column;
    int n = snprintf(e->msg, sizeof e->msg, "Line %d, Col %d: ", at.line, at.column);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->msg + n, sizeof e->msg - (size_t)n, fmt, ap);
    va_end(ap);
    return -1;
}
