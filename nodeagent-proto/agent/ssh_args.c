/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "nodeagent-proto/agent/ssh.h"

/* OpenSSH's options, by their treatment here. */
static const char ignored[] = "1246AaCGgKkMqTtVvXxYy", with_value[] = "BbcEeFIiJlmOoPpS",
                  refused[] = "DLQRWwN";

/* Reads one word of options: "-tt", "-p22", "-oX=Y", "-l". Returns how many of the next words
 * belong to it, or -1. */
static int read_option(const char *word, struct ssh_args *out, const char **why)
{
    for (const char *c = word + 1; *c; c++) {
        if (strchr(with_value, *c))
            return c[1] ? 0 : 1;
        if (*c == 'n')
            out->no_input = true;
        else if (*c == 's')
            out->subsystem = true;
        else if (*c == 'f')
            out->background = out->no_input = true;
        else if (strchr(refused, *c)) {
            *why =
                "it has no tunnels: the options -D, -L, -N, -Q, -R, -W and -w are not known here";
            return -1;
        } else if (!strchr(ignored, *c)) {
            *why = "it does not know this option";
            return -1;
        }
    }
    return 0;
}

static char *const *read_options(char *const *argv, struct ssh_args *out, const char **why)
{
    while (*argv && (*argv)[0] == '-' && (*argv)[1]) {
        if (strcmp(*argv, "--") == 0)
            return argv + 1;
        int more = read_option(*argv++, out, why);
        if (more < 0)
            return NULL;
        if (more > 0 && !*argv) {
            *why = "an option has no value";
            return NULL;
        }
        argv += more;
    }
    return argv;
}

/* The host of USER@HOST or ssh://USER@HOST: the user does not matter, because the command runs as
 * the job's account. */
static const char *bare_host(const char *host)
{
    static const char scheme[] = "ssh://";
    if (strncmp(host, scheme, sizeof scheme - 1) == 0)
        host += sizeof scheme - 1;
    const char *at = strrchr(host, '@');
    return at ? at + 1 : host;
}

bool ssh_read_args(char *const *argv, struct ssh_args *out, const char **why)
{
    *out = (struct ssh_args){.host = NULL};
    argv = read_options(argv, out, why);
    if (!argv)
        return false;
    if (!*argv || !*bare_host(*argv)) {
        *why = "usage: ssh [OPTION...] HOST [COMMAND...]";
        return false;
    }
    out->host = bare_host(*argv);
    /* OpenSSH takes options behind the host too. */
    out->command = read_options(argv + 1, out, why);
    return out->command != NULL;
}
