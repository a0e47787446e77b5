/* SPDX-License-Identifier: MIT
 *
 * What cmd /c makes of a line: variables, operators, conditions, loops, redirections, and exit
 * codes.
 */
#include "test/unit/nodeagent-proto/windows/windows_test.h"
#include "test/unit/support/tests.h"

PLACE_TEST(echoes)
{
    assert_prints("cmd /c echo hello", "hello\n");
    assert_prints("cmd.exe /C ECHO Hello  World", "Hello  World\n");
    assert_prints("C:\\Windows\\System32\\cmd.exe /c echo a", "a\n");
    assert_prints("cmd /c \"echo \"a b\"\"", "\"a b\"\n");
    assert_prints("cmd /q /d /s /c \"echo x\"", "x\n");
    assert_prints("cmd /c @echo off & echo.& echo.a & echo", "\na \nECHO is on.\n");
    assert_prints("cmd /c echo a^&b ^^ \"^&\"", "a&b ^ \"^&\"\n");
    assert_prints("cmd /c rem nothing", "");
    assert_prints("cmd /c rem a & echo b", "");
    assert_prints("cmd /c rem & echo b", "b\n");
    assert_prints("cmd /c rem a > f& echo b\nif not exist f echo none", "none\n");
    assert_prints("cmd /c (\nrem a) & echo b\n:: c) & echo d\necho e\n)", "e\n");
    assert_prints("cmd /c", "");
}

PLACE_TEST(variables)
{
    setenv("AZ_BATCH_APP_PACKAGE_APP01#1.0", "/pkg/app01", 1);
    setenv("AZ_BATCH_JOB_ID", "job01", 1);
    assert_prints("cmd /c echo %AZ_BATCH_JOB_ID%", "job01\n");
    assert_prints("cmd /c echo %az_batch_job_id%", "job01\n"); /* names have no case */
    assert_prints("cmd /c echo %AZ_BATCH_APP_PACKAGE_app01#1.0%", "/pkg/app01\n");
    assert_prints("cmd /c echo %nothing% 100% %%", "%nothing% 100% %%\n");
    assert_prints(
        "cmd /c echo %AZ_BATCH_JOB_ID:~0,3%-%AZ_BATCH_JOB_ID:~-2%-%AZ_BATCH_JOB_ID:~1,-1%",
        "job-01-ob0\n");
    assert_prints("cmd /c echo %AZ_BATCH_JOB_ID:JOB=task%", "task01\n");
    assert_prints("cmd /c echo %AZ_BATCH_JOB_ID:*b=%", "01\n");
    assert_prints("cmd /c echo %OS%", "Windows_NT\n");
    assert_prints("cmd /c if defined COMPUTERNAME echo yes", "yes\n");
}

PLACE_TEST(variables_that_are_set)
{
    /* The whole line is expanded before anything of it runs. */
    assert_prints("cmd /c set A=1&& echo [%A%]", "[%A%]\n");
    assert_prints("cmd /c set A=1&& call echo [%A%]", "[1]\n");
    assert_prints("cmd /v:on /c set A=1&& echo [!A!]", "[1]\n");
    assert_prints("cmd /c \"set \"A=b c\" && call echo [%A%]\"", "[b c]\n");
    assert_prints("cmd /c set A_1=x& set A_2=y& set A_", "A_1=x\nA_2=y\n");
    assert_prints("cmd /c set A=1& set A=& call echo [%A%]", "[%A%]\n");
    assert_prints("cmd /c set A=1& call echo [%A:=%]", "[%A:=%]\n"); /* nothing to replace */
    assert_says("cmd /c set no_such_name", 1, "",
                "Environment variable no_such_name not defined\n");
    assert_prints("cmd /c set /a A=(1+2)*3-10/4& call echo %A%", "7\n");
    assert_prints("cmd /c set /a \"A=5,A+=2,B=A*-1\"& call echo %A% %B%", "7 -7\n");
    assert_says("cmd /c set /a 1/0", 1, "", "Missing operand.\n");
    assert_prints("cmd /c set FOO=bar&& env | grep ^FOO=", "FOO=bar\n"); /* programs see them */
}

