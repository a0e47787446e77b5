/* SPDX-License-Identifier: MIT
 *
 * The daemon's side of a node: a link that carries requests to the node's agent (batchai-node) and
 * brings back replies and events. PROTOCOL.md describes the messages; the agent and the supervisors
 * of tasks are in agent/. Data flows: scheduler -> node_*() -> link -> agent -> supervisor, and
 * back through the callbacks given to node_open_*().
 *
 * Everything is asynchronous on the loop; no call blocks. Requests are carried out in order and
 * each is answered exactly once, with an error if the link goes down or is closed first. The answer
 * to node_run() may be overtaken by answers to later requests; listing, reading, unmounting and
 * requests about accounts run beside the others: wait for their answer where that matters. No
 * callback runs inside the call that made the request, unless the link is already being closed.
 * Structures passed to callbacks are borrowed for the call. All paths are the node's. The process
 * must ignore SIGPIPE, because an agent may end during a write.
 *
 * Requests are idempotent, so that after a restart the daemon just repeats them: node_run() with an
 * id that the node already knows starts nothing and answers with that task's status.
 */
#ifndef NODEAGENT_PROTO_LINK_NODE_H
#define NODEAGENT_PROTO_LINK_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "nodeagent-proto/link/agents.h"
#include "nodeagent-proto/wire/facts.h"
#include "nodeagent-proto/wire/remote.h"
#include "nodeagent-proto/wire/requests.h"
#include "nodeagent-proto/wire/task.h"
#include "storage/folders/files.h"

struct node_link;

/* The steps on the way to a machine. A local link has only the last one. */
enum node_step {
    NODE_STEP_NAME,      /* the name is looked up */
    NODE_STEP_CONNECT,   /* TCP */
    NODE_STEP_HANDSHAKE, /* SSH */
    NODE_STEP_HOST_KEY,
    NODE_STEP_LOGIN,
    NODE_STEP_MACHINE, /* a shell command finds out what the machine is */
    NODE_STEP_UPLOAD,  /* the agent is put there */
    NODE_STEP_START,   /* by the `become` command */
    NODE_STEP_AGENT,   /* hello and all later messages */
    NODE_STEPS
};

struct node_callbacks {
    void (*ready)(void *ctx, const struct node_facts *facts); /* hello was answered */
    /* The link is gone and all pending requests were answered with an error; it must be closed. */
    void (*down)(void *ctx, const struct err *why);
    void (*task_ended)(void *ctx, const struct task_status *status);
    void (*remote)(void *ctx, const struct remote_msg *m); /* of a job on the node */
    void *ctx;                                             /* borrowed; outlives the link */
};

struct node_local_config {
    struct loop *loop;       /* borrowed; one of libuv's (lib/loop_uv.h) */
    const struct log *log;   /* borrowed */
    struct files *files;     /* borrowed: its workers look at the files that a link needs */
    const char *agent_path;  /* the batchai-node binary */
    const char *cmd_path;    /* the batchai-cmd binary; NULL: tasks that need it fail */
    const char *root;        /* node root directory; made if missing */
    struct node_epoch epoch; /* sent in hello; borrowed while the link is opened */
    int dead_ms; /* without a byte from the agent for this long, although it was asked, the link is
                  * down; 0: 30 s
                  */
    struct node_callbacks callbacks;
};

/* Starts the agent as a child process over a socketpair. `ready` or `down` follows. An agent that
 * an earlier daemon left on this root is ended. */
int node_open_local(const struct node_local_config *c, struct node_link **out,
                    struct err *e) MUST_CHECK;

/* A machine that runs sshd. Nothing has to be installed there: the agent for its `uname -m` is put
 * into agent_dir, once per content, and started over the login. All texts are copied. */
struct node_ssh_config {
    struct loop *loop;        /* borrowed; one of libuv's (lib/loop_uv.h) */
    const struct log *log;    /* borrowed */
    struct files *files;      /* borrowed: its workers read and write the files named here */
    const char *host;         /* name, IPv4 or IPv6 literal */
    int port;                 /* 0: 22 */
    const char *user;         /* to log in as */
    const char *identity;     /* private key file (ed25519), or NULL */
    const char *passphrase;   /* of that file, or NULL */
    const char *agent_socket; /* an ssh-agent's socket, or NULL */
    const char *password;     /* or NULL; methods are tried in this order */
    const char *known_hosts;  /* the daemon's own file; made if missing */
    bool strict;              /* refuse a host that is not in it, rather than record its key */
    const char *become;       /* put before the agent's command ("sudo -n"), or NULL */
    const struct node_agents *agents; /* borrowed until the link is closed */
    const char *agent_dir; /* on the machine, absolute or ~/...; NULL: ~/.cache/batchai-node */
    const char *root;      /* node root directory on the machine; made if missing */
    /* Look only: no host key is recorded, nothing is made below root, and another agent that serves
     * it is not disturbed. Only node_health() is answered, with an error if root could not be used.
     * The agent's program is put into agent_dir all the same. */
    bool look;
    /* For programs that are not the daemon: an agent that serves root is left alone, even if it
     * works for the owner of this known_hosts; the link fails then. */
    bool yields;
    struct node_epoch epoch; /* sent in hello; borrowed while the link is opened */
    int connect_ms;          /* name and TCP; each of these: 0 is a default */
    int login_ms;            /* each of handshake, host key and login */
    int command_ms;          /* each command that prepares the machine; an upload: its stalling */
    int keepalive_s;         /* how often the machine is asked whether it is still there */
    int dead_ms;             /* without a byte from it: the link is down */
    struct node_callbacks callbacks;
};

