/* SPDX-License-Identifier: MIT
 *
 * What a task may ask for and nothing here does yet: it fails and says so, because a command that
 * ran without it would do harm.
 */
#include "front/batch/front_priv.h"

void task_refuse_unserved(struct arena *a, const struct batch_task_spec *t,
                          struct place_spec *place)
{
    const struct {
        bool wanted;
        const char *property, *what;
    } rows[] = {
        {t->container, "containerSettings", "tasks do not run in containers"},
        {t->multi, "multiInstanceSettings", "tasks do not run on several nodes"},
    };
    for (size_t i = 0; !place->refused && i < sizeof rows / sizeof rows[0]; i++) {
        if (!rows[i].wanted)
            continue;
        place->refused = FAIL_NOT_SERVED;
        place->why_refused = arena_printf(a, "%s is not served here yet: %s; leave it out",
                                          rows[i].property, rows[i].what);
    }
}
