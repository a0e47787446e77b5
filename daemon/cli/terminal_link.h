/* SPDX-License-Identifier: MIT
 *
 * A client's end of a terminal (lib/terminal_frames.h): a separate TLS connection to the daemon, on
 * which an HTTP upgrade starts the frames. Only terminal_link_open() blocks.
 */
#ifndef DAEMON_CLI_TERMINAL_LINK_H
#define DAEMON_CLI_TERMINAL_LINK_H

#include <jansson.h>
#include <stdbool.h>

#include "daemon/cli/client.h"
#include "lib/terminal_frames.h"

struct terminal_link;

/* `path`: the path of the job's terminal; `ask`: the body of the request. If the daemon refuses,
 * the error contains the daemon's message. */
int terminal_link_open(struct daemon_client *c, const char *path, const json_t *ask,
                       struct terminal_link **out, struct err *e) MUST_CHECK;
void terminal_link_close(struct terminal_link *l); /* NULL: nothing */

/* The descriptor and the events for poll(). */
int terminal_link_fd(const struct terminal_link *l);
short terminal_link_events(const struct terminal_link *l);

void terminal_link_send(struct terminal_link *l, enum terminal_frame_kind kind, const void *bytes,
                        size_t n);
/* Sends as many waiting bytes as the connection takes now. */
int terminal_link_flush(struct terminal_link *l, struct err *e) MUST_CHECK;
size_t terminal_link_waiting(const struct terminal_link *l);
/* 1: *out is the next frame; 0: no whole frame was received yet; -1: the connection has ended. */
int terminal_link_next(struct terminal_link *l, struct terminal_frame *out,
                       struct err *e) MUST_CHECK;

#endif
