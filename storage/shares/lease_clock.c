/* SPDX-License-Identifier: MIT */
#include "storage/shares/lease_clock.h"

#include "lib/loop.h"

#define US_PER_S 1000000LL

struct lease_clock lease_clock_begin(struct loop *loop)
{
    return (struct lease_clock){loop, loop_wall_us(loop), loop_mono_us(loop)};
}

int64_t lease_clock_us(const struct lease_clock *c)
{
    return c->begun_us + (loop_mono_us(c->loop) - c->begun_mono_us);
}

int64_t lease_ends_us(const struct lease_clock *c, const struct lease *l)
{
    int64_t longest = (l->state == LEASE_LEASED ? l->duration_s : LEASE_LONGEST_S) * US_PER_S;
    bool beyond = l->until_us != 0 && l->until_us - lease_clock_us(c) > longest;
    return beyond ? c->begun_us + longest : l->until_us;
}

enum lease_state lease_state_now(const struct lease_clock *c, const struct lease *l)
{
    int64_t end = lease_ends_us(c, l);
    bool over = end != 0 && end <= lease_clock_us(c);
    if (over && l->state == LEASE_LEASED)
        return LEASE_EXPIRED;
    if (over && l->state == LEASE_BREAKING)
        return LEASE_BROKEN;
    return l->state;
}

bool lease_is_held(enum lease_state s)
{
    return s == LEASE_LEASED || s == LEASE_BREAKING;
}

struct lease lease_of_share(const struct share *s)
{
    return (struct lease){s->lease_state, s->lease_id, s->lease_duration_s, s->lease_until_us};
}
