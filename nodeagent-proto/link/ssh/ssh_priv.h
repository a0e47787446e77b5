/* SPDX-License-Identifier: MIT
 *
 * The SSH transport, in parts. link_ssh.c (phases, deadlines, the socket, the end) calls the steps:
 * login.c (handshake, host key, authentication), upload.c (probing the machine, uploading the
 * agent, starting it), stream.c (frames). The steps use command.c (one command on an exec channel),
 * step.c (errors, the time limit), session.c (libssh2's environment), known_hosts.c (the file) and
 * settings.c. They call nothing of link_ssh.c: a step requests work on another thread by its return
 * value.
 *
 *   RESOLVE > CONNECT > HANDSHAKE > HOST_KEY > LOGIN > PROBE > UPLOAD > START > RUNNING
 *   any of them --a step failed, deadline, connection lost--> OVER (calls `down`)
 *   RUNNING --node_close()--> ENDING (the agent ends in order) > OVER
 *   any other --node_close()--> OVER
 *
 * Each phase except the first two is one step function over libssh2 in non-blocking mode: it does
 * what it can without waiting, and returns NEXT (done), WAIT (for the network or buffer space),
 * WORK or FILE (for another thread) or FAILED. libssh2 does not use the socket: it sends to and
 * receives from buffers of the link. So a send is never partial; libssh2 does not allow reading
 * between the parts of a send. When drive() returns, libssh2 has consumed all received bytes,
 * unless the step waits for space to send.
 *
 * Logging in runs on the thread pool (bcrypt of a passphrase is slow, an ssh-agent blocks).
 * Meanwhile (`work_busy`) the loop touches neither session nor buffers. Files of this machine
 * (known_hosts, keys) may be on a file system that hangs, so workers of storage/folders/ read and
 * write them: struct ssh_file. Meanwhile (`asking`) the link waits, and may end.
 */
#ifndef NODEAGENT_PROTO_LINK_SSH_SSH_PRIV_H
#define NODEAGENT_PROTO_LINK_SSH_SSH_PRIV_H

#include <libssh2.h>
#include <uv.h>

#include "lib/strbuf.h"
#include "nodeagent-proto/link/agents.h"
#include "nodeagent-proto/link/link_priv.h"
#include "storage/folders/files.h"

#define SSH_LINE_MAX 600          /* bytes of an agent's stderr; a longer line is split */
#define SSH_ROOM     (256U << 10) /* bytes unsent to the socket; above this, a step must wait */

enum ssh_phase {
    SSH_RESOLVE,
    SSH_CONNECT,
    SSH_HANDSHAKE,
    SSH_HOST_KEY,
    SSH_LOGIN,
    SSH_PROBE,
    SSH_UPLOAD,
    SSH_START,
    SSH_RUNNING,
    SSH_ENDING,
    SSH_OVER
};

/* WORK: run `job` on the thread pool; FILE: run the work of `wanted` on a worker. Then the step is
 * called again. */
enum ssh_step { SSH_NEXT, SSH_WAIT, SSH_WORK, SSH_FILE, SSH_FAILED };

enum command_stage { CMD_IDLE, CMD_OPEN, CMD_EXEC, CMD_TALK, CMD_WAIT_CLOSED, CMD_FREE };

/* The most bytes kept of a command's output or errors. */
#define SSH_ERRORS_MAX (64U << 10)

/* A command on an exec channel: sends input, collects output and errors. */
struct ssh_command {
    enum command_stage stage;
    LIBSSH2_CHANNEL *channel; /* freed with the session, unless ssh_command_free() freed it */
    struct strbuf line;       /* the command line for the login shell */
    const char *in;           /* borrowed */
    size_t n_in, at;
    bool in_ended;
    struct strbuf out, errors;
    int exit_code;
};

/* A frame, or the rest of a frame, that waits for the channel. Wiped when freed. */
struct ssh_chunk {
    struct ssh_chunk *next;
    size_t n, at;
    char bytes[];
};

struct ssh_file;
struct ssh_file_kind {
    void (*work)(struct ssh_file *f); /* on a worker: touches only `f`, and no link */
    /* frees the members that this kind has in addition to `struct ssh_file` */
    void (*free)(struct ssh_file *f);
};

/* Work on a file of this machine. First member of the struct of each kind, which has the work's
 * input and result. */
struct ssh_file {
    const struct ssh_file_kind *kind;
    char *path;
    struct ssh *l; /* used by the loop only; valid until the link abandons the work */
};

struct ssh {
    struct node_link link; /* first: the link is the allocation */
    char *name;            /* user@host:port */
    char *host, *user, *identity, *passphrase, *agent_socket, *password, *known_hosts, *become;
    char *agent_dir, *root;
    int port, connect_ms, login_ms, command_ms, keepalive_s, dead_ms;
    bool strict, look, yields;
    const struct node_agents *agents; /* borrowed */
    struct files *files;              /* borrowed */
    uv_loop_t *loop;

