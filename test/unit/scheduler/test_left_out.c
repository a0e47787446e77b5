/* SPDX-License-Identifier: MIT
 *
 * Steps that are not to be begun, because the daemon has ended with them twice: what they are for
 * says so, and goes on once they may be begun. On fake nodes, in virtual time.
 */
#include "fake_site.h"
#include "virtual.h"

#include "lib/work.h"

static int judge(void *ctx, const struct work_item *w, struct err *e)
{
    const char *const *kind = ctx;
    if (!*kind || strcmp(w->kind, *kind) != 0 || w->verb)
        return 0;
    return err_set(e, ERR_CONFLICT, NULL, "the daemon has ended with it twice");
}

static void allow_all_but(const char *const *kind)
{
    work_set_judge(&(struct work_judge){.judge = judge, .ctx = (void *)kind});
}

WORLD_TEST(test_a_cluster_goes_on_by_itself_once_its_steps_are_allowed, world_virtual(1))
{
    const char *refused = "pool";
    allow_all_but(&refused);
    int64_t c = add_cluster_of(w, "c", 1);
    WAIT(w, says(w, c, "DaemonEndedDuringStep"));
    assert_int_equal(rows_of(counts(w, c)), 0);
    refused = NULL;
    WAIT(w, counts(w, c).idle == 1);
    assert_false(says(w, c, "DaemonEndedDuringStep"));
    work_set_judge(NULL);
}

WORLD_TEST(test_a_node_goes_on_by_itself_once_its_steps_are_allowed, world_virtual(1))
{
    const char *refused = "node";
    allow_all_but(&refused);
    int64_t c = add_cluster_of(w, "c", 1);
    WAIT(w, counts(w, c).unusable == 1);
    refused = NULL;
    WAIT(w, counts(w, c).idle == 1);
    work_set_judge(NULL);
}
