/* SPDX-License-Identifier: MIT
 *
 * Reports start and stop to the service manager (systemd Type=notify): a datagram to
 * $NOTIFY_SOCKET.
 */
#ifndef DAEMON_SERVE_NOTIFY_H
#define DAEMON_SERVE_NOTIFY_H

/* "READY=1" or "STOPPING=1". Does nothing without $NOTIFY_SOCKET; a failure is ignored. */
void notify_manager(const char *state);

#endif
