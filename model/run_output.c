/* SPDX-License-Identifier: MIT
 *
 * The outputs of a run: first the standard streams, then the output directories of its document.
 */
#include "model/run_output.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#define STD_ID "stdouterr"

size_t run_output_count(const struct run_spec *spec)
{
    return 1 + spec->n_outputs;
}

struct run_output run_output_at(struct arena *a, const struct run_spec *spec, size_t i)
{
    if (i == 0)
        return (struct run_output){.id = STD_ID,
                                   .prefix = spec->std_prefix ? spec->std_prefix : "",
                                   .below = arena_printf(a, "%s/" STD_ID, spec->segment)};
    assert(i < run_output_count(spec));
    const struct directory_spec *d = &spec->outputs[i - 1];
    const char *suffix = d->suffix ? d->suffix : "";
    struct run_output out = {.id = d->id, .prefix = d->path, .below = suffix, .as_is = d->as_is};
    if (!d->as_is)
        out.below = arena_printf(a, "%s/outputs%s%s", spec->segment, *suffix ? "/" : "", suffix);
    return out;
}

bool run_output_find(struct arena *a, const struct run_spec *spec, const char *id,
                     struct run_output *out)
{
    size_t i = 0;
    if (strcasecmp(id, STD_ID) != 0)
        for (i = 1; i <= spec->n_outputs && strcmp(spec->outputs[i - 1].id, id) != 0;)
            i++;
    if (i > spec->n_outputs)
        return false;
    *out = run_output_at(a, spec, i);
    return true;
}

bool run_output_is_std(const struct run_output *o)
{
    return strcmp(o->id, STD_ID) == 0;
}
