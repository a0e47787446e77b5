/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of requests (ops*.c): reading members, and carrying out a request.
 */
#ifndef NODEAGENT_PROTO_AGENT_OPS_PRIV_H
#define NODEAGENT_PROTO_AGENT_OPS_PRIV_H

#include <jansson.h>
#include <stdint.h>

#include "nodeagent-proto/agent/agent.h"

enum outcome { SERVE_FAILED = -1, SERVE_DONE = 0, SERVE_ANSWERED = 1 /* or will be */ };

/* Carries out `req` and adds its results to `reply`, which is sent if it is done. */
typedef enum outcome (*serve_fn)(struct agent *a, json_t *req, json_t *reply, struct err *e);

/* ---- requests.c ---- */

/* Answers `req` with the result of fn. */
void ops_serve_by(struct agent *a, json_t *req, serve_fn fn);
void ops_refuse(struct agent *a, json_int_t id, const struct err *e);

int get_text(json_t *req, const char *name, const char **out, struct err *e) MUST_CHECK;
/* An absolute path. */
int get_path(json_t *req, const char *name, const char **out, struct err *e) MUST_CHECK;
int get_int(json_t *req, const char *name, int *out, struct err *e) MUST_CHECK;
int get_int64(json_t *req, const char *name, int64_t *out, struct err *e) MUST_CHECK;
enum outcome outcome(int rc);

enum outcome serve_mount_folder(struct agent *a, json_t *req, json_t *reply, struct err *e);
enum outcome serve_open_folder(struct agent *a, json_t *req, json_t *reply, struct err *e);
enum outcome serve_unmount(struct agent *a, json_t *req, json_t *reply, struct err *e);
enum outcome serve_make_dirs(struct agent *a, json_t *req, json_t *reply, struct err *e);
enum outcome serve_remove_tree(struct agent *a, json_t *req, json_t *reply, struct err *e);
enum outcome serve_drop_unlinked(struct agent *a, json_t *req, json_t *reply, struct err *e);
enum outcome serve_append(struct agent *a, json_t *req, json_t *reply, struct err *e);
enum outcome serve_write_file(struct agent *a, json_t *req, json_t *reply, struct err *e);
enum outcome serve_list_dir(struct agent *a, json_t *req, json_t *reply, struct err *e);
enum outcome serve_write_bytes(struct agent *a, json_t *req, json_t *reply, struct err *e);
enum outcome serve_unpack(struct agent *a, json_t *req, json_t *reply, struct err *e);
enum outcome serve_read_file(struct agent *a, json_t *req, json_t *reply, struct err *e);

enum outcome serve_remote_open(struct agent *a, json_t *req, json_t *reply, struct err *e);
enum outcome serve_remote_close(struct agent *a, json_t *req, json_t *reply, struct err *e);

enum outcome serve_usage(struct agent *a, json_t *req, json_t *reply, struct err *e);
enum outcome serve_health(struct agent *a, json_t *req, json_t *reply, struct err *e);
enum outcome serve_user_add(struct agent *a, json_t *req, json_t *reply, struct err *e);
enum outcome serve_account_take(struct agent *a, json_t *req, json_t *reply, struct err *e);
enum outcome serve_account_key(struct agent *a, json_t *req, json_t *reply, struct err *e);
enum outcome serve_account_release(struct agent *a, json_t *req, json_t *reply, struct err *e);
/* In a worker or helper: releases those whose names the request has. */
enum outcome account_release(struct agent *a, json_t *req, json_t *reply, struct err *e);
enum outcome serve_user_remove(struct agent *a, json_t *req, json_t *reply, struct err *e);
enum outcome serve_clean(struct agent *a, json_t *req, json_t *reply, struct err *e);
enum outcome serve_remove_root(struct agent *a, json_t *req, json_t *reply, struct err *e);
enum outcome serve_reboot(struct agent *a, json_t *req, json_t *reply, struct err *e);

#endif
