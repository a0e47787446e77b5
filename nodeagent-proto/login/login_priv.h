/* SPDX-License-Identifier: MIT
 *
 * Shared by login.c (the listener and its sessions) and login_files.c (the files that sshd reads).
 */
#ifndef NODEAGENT_PROTO_LOGIN_LOGIN_PRIV_H
#define NODEAGENT_PROTO_LOGIN_LOGIN_PRIV_H

#include "lib/err.h"

/* The paths on Debian and its derivatives. */
#define SSHD_PATH      "/usr/sbin/sshd"
#define SSHD_EMPTY_DIR "/run/sshd"

struct login_files {
    char *dir, *name, *key, *password, *home;
};

/* Writes host key, sshd_config, authorized_keys and the passwd and group files of libnss-wrapper
 * into dir. Blocks, so call it on another thread. Existing files are rewritten, except the host
 * key. */
int login_files_write(const struct login_files *f, struct err *e) MUST_CHECK;

#endif
