/* SPDX-License-Identifier: MIT
 *
 * batchai-node: the program on a node. A link starts it as `batchai-node agent`; people need
 * `version` at most.
 */
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/version.h"
#include "nodeagent-proto/agent/agent.h"
#include "nodeagent-proto/agent/ssh.h"

static const char usage[] =
    "usage: batchai-node agent --root DIR   serve a batchaid daemon on stdin and stdout\n"
    "       batchai-node look --root DIR    the same, making nothing: prints how the node is\n"
    "       batchai-node ssh HOST COMMAND   inside a job: runs it on another node of the job\n"
    "       batchai-node version\n"
    "       batchai-node help\n";

/* Messages contain the secrets of jobs, so memory is overwritten before it is freed. Each block's
 * size is stored in a header in front of the block, which keeps the block aligned for any type. */
#define BLOCK_HEADER sizeof(max_align_t)

static void *wiping_malloc(size_t size)
{
    char *p = xcalloc(1, BLOCK_HEADER + size);
    memcpy(p, &size, sizeof size);
    return p + BLOCK_HEADER;
}

static void wiping_free(void *block)
{
    if (!block)
        return;
    char *p = (char *)block - BLOCK_HEADER;
    size_t size;
    memcpy(&size, p, sizeof size);
    explicit_bzero(p, BLOCK_HEADER + size);
    free(p);
}

static int run_agent(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[2], "--root") == 0 && argv[3][0] == '/')
        return agent_run(argv[3], strcmp(argv[1], "look") == 0);
    fprintf(stderr, "batchai-node %s needs --root and an absolute directory\n%s", argv[1], usage);
    return 2;
}

static int run_ssh(int argc, char **argv)
{
    (void)argc;
    return ssh_main(argv + 1);
}

static int run_remote(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return remote_far_main();
}

static int print_version(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    puts("batchai-node " BATCHAID_VERSION);
    return 0;
}

static int print_help(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    fputs(usage, stdout);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } commands[] = {{"agent", run_agent},       {"look", run_agent},
                    {"ssh", run_ssh},           {"remote", run_remote},
                    {"version", print_version}, {"--version", print_version},
                    {"help", print_help},       {"--help", print_help}};
    json_set_alloc_funcs(wiping_malloc, wiping_free);
    const char *name = argc > 0 ? strrchr(argv[0], '/') : NULL;
    /* ROOT/ssh/bin contains a link "ssh" to this program */
    if (argc > 0 && strcmp(name ? name + 1 : argv[0], "ssh") == 0)
        return ssh_main(argv);
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc, argv);
    fputs(usage, stderr);
    return 2;
}
