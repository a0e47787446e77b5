/* SPDX-License-Identifier: MIT
 *
 * Requests as values (requests.h) and as messages, by rows that are generated from requests.txt:
 * the daemon's end packs them, the agent's end reads and checks them. No other code names a member.
 */
#ifndef NODEAGENT_PROTO_WIRE_REQUEST_H
#define NODEAGENT_PROTO_WIRE_REQUEST_H

#include <jansson.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "nodeagent-proto/wire/requests.h"

#define REQUEST_READ_MAX (1024 * 1024) /* the most bytes of a file in one reply */
#define REQUEST_MODE_MAX 07777
/* the highest user or group id that Azure Batch gives, and that most programs can read */
#define REQUEST_ID_MAX INT32_MAX

enum member_kind {
    MEMBER_TEXT,
    MEMBER_PATH,
    MEMBER_JOB,
    MEMBER_INT,
    MEMBER_NUMBER,
    MEMBER_MODE,
    MEMBER_START,
    MEMBER_BOOL,
    MEMBER_PATHS,
    MEMBER_BASE64,
    MEMBER_IDS,
    MEMBER_RANGE,
    MEMBER_PART,
    MEMBER_VERSION,
    MEMBER_EPOCH,
    MEMBER_TASK,
    N_MEMBER_KINDS
};

/* The reply's content in addition to `ok`. */
enum answer_kind {
    ANSWER_NOTHING,
    ANSWER_FACTS,
    ANSWER_STATUS,
    ANSWER_STATUSES,
    ANSWER_ENTRIES,
    ANSWER_TEXTS,
    ANSWER_HEALTH,
    ANSWER_USAGE,
    ANSWER_SAMPLE,
    ANSWER_BYTES,
    N_ANSWER_KINDS
};

struct request_member {
    const char *name, *second; /* second: the second name of a pair */
    enum member_kind kind;
    bool optional;
    size_t at, also; /* offsets in struct node_request: of the value, and of the second value or the
                        count */
};

struct request_form {
    const char *name;
    bool looks; /* the request changes nothing, and is served for an outdated daemon too */
    /* When a request is carried out while a worker still handles an earlier one: IN_ORDER waits for
     * the worker; BY_TASK waits if the start of its task waits. */
    enum { REQUEST_IN_ORDER, REQUEST_ANY_TIME, REQUEST_BY_TASK } when;
    bool beside; /* later requests do not wait for this one */
    enum answer_kind answer;
    const char *answer_name; /* the member of the reply; NULL: none */
    const struct request_member *members;
    size_t n_members;
};

const struct request_form *request_form(enum request_op op);
/* False: there is no request of this name. */
bool request_find(const char *name, enum request_op *out);

/* A new reference; NULL: a text is not UTF-8, or missing. */
json_t *request_pack(const struct node_request *r);
/* Reads the members of a message whose `op` is out->op. Missing or wrong members are refused. */
int request_read(json_t *msg, struct arena *a, struct node_request *out, struct err *e) MUST_CHECK;

#endif
