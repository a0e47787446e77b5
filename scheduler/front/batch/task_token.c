/* SPDX-License-Identifier: MIT
 *
 * Tokens for tasks, for their job's operations: sealed texts, which only the daemon can make. A
 * token is valid during its run.
 */
#include <stdlib.h>
#include <string.h>

#include "scheduler/front/batch/front_priv.h"

#define KIND "batch task"

const char *task_token(const struct batch_front *f, struct arena *a, const struct run *r)
{
    char *made = st_wrap(f->st, arena_printf(a, KIND " %lld %s", (long long)r->owner_id, r->guid));
    const char *copy = arena_strdup(a, made);
    free(made);
    return copy;
}

/* Splits a text of task_token(); false: another text. */
static bool take_apart(const char *text, int64_t *id, const char **guid)
{
    const size_t n = strlen(KIND " ");
    char *end;
    if (!text || strncmp(text, KIND " ", n) != 0)
        return false;
    *id = strtoll(text + n, &end, 10);
    *guid = end + 1;
    return *end == ' ';
}

int batch_task_of_token(struct storage *st, struct arena *a, const char *token,
                        struct batch_task *out, struct err *e)
{
    const char *text = NULL, *guid;
    int64_t id;
    struct run r;
    struct err wrong = {0};
    if (st_unwrap(st, a, token, &text, &wrong) < 0 || !take_apart(text, &id, &guid))
        return 0;
    int rc = st_run_of(st, a, RES_BATCH_TASK, id, 0, &r, e);
    if (rc <= 0 || strcmp(r.guid, guid) != 0 || r.state != RUN_ALLOCATED)
        return rc < 0 ? -1 : 0;
    return st_batch_task_by_id(st, a, id, out, e);
}
