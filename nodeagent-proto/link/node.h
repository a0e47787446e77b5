/* SPDX-License-Identifier: MIT
 *
 * The daemon's side of a node: a link that carries requests to the node's agent (batchai-node) and
 * brings back replies and events. PROTOCOL.md describes the messages; the agent and the supervisors
 * of tasks are in agent/. Data flows: scheduler -> node_*() -> link -> agent -> supervisor, and
 * back through the callbacks given to node_open_*().
 *
 * Everything is asynchronous on the loop; no call blocks. Requests are carried out in order and
 * each is answered exactly once, with an error if the link breaks or is closed first. Exceptions
 * from the order: answers to later requests may overtake the answer to node_run(); listing,
 * reading, unmounting and requests about accounts run in parallel to others, so a caller that needs
 * their result first waits for the answer. No callback runs inside the call that made the request,
 * unless the link is already being closed. Structures passed to callbacks are borrowed for the
 * call. All paths are the node's. The process must ignore SIGPIPE, because an agent may end during
 * a write.
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
#include "model/sample/sample.h"
#include "nodeagent-proto/link/agents.h"
#include "nodeagent-proto/wire/facts.h"
#include "nodeagent-proto/wire/remote.h"
#include "nodeagent-proto/wire/requests.h"
#include "nodeagent-proto/wire/task.h"
#include "storage/folders/files.h"

struct node_link;

/* The steps of connecting to a machine. A local link has only the last step. */
enum node_step {
    NODE_STEP_NAME,      /* the name is looked up */
    NODE_STEP_CONNECT,   /* TCP */
    NODE_STEP_HANDSHAKE, /* SSH */
    NODE_STEP_HOST_KEY,
    NODE_STEP_LOGIN,
    NODE_STEP_MACHINE, /* a shell command reads the machine's architecture and programs */
    NODE_STEP_UPLOAD,  /* the agent's program is uploaded */
    NODE_STEP_START,   /* the agent is started, by the `become` command if there is one */
    NODE_STEP_AGENT,   /* hello and all later messages */
    NODE_STEPS
};

struct node_callbacks {
    void (*ready)(void *ctx, const struct node_facts *facts); /* hello was answered */
    /* The link broke, and all pending requests were answered with an error; the owner must close
     * it. */
    void (*down)(void *ctx, const struct err *why);
    void (*task_ended)(void *ctx, const struct task_status *status);
    /* a message of a remote command of a job on the node */
    void (*remote)(void *ctx, const struct remote_msg *m);
    void *ctx; /* borrowed; outlives the link */
};

struct node_local_config {
    struct loop *loop;       /* borrowed; a loop of libuv (lib/loop_uv.h) */
    const struct log *log;   /* borrowed */
    struct files *files;     /* borrowed: its workers read the files that a link needs */
    const char *agent_path;  /* the batchai-node binary */
    const char *cmd_path;    /* the batchai-cmd binary; NULL: tasks that need it fail */
    const char *root;        /* node root directory; made if missing */
    struct node_epoch epoch; /* sent in hello; borrowed while the link is being opened */
    /* an agent that sends no byte for this long, although it was asked, is treated as dead; 0:
     * 30 s */
    int dead_ms;
    struct node_callbacks callbacks;
};

/* Starts the agent as a child process over a socketpair. `ready` or `down` follows. An agent of an
 * earlier daemon on this root is ended. */
int node_open_local(const struct node_local_config *c, struct node_link **out,
                    struct err *e) MUST_CHECK;

/* A machine that runs sshd. Nothing has to be installed: the agent for its `uname -m` is uploaded
 * into agent_dir, once per content, and started over the login. All texts are copied. */
struct node_ssh_config {
    struct loop *loop;        /* borrowed; a loop of libuv (lib/loop_uv.h) */
    const struct log *log;    /* borrowed */
    struct files *files;      /* borrowed: its workers read and write the files named here */
    const char *host;         /* name, IPv4 or IPv6 literal */
    int port;                 /* 0: 22 */
    const char *user;         /* the user to log in as */
    const char *identity;     /* file of the private key, or NULL */
    const char *passphrase;   /* of that file, or NULL */
    const char *agent_socket; /* an ssh-agent's socket, or NULL */
    const char *password; /* or NULL; methods are tried in this order: identity, agent, password */
    const char *known_hosts; /* the daemon's file, not OpenSSH's; made if missing */
    bool strict; /* refuses a host that is not in known_hosts, rather than recording its key */
    const char *become;               /* prefix of the agent's command ("sudo -n"), or NULL */
    const struct node_agents *agents; /* borrowed until the link is closed */
    const char *agent_dir; /* on the machine, absolute or ~/...; NULL: ~/.cache/batchai-node */
    const char *root;      /* node root directory on the machine; made if missing */
    /* Only inspects: no host key is recorded, nothing is made below root, and another agent that
     * serves root is not disturbed. Only node_mounting() and node_health() are answered, the latter
     * with an error if root could not be used. The agent's program is uploaded into agent_dir all
     * the same. */
    bool look;
    /* For programs other than the daemon: if an agent serves root, the link fails, even if that
     * agent works for the owner of this known_hosts. */
    bool yields;
    struct node_epoch epoch; /* sent in hello; borrowed while the link is being opened */
    int connect_ms;  /* time limit of name lookup and TCP; for this and the next values, 0 means a
                      * default */
    int login_ms;    /* time limit of each of handshake, host key and login */
    int command_ms;  /* time limit of each command that prepares the machine; for an upload, the
                      * time limit without progress */
    int keepalive_s; /* the period of keepalive messages */
    int dead_ms;     /* a machine that sends no byte for this long is treated as dead */
    struct node_callbacks callbacks;
};

