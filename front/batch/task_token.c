/* SPDX-License-Identifier: MIT
 *
 * Tokens of tasks, for their job's operations: sealed texts, which the daemon alone can make. One
 * is good as long as the run is under way that it was made for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/batch/front_priv.h"
#include "lib/guid.h"

#define KIND "batch task"

const char *task_token(const struct batch_front *f, struct arena *a, const struct run *r)
{
    char *made = st_wrap(f->st, arena_printf(a, KIND " %lld %s", (long long)r->owner_id, r->guid));
    const char *copy = arena_strdup(a, made);
    free(made);
    return copy;
}

int batch_task_of_token(struct storage *st, struct arena *a, const char *token,
                        struct batch_task *out, struct err *e)
{
    const char *text;
    long long id;
    char guid[GUID_SIZE];
    struct run r;
    struct err wrong = {0};
    int used = 0;
    if (st_unwrap(st, a, token, &text, &wrong) < 0 || !text ||
        sscanf(text, KIND " %lld %36s%n", &id, guid, &used) != 2 || text[used] != '\0')
        return 0;
    int rc = st_run_of(st, a, RES_BATCH_TASK, id, 0, &r, e);
    if (rc <= 0 || strcmp(r.guid, guid) != 0 || r.state != RUN_ALLOCATED)
        return rc < 0 ? -1 : 0;
    return st_batch_task_by_id(st, a, id, out, e);
}
