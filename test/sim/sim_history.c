/* SPDX-License-Identifier: MIT */
#include "test/sim/sim.h"

/* Within this, everything that can end has ended, once all is put right. */
#define REST_S 7200
/* After so long, nodes that no time heals are replaced. */
#define RENEW_S 1800

static void rest(struct sim *m)
{
    const char *what = "";
    for (int s = 0; s < REST_S && !sim_failed(m); s += 20) {
        sim_pass(m, 20 * SECOND);
        sim_check(m);
        bool over = sim_failed(m) || sim_at_rest(m, &what);
        if (over)
            return;
        arena_free(&m->a);
        if (s == RENEW_S)
            sim_renew(m);
    }
    sim_fail(m, "two hours after all was put right, %s", what);
}

/* So many histories hand over what others write as text. */
#define FRAMES_AS_TEXT_EVERY 8

bool sim_history(struct sim *m, uint64_t seed, int steps, bool frames_as_text)
{
    sim_frames_begin(frames_as_text || seed % FRAMES_AS_TEXT_EVERY == 0);
    sim_begin(m, seed);
    for (m->step = 1; m->step <= steps && !sim_failed(m); m->step++) {
        sim_step(m);
        if (!sim_failed(m))
            sim_check(m);
    }
    if (!sim_failed(m))
        sim_heal(m);
    if (!sim_failed(m))
        rest(m);
    bool ok = !sim_failed(m);
    sim_end(m);
    sim_frames_end();
    return ok && !sim_failed(m);
}
