/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/http/connections.h"
#include "test/unit/support/descriptors.h"
#include "test/unit/support/tests.h"

#define PATIENCE_MS 100

struct connection_pair {
    struct connection *c;
    int ours, theirs;
};

static uv_loop_t loop;
static struct connections *all;

static int open_all(void **state)
{
    (void)state;
    uv_loop_init(&loop);
    all = connections_create(&loop, NULL, PATIENCE_MS, CONNECTIONS_MAX);
    return 0;
}

static void on_closed(void *ctx)
{
    (void)ctx;
}

static int open_few(void **state)
{
    (void)state;
    uv_loop_init(&loop);
    all = connections_create(&loop, NULL, PATIENCE_MS, 3);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    connections_close(all, on_closed, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    return uv_loop_close(&loop);
}

static struct connection_pair opened(const char *from)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } a = {0};
    struct connection_pair p;
    int fd[2];
    a.any.sa_family = strchr(from, ':') ? AF_INET6 : AF_INET;
    assert_int_equal(
        inet_pton(a.any.sa_family, from,
                  a.any.sa_family == AF_INET6 ? (void *)&a.v6.sin6_addr : (void *)&a.v4.sin_addr),
        1);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    p.ours = fd[0];
    p.theirs = fd[1];
    p.c = connection_opened(all, p.ours, &a.any, NULL);
    return p;
}

static void closed(struct connection_pair *p)
{
    connection_closed(p->c);
    close(p->ours);
    close(p->theirs);
}

static bool hung_up(const struct connection_pair *p)
{
    struct pollfd f = {.fd = p->theirs, .events = POLLIN | POLLRDHUP};
    return poll(&f, 1, 0) > 0;
}

#define CONNECTIONS_TEST(name) TEST_SETUP(name, open_all, close_all)

CONNECTIONS_TEST(whoever_says_nothing_is_hung_up_on)
{
    struct connection_pair silent = opened("10.0.0.1"), busy = opened("10.0.0.1"),
                           idle = opened("10.0.0.1");
    connection_busy(busy.c);
    connection_busy(idle.c);
    connection_idle(idle.c);
    while (!hung_up(&silent))
        uv_run(&loop, UV_RUN_ONCE);
    assert_true(connection_refused(silent.c));
    assert_false(hung_up(&busy));
    assert_false(hung_up(&idle));
    closed(&silent);
    closed(&busy);
    closed(&idle);
}

/* By a byte now and then a client cannot hold what it has sent. */
CONNECTIONS_TEST(whoever_sends_a_body_too_slowly_is_hung_up_on)
{
    struct connection_pair fast = opened("10.0.0.1"), slow = opened("10.0.0.1"),
                           refused = opened("10.0.0.1"), complete = opened("10.0.0.1");
    struct connection_pair *all_of_them[] = {&fast, &slow, &refused, &complete};
    for (size_t i = 0; i < 4; i++) {
        connection_busy(all_of_them[i]->c);
        connection_reads(all_of_them[i]->c, 0, i != 2);
    }
    connection_reads(fast.c, (size_t)3600 * 1000 * BODY_BYTES_PER_MS, true);
    connection_busy(complete.c);
    while (!hung_up(&slow) || !hung_up(&refused)) {
        connection_reads(slow.c, 1, true);
        connection_reads(refused.c, 1, false);
        uv_run(&loop, UV_RUN_ONCE);
    }
    assert_false(hung_up(&fast));
    assert_false(hung_up(&complete));
    for (size_t i = 0; i < 4; i++)
        closed(all_of_them[i]);
}

#define MANY        (CONNECTIONS_OF_ONE + 1)
#define DESCRIPTORS (2 * MANY + 100)

