/* SPDX-License-Identifier: MIT
 *
 * libssh2, loaded at the first link over SSH: it needs OpenSSL's libcrypto, which a daemon without
 * machines does not use. The members of the table have the names of the functions, so that
 * libssh2's macros work here too: lib->libssh2_channel_read(...).
 */
#ifndef NODEAGENT_PROTO_LINK_SSH_FUNCTIONS_H
#define NODEAGENT_PROTO_LINK_SSH_FUNCTIONS_H

#include <libssh2.h>

#include "lib/library.h"

/* libssh2 1.11.1 has a new name for the function that sets callbacks, and calls the old name
 * deprecated. */
#if LIBSSH2_VERSION_NUM >= 0x010b01
#define SSH2_CALLBACK_SET libssh2_session_callback_set2
#else
#define SSH2_CALLBACK_SET libssh2_session_callback_set
#endif

#define SSH2_FUNCTIONS(X)                                                                          \
    X(libssh2_agent_connect)                                                                       \
    X(libssh2_agent_disconnect)                                                                    \
    X(libssh2_agent_free)                                                                          \
    X(libssh2_agent_get_identity)                                                                  \
    X(libssh2_agent_init)                                                                          \
    X(libssh2_agent_list_identities)                                                               \
    X(libssh2_agent_set_identity_path)                                                             \
    X(libssh2_agent_userauth)                                                                      \
    X(libssh2_channel_close)                                                                       \
    X(libssh2_channel_eof)                                                                         \
    X(libssh2_channel_free)                                                                        \
    X(libssh2_channel_get_exit_signal)                                                             \
    X(libssh2_channel_get_exit_status)                                                             \
    X(libssh2_channel_open_ex)                                                                     \
    X(libssh2_channel_process_startup)                                                             \
    X(libssh2_channel_read_ex)                                                                     \
    X(libssh2_channel_send_eof)                                                                    \
    X(libssh2_channel_wait_closed)                                                                 \
    X(libssh2_channel_write_ex)                                                                    \
    X(libssh2_exit)                                                                                \
    X(libssh2_free)                                                                                \
    X(libssh2_init)                                                                                \
    X(libssh2_keepalive_config)                                                                    \
    X(libssh2_keepalive_send)                                                                      \
    X(libssh2_knownhost_checkp)                                                                    \
    X(libssh2_knownhost_free)                                                                      \
    X(libssh2_knownhost_get)                                                                       \
    X(libssh2_knownhost_init)                                                                      \
    X(libssh2_knownhost_readfile)                                                                  \
    X(SSH2_CALLBACK_SET)                                                                           \
    X(libssh2_session_free)                                                                        \
    X(libssh2_session_handshake)                                                                   \
    X(libssh2_session_hostkey)                                                                     \
    X(libssh2_session_init_ex)                                                                     \
    X(libssh2_session_last_errno)                                                                  \
    X(libssh2_session_last_error)                                                                  \
    X(libssh2_session_method_pref)                                                                 \
    X(libssh2_session_set_blocking)                                                                \
    X(libssh2_userauth_authenticated)                                                              \
    X(libssh2_userauth_list)                                                                       \
    X(libssh2_userauth_password_ex)                                                                \
    X(libssh2_userauth_publickey_frommemory)

struct ssh2_functions {
    SSH2_FUNCTIONS(LIBRARY_MEMBER)
};

#endif
