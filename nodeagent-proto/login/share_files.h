/* SPDX-License-Identifier: MIT
 *
 * Shared by share_server*.c and share_serve.c.
 */
#ifndef NODEAGENT_PROTO_LOGIN_SHARE_FILES_H
#define NODEAGENT_PROTO_LOGIN_SHARE_FILES_H

/* OpenSSH's sftp-server of this machine; NULL: it is not installed. Static. */
const char *share_sftp_server(void);

#endif
