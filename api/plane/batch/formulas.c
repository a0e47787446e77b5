/* SPDX-License-Identifier: MIT */
#include "api/plane/batch/formulas.h"

#include <string.h>

#include "api/plane/batch/errors.h"

int batch_formula_refuse(const struct formula_error *wrong, struct err *e)
{
    return err_set(e,
                   wrong->fault == FORMULA_TOO_LONG ? BATCH_AUTO_SCALING_FORMULA_TOO_LONG
                                                    : BATCH_AUTO_SCALING_FORMULA_SYNTAX_ERROR,
                   "autoScaleFormula", "%s", wrong->msg);
}

int batch_formula_accept(const char *formula, struct err *e)
{
    struct formula_error wrong;
    struct formula *f = formula_parse(formula, strlen(formula), &wrong);
    formula_free(f);
    return f ? 0 : batch_formula_refuse(&wrong, e);
}
