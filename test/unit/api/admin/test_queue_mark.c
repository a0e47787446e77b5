/* SPDX-License-Identifier: MIT
 *
 * Places in the list of all queues: their order, and their texts.
 */
#include "api/admin/queue_mark.h"
#include "test/unit/support/tests.h"

/* In the order of the list. */
static const struct queue_mark rows[] = {
    {1, BY_START, 50, 9, 0}, {1, BY_START, 60, 3, 0},  {1, BY_START, 60, 4, 0},
    {1, BY_TURN, 10, 8, 1},  {1, BY_TURN, 0, 5, 2},    {1, BY_TURN, 0, 6, 3},
    {1, BY_TURN, -10, 2, 4}, {1, BY_ID, 0, 1, 0},      {1, BY_ID, 0, 7, 0},
    {2, BY_START, 10, 9, 0}, {2, BY_TURN, 100, 10, 1},
};
#define ROWS (sizeof rows / sizeof rows[0])

TEST(test_rows_up_to_the_mark_are_past)
{
    const struct queue_mark none = {0};
    for (size_t mark = 0; mark < ROWS; mark++)
        for (size_t row = 0; row < ROWS; row++)
            assert_int_equal(queue_mark_is_past(&rows[mark], &rows[row]), row <= mark);
    for (size_t row = 0; row < ROWS; row++)
        assert_false(queue_mark_is_past(&none, &rows[row]));
}

TEST(test_a_mark_is_read_as_it_was_printed)
{
    const struct queue_mark largest = {INT64_MAX, BY_START, INT64_MIN, INT64_MAX, INT32_MAX};
    char text[QUEUE_MARK_SIZE];
    struct queue_mark got;
    for (size_t i = 0; i < ROWS; i++) {
        queue_mark_print(&rows[i], text);
        assert_int_equal(queue_mark_read(text, &got), 0);
        assert_true(queue_mark_is_past(&rows[i], &got) && queue_mark_is_past(&got, &rows[i]));
        assert_int_equal(got.place, rows[i].place);
    }
    queue_mark_print(&largest, text);
    assert_int_equal(queue_mark_read(text, &got), 0);
    assert_int_equal(got.by, INT64_MIN);
}

TEST(test_other_texts_are_no_marks)
{
    static const char *const wrong[] = {"",
                                        "x",
                                        "1",
                                        "1/2/3/4",
                                        "1/2/3/4/5/",
                                        "1/2/3/4/5x",
                                        "0/2/0/1/1",
                                        "1/0/0/1/0",
                                        "1/4/0/1/0",
                                        "1/2/0/0/0",
                                        "1/2/0/1/-1",
                                        " 1/2/0/1/1",
                                        "-/2/0/1/1",
                                        "1//0/1/1",
                                        "+1/2/0/1/1",
                                        "1/2/2147483648/1/1",
                                        "1/1/9223372036854775808/1/0",
                                        "1/2/0/1/2147483648"};
    struct queue_mark got;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(queue_mark_read(wrong[i], &got), -1);
}
