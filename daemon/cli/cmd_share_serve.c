/* SPDX-License-Identifier: MIT
 *
 * `batchaid share-serve KEY-FILE`: the command that sshd runs for the key of a machine. With `--try
 * ACCOUNT` it tries whether this machine can confine the command. The help does not list it,
 * because people do not need it. It ends with _exit(2), because functions that run at exit(3) would
 * look for files that do not exist in the new root.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/cli/cli.h"
#include "nodeagent-proto/login/share_serve.h"

int cmd_share_serve(int argc, char **argv)
{
    struct err e = {0};
    if (argc == 4 && strcmp(argv[2], "--try") == 0) {
        if (share_serve_try((unsigned)strtoul(argv[3], NULL, 10), &e) == 0)
            _exit(EXIT_DONE);
    } else if (argc != 3) {
        fprintf(stderr, "batchaid: %s is for sshd; it takes the file of a key\n", argv[1]);
        return EXIT_USAGE;
    } else {
        (void)!share_serve(argv[2], &e); /* it only returns after an error */
    }
    fprintf(stderr, "batchaid: %s\n", e.msg);
    _exit(EXIT_FAILED);
}
