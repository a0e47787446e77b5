/* SPDX-License-Identifier: MIT */
#include "daemon/cli.h"

int main(int argc, char **argv)
{
    return cli_main(argc, argv);
}
