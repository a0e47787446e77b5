/* SPDX-License-Identifier: MIT
 *
 * The command of a session that a machine's key opens: this process confines itself to the folders
 * of the key and becomes OpenSSH's sftp-server. The share server (share_server.h) has written the
 * key's file before.
 *
 * A mount namespace shows nothing but the folders (below its directory FOLDERS, where the session
 * begins), sftp-server and its libraries; without root it needs a user namespace. Landlock forbids
 * access to everything else as well. Where no namespace can be made, Landlock alone confines the
 * process. Landlock does not cover chmod and similar calls, so without a namespace and without
 * root, sftp-server is told to refuse them. As root, the process also changes to an account that
 * owns nothing.
 */
#ifndef NODEAGENT_PROTO_LOGIN_SHARE_SERVE_H
#define NODEAGENT_PROTO_LOGIN_SHARE_SERVE_H

#include "lib/err.h"

/* A key's file. Its lines: "key LINE" (of authorized_keys), "storage DIRECTORY", "account NUMBER"
 * (0: none), and "folder PATH", relative to the storage directory, for each folder. */
#define SHARE_KEY     "key "
#define SHARE_STORAGE "storage "
#define SHARE_ACCOUNT "account "
#define SHARE_FOLDER  "folder "

/* Returns only if it fails. */
int share_serve(const char *key_file, struct err *e) MUST_CHECK;
/* Confines this process like share_serve(), but to no folder at all, as a trial. `account`: NUMBER
 * of SHARE_ACCOUNT. */
int share_serve_try(unsigned account, struct err *e) MUST_CHECK;

#endif
