/* SPDX-License-Identifier: MIT
 *
 * batchai-cmd: runs a command line of Windows on a Linux node. The agent starts it for tasks of
 * pools with an image of Windows; people may use it to try command lines.
 */
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "lib/version.h"
#include "nodeagent-proto/windows/windows.h"

static const char usage[] =
    "usage: batchai-cmd LINE   runs a command line of Windows: cmd /c ..., or a program\n"
    "       batchai-cmd --version | --help\n";

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs(usage, stderr);
        return 2;
    }
    if (strcmp(argv[1], "--version") == 0)
        return puts("batchai-cmd " BATCHAID_VERSION) < 0;
    if (strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    /* the agent executes this program by a descriptor, whose number would be the name of the
     * process */
    prctl(PR_SET_NAME, "batchai-cmd");
    return windows_run(argv[1]);
}
