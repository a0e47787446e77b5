/* SPDX-License-Identifier: MIT
 *
 * Formulas: what is written how, what it comes to, and what is wrong where.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/strbuf.h"
#include "test/unit/scheduler/formula/formula_test.h"
#include "test/unit/support/says.h"

TEST(statements)
{
    assert_nodes("$TargetDedicatedNodes = 5;", 5, 1);
    assert_nodes("$TargetDedicatedNodes=5", 5, 1); /* the last ; may be left out */
    assert_nodes("", 2, 1);
    assert_nodes(";; ;", 2, 1);
    assert_nodes("a = 1; b = a + 1; $TargetDedicatedNodes = b; $TargetLowPriorityNodes = b * 2", 2,
                 4);
    assert_nodes("a = 1; a = a + 7; $TargetDedicatedNodes = a", 8, 1); /* assigned again */
}

TEST(comments_and_line_breaks)
{
    assert_nodes("// five\r\n$TargetDedicatedNodes = // or more?\n 5;", 5, 1);
    assert_nodes("/* a\n * b */ $TargetDedicatedNodes /**/ = /*;*/ 7 /* end */", 7, 1);
    assert_nodes("$TargetDedicatedNodes\n=\n6\n; // without a line break", 6, 1);
}

TEST(the_dollar_sign_is_optional)
{
    assert_x("$y = 3; x = y", "3");
    assert_x("y = 3; x = $y", "3");
    assert_x("y = 1; $y = 2; x = y", "1"); /* who has both means each */
    assert_x("_y1 = 4; x = _y1", "4");
}

TEST(numbers)
{
    assert_x("x = 1.5", "1.5");
    assert_x("x = .5", "0.5");
    assert_x("x = 2.", "2");
    assert_x("x = 1e3", "1000");
    assert_x("x = 25E-1", "2.5");
    assert_x("x = 0.1 + 0.2", "0.3"); /* shown with 15 digits */
    assert_x("x = 1 / 0", "Infinity");
    assert_x("x = -1 / 0", "-Infinity");
    assert_x("x = 0 / 0", "NaN");
}

TEST(operators_of_numbers)
{
    assert_x("x = 2 + 3 * 4", "14");
    assert_x("x = (2 + 3) * 4", "20");
    assert_x("x = 10 - 4 - 3", "3");
    assert_x("x = 16 / 4 / 2", "2");
    assert_x("x = -2 - -3", "1");
    assert_x("x = - - 2", "2");
    assert_x("x = !0", "1");
    assert_x("x = !7", "0");
    assert_x("x = !!7", "1");
    assert_x("x = 1 < 2", "1");
    assert_x("x = 2 <= 1", "0");
    assert_x("x = 2 >= 2", "1");
    assert_x("x = 2 > 2", "0");
    assert_x("x = 2 == 2", "1");
    assert_x("x = 2 != 2", "0");
    assert_x("x = 1 + 1 == 2 && 3 > 2", "1");
    assert_x("x = 0 || 5", "1");
    assert_x("x = 1 || 0 && 0", "1");
    assert_x("x = 0/0 == 0/0", "0"); /* as IEEE 754 has it */
    assert_x("x = 0/0 != 0/0", "1");
}

TEST(choices)
{
    assert_x("x = 2 > 1 ? 20 : 10", "20");
    assert_x("x = 0 ? 20:10", "10");
    assert_x("x = 0 ? 1 : 0 ? 2 : 3", "3");
    assert_x("x = 0.1 ? 1 : 2", "1");     /* all but zero is true */
    assert_x("x = 0 ? nothing : 4", "4"); /* what is not chosen is not evaluated */
    assert_x("x = 0 && nothing", "0");
    assert_x("x = 1 || nothing", "1");
}

TEST(texts)
{
    assert_x("x = \"a b\"", "a b");
    assert_x("x = \"a \\\"b\\\" \\\\ \\n\"", "a \"b\" \\ \\n");
    assert_x("x = \"a\" < \"b\"", "1");
    assert_x("x = \"a\" == \"a\"", "1");
    assert_x("x = \"b\" != \"a\" && \"b\" >= \"a\" && \"b\" > \"a\"", "1");
}

