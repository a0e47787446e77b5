/* SPDX-License-Identifier: MIT
 *
 * The known_hosts file: the host keys of machines. All functions wait for the file system, so they
 * are for workers; they do not use links.
 */
#ifndef NODEAGENT_PROTO_LINK_SSH_KNOWN_HOSTS_H
#define NODEAGENT_PROTO_LINK_SSH_KNOWN_HOSTS_H

#include <libssh2.h>
#include <stdbool.h>
#include <stddef.h>

#define FINGERPRINT_LEN 64

enum known_verdict {
    KNOWN_MATCH,
    KNOWN_NEW,     /* nothing is recorded about the machine, or no key was given */
    KNOWN_CHANGED, /* another key is recorded */
    KNOWN_FAILED   /* the file could not be read or written; see `cause` */
};

struct known_hosts {
    /* The question; texts and key are borrowed. */
    const char *path;
    const char *name; /* "host", or "[host]:port" if the port is not 22 */
    const char *key;  /* the machine's key; NULL: not known yet */
    size_t n_key;
    int type;    /* libssh2's LIBSSH2_HOSTKEY_TYPE_... */
    bool record; /* append the key of a machine that is not in the file */

    /* The result. */
    enum known_verdict verdict;
    bool recorded; /* this call has appended the key to the file */
    char shown[FINGERPRINT_LEN], old[FINGERPRINT_LEN];
    char *types;        /* types of the machine's recorded keys, each followed by a comma; owned */
    char cause[512];    /* the reason of KNOWN_FAILED */
    const char *remedy; /* static text; NULL: none */
};

void known_hosts_look(struct known_hosts *k);

#endif