PLACE_TEST(operators)
{
    assert_prints("cmd /c echo a&echo b", "a\nb\n");
    assert_prints("cmd /c true && echo a", "a\n");
    assert_says("cmd /c false && echo a", 1, "", "");
    assert_prints("cmd /c false || echo a", "a\n");
    assert_prints("cmd /c true || echo a", "");
    assert_prints("cmd /c false & echo a", "a\n");
    assert_prints("cmd /c false && echo a || echo b", "b\n");
    assert_prints("cmd /c (echo a& echo b) | sort -r", "b\na\n");
    assert_prints("cmd /c (true || echo a) && (echo b)", "b\n");
    assert_prints("cmd /c \"echo a && echo b\"", "a \nb\n");
    assert_prints("cmd /c echo \"a & b\"", "\"a & b\"\n"); /* quoted */
    assert_prints("cmd /c echo a\necho b", "a\nb\n");
    assert_says("cmd /c echo a | | echo b", 1, "", "| was unexpected at this time.\n");
    assert_says("cmd /c && echo a", 1, "", "&& was unexpected at this time.\n");
    assert_says("cmd /c (echo a", 1, "", "The syntax of the command is incorrect.\n");
    assert_says("cmd /c echo a >", 1, "", "The syntax of the command is incorrect.\n");
}

PLACE_TEST(exit_codes)
{
    assert_says("cmd /c exit 3", 3, "", "");
    assert_says("cmd /c exit /b 4", 4, "", "");
    assert_says("cmd /c exit", 0, "", "");
    assert_says("cmd /c echo a& exit 5& echo b", 5, "a\n", "");
    assert_says("cmd /c sh -c \"exit 6\"", 6, "", "");
    assert_says("cmd /c sh -c \"exit 6\"& exit", 6, "", ""); /* the last program's */
    assert_says("cmd /c sh -c \"kill -9 $$\"", 137, "", "");
    assert_says("cmd /c cmd /c exit 7", 7, "", "");
    assert_says("cmd /c sh -c \"exit 6\"& call exit /b %ERRORLEVEL%", 0, "", NULL);
    assert_says("cmd /c sh -c \"exit 6\"& call echo %^ERRORLEVEL%", 0, "6\n", NULL);
    assert_says("cmd /c exit -1", 255, "", "");
    assert_says("cmd /c exit 256", 255, "", ""); /* never taken for success */
    assert_says("cmd /c nosuchprogram /x", 1, "",
                "'nosuchprogram' is not recognized as an internal or external command,\n"
                "operable program or batch file.\n");
    assert_says("nosuchprogram", 1, "", NULL);
    assert_says("cmd", 1, "", NULL);
}

PLACE_TEST(conditions)
{
    write_file("here.txt", "", 0644);
    setenv("A", "b", 1);
    assert_prints("cmd /c if exist here.txt echo yes", "yes\n");
    assert_prints("cmd /c if exist HERE.TXT echo yes", "yes\n");
    assert_prints("cmd /c if not exist nowhere.txt echo no", "no\n");
    assert_prints("cmd /c if exist *.txt (echo yes) else (echo no)", "yes\n");
    assert_prints("cmd /c if exist *.doc (echo yes) else (echo no)", "no\n");
    assert_prints("cmd /c if \"%A%\"==\"b\" echo equal", "equal\n");
    assert_prints("cmd /c if %A%==B (echo equal) else echo other", "other\n");
    assert_prints("cmd /c if /i %A%==B echo equal", "equal\n");
    assert_prints("cmd /c if %A% == b echo equal", "equal\n");
    assert_prints(
        "cmd /c if 10 GTR 9 if 9 LSS 10 if 3 GEQ 3 if 2 LEQ 2 if 1 NEQ 2 if 1 EQU 1 echo all",
        "all\n");
    assert_prints("cmd /c if /i abc EQU ABC echo equal", "equal\n");
    assert_prints("cmd /c if defined a echo yes", "yes\n");
    assert_prints("cmd /c if not defined nothing_at_all echo no", "no\n");
    assert_prints("cmd /c false& if errorlevel 1 echo failed", "failed\n");
    assert_prints("cmd /c true& if errorlevel 1 (echo failed) else (echo fine)", "fine\n");
    assert_prints("cmd /c if 1==2 echo a & echo b", ""); /* all of the line belongs to it */
    assert_prints("cmd /c if 1==2 (echo a) else if 2==2 (echo b) else (echo c)", "b\n");
    assert_prints("cmd /c (\nif 1==2 echo a & echo b &\necho c\n)", "c\n");
    assert_prints("cmd /c (\nif 1==2 (echo a) else echo b\necho c\n)", "b\nc\n");
    assert_prints("cmd /c if 1==2 (\nif 1==1 echo a\necho b\n) else echo c\necho d", "c\nd\n");
    assert_says("cmd /c if 1==1", 1, "", "The syntax of the command is incorrect.\n");
    assert_says("cmd /c if 1 FOO 2 echo a", 1, "", "FOO was unexpected at this time.\n");
}