TEST(aliases_of_targets)
{
    assert_nodes("$TargetDedicated = 7; $TargetLowPriority = 8", 7, 8);
    /* The whole name goes before its alias, whichever comes first. */
    assert_nodes("$TargetDedicatedNodes = 5; $TargetDedicated = 7", 5, 1);
    assert_nodes("$TargetDedicated = 7; $TargetDedicatedNodes = 5", 5, 1);
    assert_nodes("$TargetDedicatedNodes = $TargetDedicated + 1", 3, 1);
}

TEST(targets_are_whole_numbers)
{
    assert_nodes("$TargetDedicatedNodes = 3.99", 3, 1);
    assert_nodes("$TargetDedicatedNodes = -3", 0, 1);
    assert_nodes("$TargetDedicatedNodes = vec(2, 5)", 3, 1); /* their average, 3.5 */
    assert_x("$TargetDedicatedNodes = 3.5; x = $TargetDedicatedNodes", "3.5");
    assert_fails("$TargetDedicatedNodes = 0/0",
                 "Line 1, Col 1: $TargetDedicatedNodes is not a number of nodes");
    assert_fails("$TargetDedicatedNodes = 1/0",
                 "Line 1, Col 1: $TargetDedicatedNodes is not a number of nodes");
    assert_fails("$TargetDedicatedNodes = \"5\"", "Line 1, Col 25: A string is not a double");
}

TEST(deallocation_options)
{
    static const char *const formulas[FORMULA_OPTIONS] = {
        [FORMULA_REQUEUE] = "$NodeDeallocationOption = requeue",
        [FORMULA_TERMINATE] = "$NodeDeallocationOption = terminate",
        [FORMULA_TASK_COMPLETION] = "$NodeDeallocationOption = 1 ? taskcompletion : requeue",
        [FORMULA_RETAINED_DATA] = "a = retaineddata; $NodeDeallocationOption = a",
    };
    for (int o = 0; o < FORMULA_OPTIONS; o++) {
        struct formula_outputs out = evaluated(formulas[o]);
        assert_int_equal(out.option, o);
        free(out.results);
    }
    assert_fails(
        "$NodeDeallocationOption = 1",
        "Line 1, Col 1: $NodeDeallocationOption must be requeue, terminate, taskcompletion "
        "or retaineddata");
    assert_fails(
        "$NodeDeallocationOption = \"never\"",
        "Line 1, Col 1: $NodeDeallocationOption must be requeue, terminate, taskcompletion "
        "or retaineddata");
}

/* As the documentation of the service prints them. */
TEST(results)
{
    assert_results("$TargetDedicatedNodes=3",
                   "$TargetDedicatedNodes=3;$TargetLowPriorityNodes=1;$NodeDeallocationOption="
                   "requeue");
    assert_results("$curTime = time();"
                   "$workHours = $curTime.hour >= 8 && $curTime.hour < 18;"
                   "$isWeekday = $curTime.weekday >= 1 && $curTime.weekday <= 5;"
                   "$isWorkingWeekdayHour = $workHours && $isWeekday;"
                   "$TargetDedicatedNodes = $isWorkingWeekdayHour ? 20:10;",
                   "$TargetDedicatedNodes=10;$TargetLowPriorityNodes=1;$NodeDeallocationOption="
                   "requeue;$curTime=2016-10-13T19:18:47.805Z;$isWeekday=1;"
                   "$isWorkingWeekdayHour=0;$workHours=0");
    assert_results("totalNodes=5; a = vec(1, 2.5); b = 90 * TimeInterval_Minute; c = b * -24",
                   "$TargetDedicatedNodes=2;$TargetLowPriorityNodes=1;$NodeDeallocationOption="
                   "requeue;a=[1,2.5];b=01:30:00;c=-1.12:00:00;totalNodes=5");
}

