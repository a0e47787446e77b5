/* SPDX-License-Identifier: MIT
 *
 * Runs whose dependency ended otherwise than required. Their pool fails them, and their own
 * dependents are marked in the same transaction; so a chain of any length fails link by link, pass
 * by pass.
 */
#include "model/states.h"
#include "scheduler/pass.h"

/* How many runs one pass fails. The pool is woken again if there are more. */
#define FAILED_PER_PASS 64

static const char *reason(struct pass *p, const struct run *r, struct err *e)
{
    struct dependency *rows;
    const struct front_words *w = p->front->words;
    size_t n, i = 0;
    if (st_dependency_of(p->s->st, p->a, r->owner_kind, r->owner_id, &rows, &n, e) < 0)
        return NULL;
    while (i < n && rows[i].state != DEPENDENCY_BROKEN)
        i++;
    if (i == n)
        return front_text(w, p->a, "What this {run} waited for ended otherwise");
    return front_say(w, p->a, "{Run} %s, for whose %s this one waited, %s", rows[i].name,
                     enum_to_name(after_names, (int)rows[i].wanted), ended_text(rows[i].ended));
}

int pass_fail_broken(struct pass *p, struct err *e)
{
    struct run *runs;
    size_t n;
    if (st_run_broken(p->s->st, p->a, p->pool.id, FAILED_PER_PASS, &runs, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct failure f = {
            .code = FAIL_DEPENDENCY, .message = reason(p, &runs[i], e), .exit_code = -1};
        if (!f.message || runs_fail_queued(p->s->runs, &runs[i], &f, e) != 0)
            return -1;
    }
    if (n == FAILED_PER_PASS)
        p->unfinished = true;
    return 0;
}
