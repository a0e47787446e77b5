/* SPDX-License-Identifier: MIT
 *
 * The structs of task.h as JSON and back, for both ends of a link and for the records of tasks on
 * the node's disk, so that the names of members are in one place. See PROTOCOL.md. Readers borrow:
 * their text lives as long as the JSON.
 */
#ifndef NODEAGENT_PROTO_WIRE_MESSAGE_H
#define NODEAGENT_PROTO_WIRE_MESSAGE_H

#include <jansson.h>
#include <stdbool.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "nodeagent-proto/wire/task.h"

#define PROTOCOL_VERSION 1
#define TASK_ID_MAX      100
/* The variable of an agent's environment with its owner: the daemon, and the daemon's name for the
 * node. */
#define NODE_OWNER_VARIABLE "BATCHAI_NODE_OWNER"
/* The variable of the agent's environment with the absolute path of batchai-cmd on the node, or
 * with the reason why batchai-cmd is missing there; empty or missing: the site does not use
 * batchai-cmd. */
#define NODE_CMD_VARIABLE "BATCHAI_NODE_CMD"

/* The name of an error on the wire, a static string; "NodeFailure" for errors without a name. The
 * names are part of the protocol and never change, even if lib/ or services rename their kinds of
 * errors. */
const char *wire_code_name(enum err_code code);
/* The error of a name; ERR_NODE for an unknown name. */
enum err_code wire_code_find(const char *name);

/* New references; NULL if a text is not UTF-8. */
json_t *message_task_spec(const struct task_spec *s);
json_t *message_task_status(const struct task_status *s);
json_t *message_facts(const struct node_facts *f);
json_t *message_usage(const struct node_usage *u);
json_t *message_health(const struct node_health *h);
json_t *message_dir_entry(const struct node_dir_entry *en);
json_t *message_epoch(const struct node_epoch *ep);
json_t *message_err(const struct err *e);

/* `env` is allocated in `a`. Checks id and paths, because the agent acts on them. */
int message_task_spec_read(json_t *j, struct arena *a, struct task_spec *out,
                           struct err *e) MUST_CHECK;
int message_task_status_read(json_t *j, struct task_status *out, struct err *e) MUST_CHECK;
/* `gpus` is allocated in `a`, because it is JSON text made from the message. */
int message_facts_read(json_t *j, struct arena *a, struct node_facts *out,
                       struct err *e) MUST_CHECK;
/* Copies the texts of `f` into `a`. */
void message_facts_keep(struct node_facts *f, struct arena *a);
int message_usage_read(json_t *j, struct node_usage *out, struct err *e) MUST_CHECK;
int message_health_read(json_t *j, struct node_health *out, struct err *e) MUST_CHECK;
int message_dir_entry_read(json_t *j, struct node_dir_entry *out, struct err *e) MUST_CHECK;
/* `j` NULL (from a daemon or agent without epochs): the term is 0. */
int message_epoch_read(json_t *j, struct node_epoch *out, struct err *e) MUST_CHECK;
/* Fills `e` from a reply's "error"; an unknown code is ERR_NODE. */
void message_err_read(json_t *j, struct err *e);

/* The kind of a message: with "event" an event, with "op" a request, otherwise a reply. */
enum message_kind { MESSAGE_EVENT, MESSAGE_REQUEST, MESSAGE_REPLY };
enum message_kind message_kind(const json_t *msg);
/* Replies, for either end. New references; message_reply() takes over `body` (an object, or NULL).
 */
json_t *message_reply(json_int_t id, json_t *body);
json_t *message_refusal(json_int_t id, const struct err *e);

/* Whether the id consists of 1 to TASK_ID_MAX characters [A-Za-z0-9_.-]. */
bool task_id_valid(const char *id);

#endif
