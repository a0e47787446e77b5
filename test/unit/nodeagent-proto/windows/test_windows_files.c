/* SPDX-License-Identifier: MIT
 *
 * Files and programs in command lines of Windows: paths, copy and its kin, how programs are found,
 * and what walkthroughs write.
 */
#include <sys/resource.h>

#include "test/unit/nodeagent-proto/windows/windows_test.h"
#include "test/unit/support/tests.h"

static void assert_file(const char *path, const char *text)
{
    FREED char *is = whole_file(path);
    assert_string_equal(is, text);
}

PLACE_TEST(copies)
{
    assert_prints("cmd /c mkdir out\\deep && echo a> a.txt&& copy a.txt out\\deep",
                  "        1 file(s) copied.\n");
    assert_file("out/deep/a.txt", "a\n");
    assert_prints("cmd /c echo b> b.txt& copy /Y a.txt+b.txt ab.txt",
                  "        1 file(s) copied.\n");
    assert_file("ab.txt", "a\nb\n");
    assert_prints("cmd /c copy *.txt out > nul & dir /b out", "a.txt\nab.txt\nb.txt\ndeep\n");
    assert_prints("cmd /c xcopy /s /e /y /i out again", "4 File(s) copied\n");
    assert_file("again/deep/a.txt", "a\n");
    assert_says("cmd /c copy nosuch.txt out", 1, "",
                "The system cannot find the file specified.\n");
    assert_says("cmd /c copy a.txt a.txt", 1, "", "The file cannot be copied onto itself.\n");
    assert_file("a.txt", "a\n");
    assert_says("cmd /c copy a.txt nosuch\\b.txt", 1, "",
                "The system cannot find the path specified.\n");
}

PLACE_TEST(moves_and_removes)
{
    assert_prints("cmd /c md x & echo a>a.txt& move a.txt x> nul& type x\\a.txt", "a\n");
    assert_prints("cmd /c ren x\\a.txt b.txt & dir /b x", "b.txt\n");
    assert_prints("cmd /c del /q x\\*.txt & dir /b x", "");
    assert_says("cmd /c del x\\nosuch.txt", 0, "", "Could Not Find x\\nosuch.txt\n");
    assert_prints("cmd /c rmdir x & if not exist x echo gone", "gone\n");
    assert_prints("cmd /c md p\\q & echo a> p\\q\\r & rd /s /q p & if not exist p echo gone",
                  "gone\n");
    assert_says("cmd /c md p & md p", 1, "", "A subdirectory or file p already exists.\n");
    assert_says("cmd /c echo a> p\\f & rd p", 1, "", "The directory is not empty.\n");
    assert_says("cmd /c dir nosuch", 1, "", "File Not Found\n");
}

PLACE_TEST(folders)
{
    char text[160];
    assert_prints("cmd /c md sub & cd sub & echo a> f& cd .. & type sub\\f", "a\n");
    assert_prints("cmd /c cd /d D:\\batch\\tasks\\wd\\sub && type f", "a\n");
    snprintf(text, sizeof text, "%s/wd/sub\n", place->dir);
    assert_prints("cmd /c cd sub & cd", text);
    assert_prints("cmd /c cd sub & call echo %^CD%", text);
    assert_says("cmd /c cd nosuch", 1, "", "The system cannot find the path specified.\n");
    assert_prints("cmd /c cmd /c cd sub & type sub\\f", "a\n"); /* another cmd's own folder */
}

PLACE_TEST(paths_of_the_service)
{
    assert_prints(
        "cmd /c mkdir D:\\batch\\tasks\\shared & echo s> d:\\BATCH\\tasks\\shared\\Data.txt"
        "& type D:\\batch\\tasks\\SHARED\\data.TXT",
        "s\n");
    assert_file("../shared/Data.txt", "s\n");
    setenv("AZ_BATCH_NODE_SHARED_DIR", "../shared", 1);
    assert_prints("cmd /c type %AZ_BATCH_NODE_SHARED_DIR%\\data.txt", "s\n");
    assert_prints("cat D:\\batch\\tasks\\shared\\data.txt", "s\n"); /* also for programs */
    assert_prints("cmd /c cat %AZ_BATCH_NODE_SHARED_DIR%\\data.txt", "s\n");
    assert_prints("cmd /c echo --in=..\\shared\\data.txt", "--in=..\\shared\\data.txt\n");
    assert_prints("printf %s --in=..\\shared\\data.txt", "--in=../shared/Data.txt");
    assert_prints("printf %s a\\b", "a\\b"); /* no folder a is here: no path */
    assert_says("cmd /c type C:\\nosuch.txt", 1, "",
                "The system cannot find the drive specified: C:\\nosuch.txt\n");
}

