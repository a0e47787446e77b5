/* SPDX-License-Identifier: MIT
 *
 * The line that says what takes long, on a terminal of 20 columns.
 */
#include <pty.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "daemon/cli/progress.h"
#include "test/unit/support/tests.h"

#define LONG_AGO_US 10000000 /* longer than a progress waits with its first line */

struct screen {
    int ours, theirs, before; /* the terminal's two ends; the former standard error */
    struct progress p;
};

static void open_screen(struct screen *s)
{
    const struct winsize size = {.ws_row = 5, .ws_col = 20};
    assert_int_equal(openpty(&s->ours, &s->theirs, NULL, NULL, &size), 0);
    s->before = dup(STDERR_FILENO);
    assert_int_equal(dup2(s->theirs, STDERR_FILENO), STDERR_FILENO);
    progress_begin(&s->p);
    s->p.begun_us -= LONG_AGO_US;
}

static void close_screen(const struct screen *s)
{
    (void)dup2(s->before, STDERR_FILENO);
    close(s->before);
    close(s->theirs);
    close(s->ours);
}

static void is_shown(const struct screen *s, const char *text)
{
    char got[400];
    ssize_t n = read(s->ours, got, sizeof got - 1);
    assert_true(n > 0);
    got[n] = '\0';
    assert_string_equal(got, text);
}

TEST(test_a_long_name_is_cut_between_its_characters)
{
    struct screen s;
    open_screen(&s);
    progress_say(&s.p, "%s", "ääääääääääääääääääääääää");
    is_shown(&s, "\r\033[Käääääääääääääääääää");
    close_screen(&s);
}

TEST(test_the_amount_is_seen_of_the_longest_name)
{
    struct screen s;
    open_screen(&s);
    progress_say_bytes(&s.p, "folder/folder/folder/file", 12 << 20, 24 << 20);
    is_shown(&s, "\r\033[K12.0M of 24.0M: fol");
    close_screen(&s);
}

TEST(test_a_stopped_terminal_stops_no_work)
{
    struct screen s;
    open_screen(&s);
    assert_int_equal(tcflow(s.theirs, TCOOFF), 0);
    progress_say(&s.p, "not shown"); /* returns */
    assert_int_equal(tcflow(s.theirs, TCOON), 0);
    progress_say(&s.p, "shown");
    is_shown(&s, "\r\033[Kshown");
    close_screen(&s);
}