PLACE_TEST(loops)
{
    unsetenv("A");
    write_file("b.dat", "", 0644);
    write_file("a.dat", "", 0644);
    assert_prints("cmd /c for %i in (1 2,3) do echo %i", "1\n2\n3\n");
    assert_prints("cmd /c for %f in (*.dat) do @echo [%f]", "[a.dat]\n[b.dat]\n");
    assert_prints("cmd /c for /l %n in (1,2,5) do (echo %n)", "1\n3\n5\n");
    assert_prints("cmd /c for /L %n in (2,-1,1) do echo %n", "2\n1\n");
    assert_prints("cmd /c for %a in (\"x y\") do echo %~a", "x y\n");
    assert_prints("cmd /c for %a in (1 2) do for %b in (3 4) do echo %a%b", "13\n14\n23\n24\n");
    assert_prints("cmd /c (\nfor %a in (1 2) do if 1==1 echo %a\necho b\n)", "1\n2\nb\n");
    assert_prints("cmd /c md d1 & for /d %d in (d*) do echo %d", "d1\n");
    assert_says("cmd /c for /l %n in (1,0,5) do echo %n", 1, "", "The step of for /l is 0.\n");
    assert_says("cmd /c for %n (1) do echo %n", 1, "", NULL);
}

PLACE_TEST(redirections)
{
    assert_prints("cmd /c echo one> o.txt& echo two>>o.txt& type o.txt", "one\ntwo\n");
    assert_prints("cmd /c echo hidden > nul", "");
    assert_prints("cmd /c type nosuch 2>nul || echo gone", "gone\n");
    assert_says("cmd /c echo x 1>&2", 0, "", "x \n");
    assert_prints("cmd /c (type nosuch 2>&1) | cat",
                  "The system cannot find the file specified.\n");
    assert_prints("cmd /c echo b> in.txt& sort < in.txt", "b\n");
    assert_prints("cmd /c (echo a& echo b)> both.txt& type both.txt", "a\nb\n");
    assert_prints("cmd /c echo 2> two.txt& type two.txt", "ECHO is on.\n");
    assert_prints("cmd /c > \"with space.txt\" echo s& type \"with space.txt\"", "s\n");
    assert_says("cmd /c sort < nosuch", 1, "", "The system cannot find the file specified.\n");
    assert_says("cmd /c echo a > E:\\x", 1, "",
                "The system cannot find the drive specified: E:\\x\n");
}

PLACE_TEST(bounds)
{
    static char line[40000];
    memset(line, 'x', sizeof line - 1);
    memcpy(line, "cmd /c echo ", 12);
    assert_says(line, 1, "", "The command line is too long.\n");
    memset(line, '(', 200);
    memcpy(line, "cmd /c ", 7);
    line[200] = '\0';
    assert_says(line, 1, "", "The command line has too many blocks in one another.\n");
    /* A line that calls itself ends. */
    setenv("SELF", "call %SELF%", 1);
    assert_int_equal(run_windows("cmd /c call %SELF%"), 1);
}
