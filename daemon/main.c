/* SPDX-License-Identifier: MIT
 *
 * The program batchaid: it calls cli.c, which runs the commands.
 */
#include <fcntl.h>
#include <unistd.h>

#include "daemon/cli/cli.h"
#include "daemon/cli/commands.h"

/* Opens standard descriptors that are closed. Otherwise opened files would get their numbers, and
 * printed text would be written into these files. */
static void occupy_standard_descriptors(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    occupy_standard_descriptors();
    return cli_main(&all_commands, argc, argv);
}