/* Whoever opens too many loses the oldest that does nothing; others do not notice. */
CONNECTIONS_TEST(one_address_cannot_shut_others_out)
{
    skip_unless_may_open(DESCRIPTORS);
    static struct connection_pair many[MANY];
    struct connection_pair other = opened("10.0.0.2");
    for (int i = 0; i < CONNECTIONS_OF_ONE; i++)
        many[i] = opened("10.0.0.1");
    for (int i = 0; i < 3; i++)
        connection_busy(many[i].c);
    connection_idle(many[2].c);
    assert_false(hung_up(&many[3]));
    many[MANY - 1] = opened("10.0.0.1");
    assert_true(hung_up(&many[3])); /* the oldest that is half-open */
    for (int i = 0; i < MANY; i++)
        assert_int_equal(hung_up(&many[i]), i == 3);
    assert_false(hung_up(&other));
    for (int i = 0; i < MANY; i++)
        closed(&many[i]);
    closed(&other);
}

CONNECTIONS_TEST(idle_ones_go_next_and_busy_ones_never)
{
    skip_unless_may_open(DESCRIPTORS);
    static struct connection_pair many[MANY];
    for (int i = 0; i < CONNECTIONS_OF_ONE; i++) {
        many[i] = opened("10.0.0.1");
        connection_busy(many[i].c);
    }
    connection_idle(many[7].c);
    struct connection_pair next = opened("10.0.0.1");
    assert_true(hung_up(&many[7]));
    assert_false(hung_up(&next));
    connection_busy(next.c);
    struct connection_pair last = opened("10.0.0.1");
    assert_true(hung_up(&last));
    closed(&last);
    closed(&next);
    for (int i = 0; i < CONNECTIONS_OF_ONE; i++)
        closed(&many[i]);
}

TEST_SETUP(where_there_is_room_for_few_the_oldest_goes, open_few, close_all)
{
    struct connection_pair few[5];
    for (int i = 0; i < 3; i++) {
        few[i] = opened(i == 0 ? "10.0.0.1" : "10.0.0.2");
        connection_busy(few[i].c);
    }
    connection_idle(few[1].c);
    few[3] = opened("10.0.0.3");
    assert_true(hung_up(&few[1]));
    closed(&few[1]);
    few[4] = opened("10.0.0.4");
    assert_true(hung_up(&few[3]));
    for (int i = 0; i < 5; i++) {
        if (i == 1)
            continue;
        assert_int_equal(hung_up(&few[i]), i == 3);
        closed(&few[i]);
    }
}

TEST_SETUP(a_relayed_connection_counts_as_three, open_few, close_all)
{
    struct connection_pair first = opened("10.0.0.1"), second, third;
    connection_set_relayed(first.c);
    assert_true(connection_is_tls(first.c));
    assert_false(hung_up(&first));
    connection_busy(first.c);
    connection_idle(first.c);
    second = opened("10.0.0.2");
    assert_true(hung_up(&first));
    closed(&first);
    assert_false(hung_up(&second));
    connection_busy(second.c);
    third = opened("10.0.0.3");
    connection_set_relayed(third.c);
    assert_true(hung_up(&third));
    assert_false(hung_up(&second));
    closed(&second);
    closed(&third);
}

TEST_SETUP(a_body_that_is_discarded_goes_before_the_new_one, open_few, close_all)
{
    struct connection_pair few[5];
    for (int i = 0; i < 3; i++) {
        few[i] = opened("10.0.0.1");
        connection_busy(few[i].c);
    }
    connection_reads(few[0].c, 0, true);
    connection_reads(few[1].c, 0, true);
    connection_reads(few[1].c, 1, false);
    few[3] = opened("10.0.0.2");
    connection_busy(few[3].c);
    assert_true(hung_up(&few[1]));
    few[4] = opened("10.0.0.3");
    for (int i = 0; i < 5; i++)
        assert_int_equal(hung_up(&few[i]), i == 1 || i == 4);
    for (int i = 0; i < 5; i++)
        closed(&few[i]);
}

