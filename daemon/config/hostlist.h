/* SPDX-License-Identifier: MIT
 *
 * Lists of machines in the short form of pdsh and Slurm:
 *
 *   gpu[01-16,20].rack[1-2],login,10.0.0.[1-4]:2222,fd00::1,[fd00::2]:2222
 *
 * Commas separate machines. Brackets contain numbers and ranges of numbers; leading zeros of
 * numbers are kept; the first bracket varies slowest. Each result is a host name or address that is
 * safe in a command line, and a port.
 */
#ifndef DAEMON_CONFIG_HOSTLIST_H
#define DAEMON_CONFIG_HOSTLIST_H

#include <stddef.h>

#include "lib/err.h"

#define HOSTLIST_MAX  10000
#define HOSTLIST_PORT 22

struct host {
    char *name; /* the name in messages: HOST, or HOST:PORT, [V6]:PORT if the port is not 22 */
    char *host; /* the name or address to connect to */
    int port;
};

/* The caller zeroes it first, and frees it with hostlist_free(). */
struct hostlist {
    struct host *items;
    size_t n;
};

/* Adds the machines of `text`. ERR_CONFIG: an invalid name or range, no machine, or more than
 * HOSTLIST_MAX machines in the list; machines that were added before the error stay in the list. */
int hostlist_add(struct hostlist *l, const char *text, struct err *e) MUST_CHECK;
void hostlist_free(struct hostlist *l);

#endif
