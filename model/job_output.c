/* SPDX-License-Identifier: MIT */
#include "model/job_output.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#define STD_ID "stdouterr"

size_t job_output_count(const struct job_spec *spec)
{
    return 1 + spec->n_outputs;
}

struct job_output job_output_at(struct arena *a, const struct job_spec *spec, size_t i)
{
    if (i == 0)
        return (struct job_output){.id = STD_ID,
                                   .prefix = spec->std_prefix ? spec->std_prefix : "",
                                   .below = arena_printf(a, "%s/" STD_ID, spec->segment)};
    assert(i < job_output_count(spec));
    const struct directory_spec *d = &spec->outputs[i - 1];
    const char *suffix = d->suffix ? d->suffix : "";
    struct job_output out = {.id = d->id, .prefix = d->path, .below = suffix, .as_is = d->as_is};
    if (!d->as_is)
        out.below = arena_printf(a, "%s/outputs%s%s", spec->segment, *suffix ? "/" : "", suffix);
    return out;
}

bool job_output_find(struct arena *a, const struct job_spec *spec, const char *id,
                     struct job_output *out)
{
    size_t i = 0;
    if (strcasecmp(id, STD_ID) != 0)
        for (i = 1; i <= spec->n_outputs && strcmp(spec->outputs[i - 1].id, id) != 0;)
            i++;
    if (i > spec->n_outputs)
        return false;
    *out = job_output_at(a, spec, i);
    return true;
}

bool job_output_is_std(const struct job_output *o)
{
    return strcmp(o->id, STD_ID) == 0;
}