/* Starts connecting; `ready` or `down` follows. Every failure says machine, step, cause and what
 * to do. Whether and when to try again is the caller's. */
int node_open_ssh(const struct node_ssh_config *c, struct node_link **out,
                  struct err *e) MUST_CHECK;

/* Ends the link; tasks go on under their supervisors. Requests still pending are answered with an
 * error before node_close() returns; after that only `closed` runs, once everything is released. */
void node_close(struct node_link *link, void (*closed)(void *ctx), void *ctx);

/* The step that the link has reached; if it is down, the step that failed. */
enum node_step node_link_step(const struct node_link *link);
/* Whether the agent has answered, and the link is not down. */
bool node_link_is_ready(const struct node_link *link);
/* Whether the machine's host key was not in known_hosts before this link. */
bool node_link_is_new_host(const struct node_link *link);

/* Callbacks for replies: `why` is NULL on success. All arguments are borrowed for the call. */
typedef void (*node_done_cb)(void *ctx, const struct err *why);
typedef void (*node_task_cb)(void *ctx, const struct err *why, const struct task_status *status);
typedef void (*node_tasks_cb)(void *ctx, const struct err *why, const struct task_status *list,
                              size_t n);
typedef void (*node_usage_cb)(void *ctx, const struct err *why, const struct node_usage *usage);
typedef void (*node_health_cb)(void *ctx, const struct err *why, const struct node_health *health);
typedef void (*node_dir_cb)(void *ctx, const struct err *why, const struct node_dir_entry *list,
                            size_t n);
typedef void (*node_texts_cb)(void *ctx, const struct err *why, const char *const *list, size_t n);
struct node_bytes {
    const char *bytes;
    size_t n;
    int64_t size, mtime_us; /* of the whole file */
};
typedef void (*node_bytes_cb)(void *ctx, const struct err *why, const struct node_bytes *got);

/* Asks for what is answered with nothing but success: node_ask(link, REQUEST(remove_tree, .path =
 * path), cb, ctx). wire/requests.txt says what each request does. `cb` may be NULL.
 *
 * `as` of a request about files: the account whose rights it uses and that owns the files that it
 * makes; below the node root the agent itself makes directories and gives them to the account.
 * NULL, or an agent that is not root: the agent's own account. */
void node_ask(struct node_link *, const struct node_request *r, node_done_cb cb, void *ctx);
/* Whether it is carried out beside later requests: whoever needs it done waits for its answer. */
bool node_ask_is_beside(const struct node_request *r);

#define NODE_PIECE_MAX (512 * 1024) /* bytes of one write_bytes */

/* The entries of a directory below `base`, sorted by name; `path` is relative to base ("" is base
 * itself) and nothing outside base can be reached, not even by symbolic links. Regular files and
 * directories only. ERR_FILE_NOT_FOUND. */
void node_list_dir(struct node_link *, const char *as, const char *base, const char *path,
                   node_dir_cb cb, void *ctx);
/* Reads up to `max` bytes (at most 1 MiB) of a regular file from `offset` on; none at its end.
 * `raw` is set here. */
void node_read_file(struct node_link *, const struct request_read_file *r, node_bytes_cb cb,
                    void *ctx);

/* Starts a task under a supervisor of its own, or answers with the status of the one that has this
 * id. The reply comes when the command's process exists, or could not be made: then it is a status
 * in TASK_FAILED_TO_START, not an error. An error means that nothing was started and the id is
 * still free. The end of a task, in any state, is reported by task_ended: once on each link until
 * the request forget, after the reply to its node_run(); for tasks that ended while there was no
 * link, right after ready. */
void node_run(struct node_link *, const struct task_spec *spec, node_task_cb cb, void *ctx);
void node_tasks(struct node_link *, node_tasks_cb cb, void *ctx);
/* Sends a message of a remote command. Like anything on its way it may be dropped: without a link,
 * and when the node reads too slowly. */
void node_remote_send(struct node_link *, const struct remote_msg *m);

void node_usage(struct node_link *, node_usage_cb cb, void *ctx);
void node_health(struct node_link *, node_health_cb cb, void *ctx);
/* Lists what is below the node root, a text for each: tasks, accounts, mounts, directories. With
 * `take` ends, unmounts and removes all of it. */
void node_clean(struct node_link *, bool take, node_texts_cb cb, void *ctx);

#endif
