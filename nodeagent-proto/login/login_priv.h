/* SPDX-License-Identifier: MIT
 *
 * Shared by login.c (the listener and its sessions), login_files.c (the files that sshd reads) and
 * share_server_sshd.c (the sshd of the share server reads such files as well).
 */
#ifndef NODEAGENT_PROTO_LOGIN_LOGIN_PRIV_H
#define NODEAGENT_PROTO_LOGIN_LOGIN_PRIV_H

#include "lib/err.h"
#include "lib/strbuf.h"

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

/* The steps of login_files_write(), for share_server_sshd.c. */
int login_make_empty_folder(struct err *e) MUST_CHECK;
int login_make_host_key(const struct login_files *f, struct err *e) MUST_CHECK;
int login_write_accounts(const struct login_files *f, struct err *e) MUST_CHECK;
/* Writes a file of mode 0600 in `dir`; an existing file is replaced. */
int login_write_in(const char *dir, const char *name, const struct strbuf *text,
                   struct err *e) MUST_CHECK;

#endif
