/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "scheduler/formula/formula_priv.h"

static const char *bare(const char *name)
{
    return *name == '$' ? name + 1 : name;
}

static bool is_of_machines(const char *name)
{
    for (int m = 0; m < SAMPLE_MACHINE_COUNT; m++)
        if (strcmp(bare(name), bare(sample_metric_name((enum sample_metric)m))) == 0)
            return true;
    return false;
}

static bool asks(const struct formula_node *n)
{
    if (n->kind == NODE_NAME && is_of_machines(n->name))
        return true;
    for (size_t i = 0; i < n->count; i++)
        if (asks(n->children[i]))
            return true;
    return false;
}

bool formula_asks_machines(const struct formula *f)
{
    for (size_t i = 0; i < f->count; i++)
        if (asks(f->statements[i].value))
            return true;
    return false;
}