CONNECTIONS_TEST(failed_logins_are_counted_by_address_and_account)
{
    struct connection_pair guesser = opened("10.0.0.1"), again = opened("10.0.0.1"),
                           other = opened("10.0.0.2");
    for (int i = 0; i < LOGIN_FAILURES_AT_ONCE; i++) {
        assert_true(connection_may_log_in(guesser.c, "ada", 1000));
        connection_login_failed(guesser.c, "ada", 1000);
    }
    assert_false(connection_may_log_in(guesser.c, "ada", 1000));
    assert_false(connection_may_log_in(again.c, "ada", 1000));
    assert_false(connection_may_log_in(again.c, "ADA", 1000));
    assert_true(connection_may_log_in(again.c, "bob", 1000));
    assert_true(connection_may_log_in(other.c, "ada", 1000));
    assert_true(connection_may_log_in(again.c, "ada", 1000 + LOGIN_FAILURE_EVERY_MS + 1));
    closed(&guesser);
    closed(&again);
    closed(&other);
}

CONNECTIONS_TEST(many_accounts_do_not_hide_the_one_that_failed_most)
{
    struct connection_pair guesser = opened("10.0.0.1");
    char name[16];
    for (int i = 0; i < LOGIN_FAILURES_AT_ONCE; i++)
        connection_login_failed(guesser.c, "ada", 1000);
    for (int i = 0; i < 4 * LOGIN_ACCOUNTS; i++) {
        (void)snprintf(name, sizeof name, "n%d", i);
        assert_true(connection_may_log_in(guesser.c, name, 1000));
        connection_login_failed(guesser.c, name, 1000);
    }
    assert_false(connection_may_log_in(guesser.c, "ada", 1000));
    assert_true(connection_may_log_in(guesser.c, "bob", 1000));
    closed(&guesser);
}

static int gone;

static void note_turn(struct connection_turn *t)
{
    (void)t;
    gone++;
}

CONNECTIONS_TEST(one_request_of_an_address_has_its_turn)
{
    struct connection_pair one = opened("10.0.0.1"), two = opened("10.0.0.1"),
                           other = opened("10.0.0.2");
    struct connection_turn first = {.go = note_turn}, second = {.go = note_turn},
                           third = {.go = note_turn}, others = {.go = note_turn};
    gone = 0;
    assert_true(connection_take_turn(one.c, &first));
    assert_false(connection_take_turn(two.c, &second));
    assert_false(connection_take_turn(one.c, &third));
    assert_true(connection_take_turn(other.c, &others));
    connection_end_turn(one.c);
    assert_int_equal(gone, 1);
    connection_end_turn(two.c);
    assert_int_equal(gone, 2);
    connection_end_turn(one.c);
    assert_int_equal(gone, 2);
    assert_true(connection_take_turn(two.c, &first));
    connection_end_turn(two.c);
    connection_end_turn(other.c);
    closed(&one);
    closed(&two);
    closed(&other);
}

/* Whoever has one address of a network of 64 bits has all of them. */
CONNECTIONS_TEST(addresses_of_one_ipv6_network_count_together)
{
    struct connection_pair guesser = opened("2001:db8:0:1::1"),
                           again = opened("2001:db8:0:1:ffff::2"),
                           other = opened("2001:db8:0:2::1"), mapped = opened("::ffff:10.0.0.1"),
                           plain = opened("10.0.0.1"), here = opened("::1");
    for (int i = 0; i < LOGIN_FAILURES_AT_ONCE; i++) {
        connection_login_failed(guesser.c, "ada", 1000);
        connection_login_failed(mapped.c, "ada", 1000);
    }
    assert_false(connection_may_log_in(again.c, "ada", 1000));
    assert_true(connection_may_log_in(other.c, "ada", 1000));
    assert_false(connection_may_log_in(plain.c, "ada", 1000));
    assert_true(connection_may_log_in(here.c, "ada", 1000));
    struct connection_pair *all_of_them[] = {&guesser, &again, &other, &mapped, &plain, &here};
    for (size_t i = 0; i < sizeof all_of_them / sizeof all_of_them[0]; i++)
        closed(all_of_them[i]);
}