TEST(stop_ends_it)
{
    assert_nodes("$TargetDedicatedNodes = 4; stop(); $TargetDedicatedNodes = 9", 4, 1);
    assert_nodes("$TargetDedicatedNodes = 4; 1 ? stop() : 0; $TargetDedicatedNodes = 9", 4, 1);
    assert_nodes("$TargetDedicatedNodes = 4; $TargetDedicatedNodes = stop()", 4, 1);
    assert_nodes("0 ? stop() : 0; $TargetDedicatedNodes = 9", 9, 1);
}

TEST(undefined_names)
{
    assert_fails("$something_useless", "Line 1, Col 1: Undefined symbol: $something_useless");
    assert_fails("$TargetDedicatedNodes = 9;\n  y = 1 +\n\tnothing;",
                 "Line 3, Col 2: Undefined symbol: nothing");
    assert_fails("x = nothing(1)", "Line 1, Col 5: Undefined function: nothing");
    assert_fails("x = $PendingTasks.Nothing()", "Line 1, Col 26: Undefined method: Nothing");
    assert_fails("x = time().nothing", "Line 1, Col 12: A timestamp has no member nothing");
    assert_fails("x = 1; y = x.hour", "Line 1, Col 14: A double has no member hour");
    assert_fails("x = 1; y = x.Count()", "Line 1, Col 19: A double has no method Count");
}

/* What was assigned before an error is among the results, but nothing of it holds. */
TEST(results_of_failures)
{
    struct formula_outputs out = evaluated("a = 1; $TargetDedicatedNodes = 9; b = nothing; c = 3");
    assert_int_equal(out.error.fault, FORMULA_EVALUATION);
    assert_int_equal(out.error.line, 1);
    assert_int_equal(out.error.column, 39);
    assert_int_equal(out.target_dedicated, 2);
    assert_string_equal(out.results, "$TargetDedicatedNodes=9;$TargetLowPriorityNodes=1;"
                                     "$NodeDeallocationOption=requeue;a=1");
    free(out.results);
}

TEST(what_is_given_cannot_be_assigned)
{
    assert_fails("$PendingTasks = 3", "Line 1, Col 1: $PendingTasks cannot be assigned");
    assert_fails("TimeInterval_Day = 3", "Line 1, Col 1: TimeInterval_Day cannot be assigned");
    assert_fails("$TaskSlotsPerNode = 3", "Line 1, Col 1: $TaskSlotsPerNode cannot be assigned");
    assert_fails("requeue = 3", "Line 1, Col 1: requeue cannot be assigned");
}

TEST(operators_that_are_none)
{
    assert_fails("x = 1 + \"1\"", "Line 1, Col 7: No operator + for double and string");
    assert_fails("x = time() * 2", "Line 1, Col 12: No operator * for timestamp and double");
    assert_fails("x = -time()", "Line 1, Col 5: No operator - for timestamp");
    assert_fails("x = !\"a\"", "Line 1, Col 5: A string is not a double");
    assert_fails("x = time() ? 1 : 2", "Line 1, Col 5: A timestamp is not a double");
    assert_fails("x = \"a\" == 1", "Line 1, Col 9: No operator == for string and double");
    assert_fails("x = vec(1,2) + vec(1,2,3)", "Line 1, Col 14: Vectors of 2 and 3 elements");
}