PLACE_TEST(words_of_programs)
{
    assert_prints("printf [%s] a \"b c\" d\"e f\"g \"\"", "[a][b c][de fg][]");
    assert_prints("printf [%s] \"say \\\"x\\\"\" a\\\\b \"c\\\\\"", "[say \"x\"][a\\\\b][c\\]");
    assert_prints("printf [%s] \"a\"\"b\"", "[a\"b]");
    assert_prints("printf [%s] %HOME% a&b", "[%HOME%][a&b]"); /* nobody expands without cmd */
}

PLACE_TEST(programs)
{
    assert_int_equal(mkdir("pkg", 0755), 0);
    write_file("pkg/MyApp.exe", "#!/bin/sh\necho app \"$@\"; exit 9\n", 0755);
    setenv("AZ_BATCH_APP_PACKAGE_APP01#1.0", "pkg", 1);
    static const char *const lines[] = {
        "cmd /c %AZ_BATCH_APP_PACKAGE_app01#1.0%\\MyApp.exe 1 \"2 3\"",
        "cmd /c %AZ_BATCH_APP_PACKAGE_app01#1.0%\\\\myapp.exe 1 \"2 3\"",
        "cmd /c %AZ_BATCH_APP_PACKAGE_app01#1.0%\\myapp 1 \"2 3\"",
        "cmd /c \"\"pkg\\myapp.exe\" 1 \"2 3\"\"",
        "cmd /c cd pkg && myapp 1 \"2 3\"", /* the current folder is looked into */
        "pkg\\myapp.exe 1 \"2 3\"",
        "cmd /c start /wait \"title\" pkg\\myapp.exe 1 \"2 3\"",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_says(lines[i], 9, "app 1 2 3\n", "");
    write_file("pkg/plain", "#!/bin/sh\necho plain \"$@\"\n",
               0644); /* of an archive without modes */
    assert_prints("cmd /c pkg\\plain.exe x", "plain x\n");
    write_file("pkg/real.exe", "MZ\x90", 0755);
    assert_says("cmd /c pkg\\real.exe", 193, "",
                "pkg\\real.exe is a program for Windows, which this Linux node cannot run.\n");
    write_file("pkg/text", "text\n", 0644);
    assert_says("cmd /c pkg\\text", 193, "", "pkg\\text is not executable.\n");
    assert_prints("cmd /c set PATH=%PATH%;pkg& plain y", "plain y\n");
    assert_prints("cmd /c set PATH=%PATH%;D:\\batch\\tasks\\wd\\pkg& plain z", "plain z\n");
}

/* Start tasks of the walkthroughs. */
PLACE_TEST(stubs)
{
    write_file("myapp.msi", "msi", 0644);
    assert_says("cmd /c msiexec /i myapp.msi /quiet", 0, "",
                "batchai-cmd: msiexec: nothing is done on a Linux node: myapp.msi\n");
    assert_says("cmd /c msiexec /i nosuch.msi /quiet", 1619 & 0xff, "",
                "This installation package could not be opened: nosuch.msi\n");
    write_file("MSMpiSetup.exe", "MZ", 0644);
    assert_says("cmd /c MSMpiSetup.exe -unattend -force", 0, "",
                "batchai-cmd: MSMpiSetup: nothing is done on a Linux node\n");
    assert_prints("cmd /c ping -n 1 127.0.0.1 > nul && echo woke", "woke\n");
    assert_prints("cmd /c timeout /t 0 /nobreak > nul && echo woke", "woke\n");
    /* The site's own goes first. */
    char dir[96];
    snprintf(dir, sizeof dir, "%s/site", place->dir);
    assert_int_equal(mkdir(dir, 0755), 0);
    write_file("../site/msiexec", "#!/bin/sh\necho site \"$@\"\n", 0755);
    setenv("BATCHAI_WINDOWS_PROGRAMS", dir, 1);
    assert_prints("cmd /c MsiExec.exe /i myapp.msi", "site /i myapp.msi\n");
    unsetenv("BATCHAI_WINDOWS_PROGRAMS");
}

PLACE_TEST(batch_files)
{
    write_file("setup.cmd",
               "@echo off\r\n"
               ":: a comment\r\n"
               "rem another\r\n"
               "echo %~nx0 [%1] [%~2] %* 100%%\r\n"
               "set N=0\r\n"
               ":again\r\n"
               "set /a N+=1\r\n"
               "if %N% LSS 3 goto again\r\n"
               "echo %N%%nothing%\r\n"
               "for %%i in (a b) do (\r\n"
               "  echo %%i\r\n"
               "  if %%i==b echo last\r\n"
               ")\r\n"
               "call :part x y\r\n"
               "echo one^\r\n two\r\n"
               "if exist setup.cmd (exit /b 7) else (exit /b 8)\r\n"
               "echo never\r\n"
               ":part\r\n"
               "echo part %1 %2\r\n"
               "goto :eof\r\n"
               "echo never\r\n",
               0644);
    static const char out[] =
        "setup.cmd [\"p q\"] [r] \"p q\" r 100%\n3\na\nb\nlast\npart x y\none two\n";
    assert_says("cmd /c setup.cmd \"p q\" r", 7, out, "");
    assert_says("cmd /c setup \"p q\" r", 7, out, "");
    assert_says("setup.cmd \"p q\" r", 7, out, ""); /* Windows starts cmd for it */
    write_file("outer.bat", "call setup.cmd 1\necho level %ERRORLEVEL%\ngoto nowhere\necho never\n",
               0644);
    assert_says("cmd /c outer & echo next", 0,
                "setup.cmd [1] [] 1 100%\n3\na\nb\nlast\npart x y\n"
                "one two\nlevel 7\nnext\n",
                "The system cannot find the batch label specified - nowhere\n");
    write_file("own.bat", "@call own.bat", 0644);
    assert_int_equal(run_windows("own.bat"), 1); /* it ends */
    assert_says("cmd /c for /l %i in (1,1,70) do call own.bat\ncall echo x", 0, "x\n", NULL);
}

PLACE_TEST(parentheses_in_batch_files)
{
    write_file("p.bat",
               "rem a ( ^\n"
               ":: another (\n"
               "@rem and ( another\n"
               "echo a (b\n"
               "echo a \"(\" ^(\n"
               "if 1==1 (\n"
               "  rem (\n"
               "  :: (\n"
               "  echo c (d\n"
               "  for %%i in (e \"f\") do (\n"
               "    if %%i==e (echo %%i) else echo (g\n"
               "  )\n"
               ") else (\n"
               "  echo never\n"
               ")\n"
               "if 1==2 (echo never) else echo h (i\n"
               "echo j)\n",
               0644);
    assert_prints("p.bat", "a (b\na \"(\" (\nc (d\ne\n(g\nh (i\nj)\n");
}

/* A sanitizer's own memory is beyond any such limit. */
static void limit_memory(struct rlimit *old)
{
    assert_int_equal(getrlimit(RLIMIT_AS, old), 0);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
    const struct rlimit limit = {256 << 20, old->rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
#endif
}

PLACE_TEST(memory_of_long_loops)
{
    struct rlimit old;
    write_file("empty", "", 0644);
    write_file("poll.bat",
               ":again\nset /a N+=1\nif exist empty type empty\nif %N% LSS 20000 goto again\n"
               "echo %N%\n",
               0644);
    limit_memory(&old);
    assert_prints("poll.bat", "20000\n");
    assert_prints("cmd /c (for /l %i in (1,1,20000) do if exist empty type empty)& echo b", "b\n");
    assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
}
