/* SPDX-License-Identifier: MIT
 *
 * Turns: one request after the other has the turn of a path, in the order in which they asked.
 */
#include "api/plane/storage/write_lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/support/tests.h"

struct asker {
    struct turn turn;
    struct turns_room {
        struct write_turns *turns;
        int depth, deepest; /* of calls of on_turn() within each other */
        char order[64];
    } * room;
    char name;
    bool ends_at_once;
};

static void on_turn(void *ctx)
{
    struct asker *a = ctx;
    struct turns_room *t = a->room;
    size_t n = strlen(t->order);
    t->deepest = ++t->depth > t->deepest ? t->depth : t->deepest;
    if (n < sizeof t->order - 1)
        t->order[n] = a->name;
    if (a->ends_at_once)
        turn_end(t->turns, &a->turn);
    t->depth--;
}

static void want(struct turns_room *t, struct asker *a, const char *path)
{
    a->room = t;
    a->turn = (struct turn){.share_id = 1, .path = path, .go = on_turn, .ctx = a};
    turn_want(t->turns, &a->turn);
}

static int start(void **state)
{
    struct turns_room *t = calloc(1, sizeof *t);
    t->turns = turns_create();
    *state = t;
    return 0;
}

static int end(void **state)
{
    struct turns_room *t = *state;
    turns_free(t->turns);
    free(t);
    return 0;
}

#define TURN_TEST(name) TEST_IN(name, struct turns_room *t, *state, start, end)

TURN_TEST(test_a_turn_goes_to_those_who_wait_in_their_order)
{
    struct asker a[] = {{.name = 'a'}, {.name = 'b'}, {.name = 'c'}, {.name = 'd'}};
    want(t, &a[0], "x");
    want(t, &a[1], "x");
    want(t, &a[2], "y");
    want(t, &a[3], "x");
    assert_string_equal(t->order, "ac");
    turn_end(t->turns, &a[0].turn);
    assert_string_equal(t->order, "acb");
    turn_end(t->turns, &a[0].turn); /* it is not held any more */
    assert_string_equal(t->order, "acb");
    turn_end(t->turns, &a[1].turn);
    assert_string_equal(t->order, "acbd");
    turn_end(t->turns, &a[2].turn);
    turn_end(t->turns, &a[3].turn);
}

TURN_TEST(test_many_who_end_at_once_are_not_started_within_each_other)
{
    enum { MANY = 1000 };
    struct asker first = {.name = 'a'}, last = {.name = 'c'};
    struct asker *between = calloc(MANY, sizeof *between);
    want(t, &first, "x");
    for (int i = 0; i < MANY; i++) {
        between[i] = (struct asker){.name = 'b', .ends_at_once = true};
        want(t, &between[i], "x");
    }
    want(t, &last, "x");
    turn_end(t->turns, &first.turn);
    assert_int_equal(t->deepest, 1);
    assert_true(last.turn.is_held);
    turn_end(t->turns, &last.turn);
    free(between);
}