    enum ssh_phase phase;
    bool driving;
    uv_timer_t deadline, keepalive;
    int open_handles; /* timers, sockets and work in the pool; 0: all are released */
    struct ssh_lookup *lookup;
    struct addrinfo *addresses, *next_address;
    int connect_rc;
    uv_tcp_t *tcp;      /* NULL: no socket; each attempt to connect has a new socket */
    uv_os_fd_t fd;      /* descriptor of tcp; distinguishes it from an ssh-agent's socket */
    uint64_t silent_ms; /* how long the machine has sent nothing, in ms */

    LIBSSH2_SESSION *session;
    struct ssh_block *blocks; /* libssh2's memory */
    struct strbuf in;         /* bytes from the socket; bytes not yet consumed start at in_at */
    size_t in_at;
    struct strbuf out; /* for the socket */

    struct ssh_file *wanted;   /* the work that a step requests; NULL again when the work begins */
    struct files_work *asking; /* the file work under way; NULL: none */
    const char *asking_path;   /* the path of the file; owned by the work */
    struct ssh_file *file;     /* the finished work with its result, until ssh_file_drop(); owned */

    uv_work_t work;
    uv_work_cb job;
    bool work_busy, work_done;
    int work_rc;
    char *methods; /* the methods that the host accepts, comma-separated */
    size_t method; /* the row of login.c's table that is being tried now */
    bool method_tried;
    LIBSSH2_AGENT *keys; /* the connection to an ssh-agent */
    struct libssh2_agent_publickey *agent_key;
    struct strbuf tried; /* the methods that failed, for the error */

    struct ssh_command cmd;
    const struct node_agent_image *image;
    /* the paths of the image's programs on the machine; NULL: the machine gets none */
    char *paths[NODE_PROGRAMS];
    bool has[NODE_PROGRAMS]; /* the program is completely on the machine */
    /* why the machine has no batchai-cmd; NULL: it has it, or needs none */
    char *no_cmd;
    LIBSSH2_CHANNEL *channel; /* the agent's channel; owned by cmd */
    struct ssh_chunk *queue, **queue_end;
    size_t queued;      /* bytes in `queue` */
    struct strbuf line; /* a line of the agent's stderr that has not ended yet */
    char last_line[SSH_LINE_MAX + 1];
    bool agent_ended;
};

/* ---- step.c ---- */

/* Fails the link with "NAME: ACTION: cause; remedy". `remedy` NULL: the remedy of the phase.
 * Returns SSH_FAILED. */
enum ssh_step ssh_fail(struct ssh *l, enum err_code code, const char *remedy, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Like ssh_fail(), with libssh2's error as the cause. */
enum ssh_step ssh_fail_lib(struct ssh *l, int rc, const char *what);
/* libssh2's text for its last error. Borrowed. */
const char *ssh_lib_error(struct ssh *l);
/* How many bytes the socket has not accepted yet. */
size_t ssh_unsent(const struct ssh *l);
/* Restarts the time limit of the phase after progress. */
void ssh_progress(struct ssh *l);
void ssh_file_free(struct ssh_file *f);
/* Frees l->file. */
void ssh_file_drop(struct ssh *l);

/* ---- session.c ---- */

LIBSSH2_SESSION *ssh_session_create(struct ssh *l);
void ssh_session_free(struct ssh *l);

/* ---- settings.c ---- */

/* Makes a link that has not begun. NULL: the configuration is refused. */
struct ssh *ssh_create(const struct node_ssh_config *c, struct err *e);
void ssh_settings_free(struct ssh *l);

/* ---- steps ---- */

enum ssh_step ssh_step_handshake(struct ssh *l);
enum ssh_step ssh_step_host_key(struct ssh *l);
enum ssh_step ssh_step_login(struct ssh *l);
enum ssh_step ssh_step_probe(struct ssh *l);
enum ssh_step ssh_step_upload(struct ssh *l);
enum ssh_step ssh_step_start(struct ssh *l);
enum ssh_step ssh_step_running(struct ssh *l);
enum ssh_step ssh_step_ending(struct ssh *l);
void ssh_login_free(struct ssh *l);

/* ---- command.c ---- */

/* Prepares `cmd` for `line` (taken over) with `in` (borrowed) as its input. */
void ssh_command_set(struct ssh_command *c, struct strbuf *line, const char *in, size_t n_in);
/* Opens the channel and starts the command; NEXT when the server has accepted it. */
enum ssh_step ssh_command_begin(struct ssh *l);
/* Runs the command to its end; NEXT when exit_code, output and errors are complete. */
enum ssh_step ssh_command_run(struct ssh *l);
void ssh_command_free(struct ssh_command *c);
/* The last line of the command's stderr, for a message. Borrowed. */
const char *ssh_command_said(struct ssh_command *c);

/* ---- stream.c ---- */

void ssh_write(struct ssh *l, const char *bytes, size_t n);
void ssh_queue_free(struct ssh *l);
/* Logs the agent's stderr. */
void ssh_take_errors(struct ssh *l, const char *bytes, size_t n);
/* Fails the link with the way in which the agent ended. */
enum ssh_step ssh_agent_ended(struct ssh *l);

#endif