/* Starts connecting; `ready` or `down` follows. Every error has machine, step, cause and remedy.
 * The caller decides whether and when to try again. */
int node_open_ssh(const struct node_ssh_config *c, struct node_link **out,
                  struct err *e) MUST_CHECK;

/* Ends the link; tasks continue under their supervisors. Pending requests are answered with an
 * error before node_close() returns; after that only `closed` runs, when everything is released. */
void node_close(struct node_link *link, void (*closed)(void *ctx), void *ctx);

/* The step that the link has reached; for a broken link, the step that failed. */
enum node_step node_link_step(const struct node_link *link);
/* Whether the agent has answered, and the link is not broken. */
bool node_link_is_ready(const struct node_link *link);
/* Whether the machine's host key was not in known_hosts before this link. */
bool node_link_is_new_host(const struct node_link *link);
/* Monotonic: the last byte that came over a link that broke by silence; 0: it did not. */
int64_t node_link_silent_since(const struct node_link *link);
/* The address of this end of a connection to a machine; "": not connected, or a local link. */
const char *node_link_own_address(const struct node_link *link);

/* Callbacks for replies: `why` is NULL on success. All arguments are borrowed for the call. */
typedef void (*node_done_cb)(void *ctx, const struct err *why);
typedef void (*node_task_cb)(void *ctx, const struct err *why, const struct task_status *status);
typedef void (*node_tasks_cb)(void *ctx, const struct err *why, const struct task_status *list,
                              size_t n);
typedef void (*node_usage_cb)(void *ctx, const struct err *why, const struct node_usage *usage);
typedef void (*node_sample_cb)(void *ctx, const struct err *why, const struct node_sample *s);
typedef void (*node_health_cb)(void *ctx, const struct err *why, const struct node_health *health);
/* The entries of a directory; none after an error. */
struct node_dir {
    const struct node_dir_entry *list;
    size_t n;
    bool cut;         /* the directory has more entries than a list */
    int64_t left_out; /* entries that `list` lacks because their names are not UTF-8 */
};
typedef void (*node_dir_cb)(void *ctx, const struct err *why, const struct node_dir *dir);
typedef void (*node_texts_cb)(void *ctx, const struct err *why, const char *const *list, size_t n);
struct node_bytes {
    const char *bytes;
    size_t n;
    int64_t size, mtime_us; /* of the whole file */
    int64_t mode;           /* st_mode; 0: not known */
    /* differs between files, made from inode number and time of birth; 0: not known */
    int64_t inode;
};
typedef void (*node_bytes_cb)(void *ctx, const struct err *why, const struct node_bytes *got);

/* Sends a request whose answer is only success or an error: node_ask(link, REQUEST(remove_tree,
 * .path = path), cb, ctx). wire/requests.txt describes each request. `cb` may be NULL. `as` of a
 * request about files: the account whose rights are used and that owns new files; below the node
 * root the agent itself makes directories and gives them to the account. NULL, or an agent that is
 * not root: the agent's account. */
void node_ask(struct node_link *, const struct node_request *r, node_done_cb cb, void *ctx);
/* Whether later requests may overtake this request. Then a caller that needs its result first must
 * wait for its answer. */
bool node_ask_is_beside(const struct node_request *r);

#define NODE_PIECE_MAX (512 * 1024) /* the most bytes of one write_bytes */

/* The entries of a directory below `base`, sorted by name; `path` is relative to base ("" is base
 * itself) and nothing outside base can be reached, not even by symbolic links. Regular files and
 * directories only. ERR_FILE_NOT_FOUND. */
void node_list_dir(struct node_link *, const char *as, const char *base, const char *path,
                   node_dir_cb cb, void *ctx);
/* Reads up to `max` bytes (at most 1 MiB) of a regular file from `offset` on; no bytes at the end
 * of the file. node_read_file() itself sets the request's member `raw`. */
void node_read_file(struct node_link *, const struct request_read_file *r, node_bytes_cb cb,
                    void *ctx);

/* Starts a task under a separate supervisor, or answers with the status of the known task with this
 * id. The reply comes when the command's process exists, or could not be made: then the reply is a
 * status in TASK_FAILED_TO_START, not an error. An error means that nothing was started and the id
 * is still free.
 *
 * task_ended reports the end of a task (in any final state) once on each link, until the request
 * `forget`. On a link it comes after the reply to node_run(); for a task that ended while there was
 * no link, it comes right after `ready`. */
void node_run(struct node_link *, const struct task_spec *spec, node_task_cb cb, void *ctx);
void node_tasks(struct node_link *, node_tasks_cb cb, void *ctx);
/* Sends a message of a remote command. Any message may be dropped: without a link, and when the
 * node reads too slowly. */
void node_remote_send(struct node_link *, const struct remote_msg *m);

void node_usage(struct node_link *, node_usage_cb cb, void *ctx);
/* Takes a sample. Impossible values are replaced by "unknown"; at_us is 0. */
void node_sample(struct node_link *, bool gpus, node_sample_cb cb, void *ctx);
void node_health(struct node_link *, node_health_cb cb, void *ctx);
/* Lists the reasons why the machine cannot mount shares by SFTP from this host and port, with
 * remedies; n is 0 if it can. */
void node_mounting(struct node_link *, const char *host, int port, node_texts_cb cb, void *ctx);
/* Lists the things below the node root, a text for each: tasks, accounts, mounts, directories. With
 * `take`, ends, unmounts and removes all of them. */
void node_clean(struct node_link *, bool take, node_texts_cb cb, void *ctx);

#endif
