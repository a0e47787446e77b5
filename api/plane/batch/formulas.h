/* SPDX-License-Identifier: MIT
 *
 * Formulas that cannot be parsed, as the service answers them.
 */
#ifndef API_PLANE_BATCH_FORMULAS_H
#define API_PLANE_BATCH_FORMULAS_H

#include "lib/err.h"
#include "scheduler/formula/formula.h"

/* Whether a formula can be parsed. */
int batch_formula_accept(const char *formula, struct err *e) MUST_CHECK;
/* The error of one that cannot. Returns -1. */
int batch_formula_refuse(const struct formula_error *wrong, struct err *e);

#endif
