/* SPDX-License-Identifier: MIT
 *
 * The word to the service manager (systemd Type=notify): a datagram to $NOTIFY_SOCKET.
 */
#ifndef DAEMON_NOTIFY_H
#define DAEMON_NOTIFY_H

/* "READY=1" or "STOPPING=1". Does nothing without $NOTIFY_SOCKET; a failure is nobody's problem. */
void notify_manager(const char *state);

#endif
