/* SPDX-License-Identifier: MIT
 *
 * Replacements for the Windows programs with which published walkthroughs set up nodes. They have
 * nothing to do on a Linux node, where the site has installed the programs that jobs need. They
 * print a notice, and succeed if the real programs would.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent-proto/windows/windows_priv.h"

static int note(const char *program, const char *what)
{
    complain("batchai-cmd: %s: nothing is done on a Linux node%s%s", program, *what ? ": " : "",
             what);
    return 0;
}

/* msiexec /i PACKAGE: checks only that the package exists. The real program exits with 1619 if it
 * does not. */
static int msiexec(struct shell *sh, const char *rest)
{
    enum { PACKAGE_OPEN_FAILED = 1619 };
    char **words = words_split(sh->arena, rest);
    for (size_t i = 0; words[i]; i++) {
        bool install = same_name(words[i], "/i") == 0 || same_name(words[i], "/package") == 0;
        if (!install || !words[i + 1])
            continue;
        const char *path = path_of(sh, words[i + 1]);
        if (path && access(path, R_OK) == 0)
            return note("msiexec", words[i + 1]);
        complain("This installation package could not be opened: %s", words[i + 1]);
        return PACKAGE_OPEN_FAILED;
    }
    return note("msiexec", "");
}

static int msmpi_setup(struct shell *sh, const char *rest)
{
    (void)sh;
    (void)rest;
    return note("MSMpiSetup", "");
}

/* ping [-n COUNT] HOST: batch files use it to wait, a second between two packets. Nothing is
 * sent. */
static int ping(struct shell *sh, const char *rest)
{
    enum { USUAL = 4 };
    char **words = words_split(sh->arena, rest);
    long count = USUAL;
    for (size_t i = 0; words[i] && words[i + 1]; i++)
        if (same_name(words[i], "-n") == 0 || same_name(words[i], "/n") == 0)
            count = strtol(words[i + 1], NULL, 10);
    fflush(stdout);
    if (count > 1)
        sleep((unsigned)(count - 1));
    return 0;
}

builtin_fn stub_named(const char *name)
{
    static const struct {
        const char *name;
        builtin_fn run;
    } all[] = {{"msiexec", msiexec}, {"msmpisetup", msmpi_setup}, {"ping", ping}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (same_name(name, all[i].name) == 0)
            return all[i].run;
    return NULL;
}