TEST(syntax_errors)
{
    static const struct {
        const char *text, *msg;
    } wrong[] = {
        {"$TargetDedicatedNodes =", "Line 1, Col 24: Unexpected end, expected an expression"},
        {"a = 1 b = 2", "Line 1, Col 7: Unexpected b, expected an operator or ;"},
        {"a = 1;\nb = * 2;", "Line 2, Col 5: Unexpected *, expected an expression"},
        {"a = (1 + 2;", "Line 1, Col 11: Unexpected ;, expected )"},
        {"a = max(1, 2", "Line 1, Col 13: Unexpected end, expected , or )"},
        {"a = max(1,)", "Line 1, Col 11: Unexpected ), expected an expression"},
        {"a = 1 ? 2", "Line 1, Col 10: Unexpected end, expected :"},
        {"a = b.5", "Line 1, Col 6: Unexpected number 0.5, expected an operator or ;"},
        {"a = b.(5)", "Line 1, Col 7: Unexpected (, expected the name of a member"},
        {"a = b = 3", "Line 1, Col 7: Unexpected =, expected an operator or ;"},
        {"3 = a", "Line 1, Col 3: Unexpected =, expected an operator or ;"},
        {"a = 1; }", "Line 1, Col 8: Unexpected character: }"},
        {"a = $", "Line 1, Col 5: Unexpected character: $"},
        {"a = b & c", "Line 1, Col 7: Unexpected character: &"},
        {"a = \"b\" \"c\"", "Line 1, Col 9: Unexpected text, expected an operator or ;"},
        {"a = \"b\n\"", "Line 1, Col 5: Text without a closing \""},
        {"a = 1 /* b", "Line 1, Col 7: Comment without an end"},
        {"a = 1e999", "Line 1, Col 5: Number too large: 1e999"},
        {"a = \xc3\xa4", "Line 1, Col 5: Unexpected byte: 0xc3"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_refused(wrong[i].text, FORMULA_SYNTAX, wrong[i].msg);
}

/* `n` times `piece`, between two texts. */
static char *repeated(const char *before, const char *piece, size_t n, const char *after)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_puts(&b, before);
    for (size_t i = 0; i < n; i++)
        strbuf_puts(&b, piece);
    strbuf_puts(&b, after);
    return strbuf_take(&b);
}

static void assert_refused_long(char *text, enum formula_fault fault, const char *msg)
{
    assert_refused(text, fault, msg);
    free(text);
}

TEST(bounds)
{
    char *longest = repeated("x = 1;", " ", FORMULA_LONGEST - 6, "");
    assert_x(longest, "1");
    free(longest);
    assert_refused_long(repeated("x = 1;", " ", FORMULA_LONGEST - 5, ""), FORMULA_TOO_LONG,
                        "The formula has 8193 bytes, of at most 8192");
    char *most = repeated("", "x = 1;", FORMULA_STATEMENTS, "");
    assert_x(most, "1");
    free(most);
    assert_refused_long(repeated("", "x = 1;", FORMULA_STATEMENTS, "y = 2"), FORMULA_SYNTAX,
                        "Line 1, Col 601: More than 100 statements");
    char *deep = repeated("x = ", "-", FORMULA_DEPTH - 2, "1");
    assert_x(deep, "1");
    free(deep);
    static const char *const too_deep[] = {"(", "-", "!", "max(", "1?2:", "1+", "1?"};
    for (size_t i = 0; i < sizeof too_deep / sizeof *too_deep; i++) {
        struct formula_error e;
        char *text = repeated("x = ", too_deep[i], FORMULA_DEPTH + 1, "1");
        assert_null(formula_parse(text, strlen(text), &e));
        assert_says(e.msg, "More than 256 expressions in one another");
        free(text);
    }
}

/* Vectors of vectors grow fast; they end before memory does. */
TEST(memory_is_bounded)
{
    char *text = repeated("v = vec(1,2,3,4,5,6,7,8);", "v = vec(v,v,v,v,v,v,v,v);", 20, "");
    struct formula_outputs out = evaluated(text);
    assert_int_equal(out.error.fault, FORMULA_EVALUATION);
    assert_says(out.error.msg, "have more than 1048576 elements");
    assert_true(strlen(out.results) < 1000);
    free(out.results);
    free(text);
}

/* A comparison reads all of a vector. */
TEST(time_is_bounded)
{
    char *vectors = repeated("v = vec(1,2,3,4,5,6,7,8);", "v = vec(v,v,v,v,v,v,v,v);", 5, "x=max(");
    char *few = repeated(vectors, "v<v,", 10, "0);");
    char *many = repeated(vectors, "v<v,", 1000, "0);");
    assert_x(few, "0");
    struct formula_outputs out = evaluated(many);
    assert_int_equal(out.error.fault, FORMULA_EVALUATION);
    assert_says(out.error.msg, "vectors of more than 16777216 elements as numbers");
    free(out.results);
    free(many);
    free(few);
    free(vectors);
}
