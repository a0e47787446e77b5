/* SPDX-License-Identifier: MIT
 *
 * Finds out what the machine is, puts the agent there and starts it. All scripts are POSIX sh on
 * one line, without ', \ and !, so that any login shell passes them on unchanged.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/shell.h"
#include "nodeagent-proto/link/ssh/ssh_priv.h"

#define AGENT_NAME "batchai-node-" /* then the hash */
/* Behind this line the channel is the agent's; start files of a login shell may print before it. */
#define START_MARK "batchai-node-follows\n"

/* Arguments DIR (HASH SIZE)...: prints what the machine is and which complete agents it has. */
static const char probe_script[] =
    "d=$1; shift; case $d in \"~/\"*) d=$HOME/${d#??};; esac; "
    "echo; echo batchai-system $(uname -sm); echo \"batchai-dir $d\"; "
    "while [ $# -gt 1 ]; do f=$d/" AGENT_NAME "$1; "
    "if [ -f \"$f\" ] && [ -x \"$f\" ] && [ $(wc -c < \"$f\") -eq $2 ]; then s=$1; "
    "if command -v sha256sum > /dev/null 2>&1; then s=$(sha256sum < \"$f\"); fi; "
    "if [ \"${s%% *}\" = $1 ]; then echo batchai-has $1; fi; fi; shift 2; done";

/* Arguments DIR HASH SIZE, with the program on stdin. The file gets its name only when it is
 * complete. Leftovers of an upload that a power cut ended are removed by an upload a day later. */
static const char upload_script[] =
    "umask 022; mkdir -p \"$1\" || exit 1; t=$1/.upload-$2.$$; "
    "gone() { rm -f \"$t\"; }; trap gone EXIT; trap \"exit 1\" HUP INT TERM; "
    "trap \"\" PIPE; " /* when the link is gone, nobody could read an error */
    "find \"$1\" -name \".upload-*\" -mtime +0 -exec rm -f {} + 2> /dev/null; "
    "cat > \"$t\" || exit 1; n=$(wc -c < \"$t\"); "
    "if [ $n -ne $3 ]; then echo \"only $n of $3 bytes arrived\" >&2; exit 1; fi; s=$2; "
    "if command -v sha256sum > /dev/null 2>&1; then s=$(sha256sum < \"$t\"); fi; "
    "if [ \"${s%% *}\" = $2 ]; then :; else echo \"the SHA-256 differs\" >&2; exit 1; fi; "
    "chmod 755 \"$t\" && mv -f \"$t\" \"$1/" AGENT_NAME "$2\"";

static const char start_script[] =
    "echo batchai-node-follows; BATCHAI_NODE_OWNER=$3; export BATCHAI_NODE_OWNER; "
    "exec \"$1\" $4 --root \"$2\"";

static void script(struct strbuf *line, const char *before, const char *text)
{
    strbuf_printf(line, "exec %s /bin/sh -c ", before);
    shell_quote(line, text);
    strbuf_puts(line, " sh");
}

static void argument(struct strbuf *line, const char *text)
{
    strbuf_putc(line, ' ');
    shell_quote(line, text);
}

static void image_arguments(struct strbuf *line, const struct node_agent_image *image)
{
    strbuf_printf(line, " %s %zu", image->hash, image->n);
}

/* ---- probe ---- */

static void ask_probe(struct ssh *l)
{
    struct strbuf line = STRBUF_INIT;
    script(&line, "", probe_script);
    argument(&line, l->agent_dir);
    for (size_t i = 0; i < l->agents->n; i++)
        image_arguments(&line, &l->agents->images[i]);
    ssh_command_set(&l->cmd, &line, "", 0);
}

/* The value of "\nKEY value\n" in the output; the caller frees. NULL if it is not there. */
static char *told(const struct strbuf *out, const char *key)
{
    const char *at = out->s ? strstr(out->s, key) : NULL;
    if (!at)
        return NULL;
    at += strlen(key);
    return strndup(at, strcspn(at, "\r\n"));
}

static enum ssh_step no_such_agent(struct ssh *l, const char *arch)
{
    struct strbuf have = STRBUF_INIT;
    for (size_t i = 0; i < l->agents->n; i++)
        strbuf_printf(&have, "%s%s", i ? ", " : "", l->agents->images[i].arch);
    enum ssh_step s =
        ssh_fail(l, ERR_NODE, "configure the path of a batchai-node built for it",
                 "no agent is configured for its architecture, %s; agents are configured for %s",
                 arch, have.len ? have.s : "none");
    strbuf_free(&have);
    return s;
}

static enum ssh_step choose_image(struct ssh *l, const char *system)
{
    const char *arch = strrchr(system, ' ');
    if (!arch || strncmp(system, "Linux ", 6) != 0)
        return ssh_fail(l, ERR_NODE, "only Linux machines can be nodes", "its system is '%s'",
                        system);
    for (size_t i = 0; i < l->agents->n; i++)
        if (strcmp(l->agents->images[i].arch, arch + 1) == 0)
            l->image = &l->agents->images[i];
    return l->image ? SSH_NEXT : no_such_agent(l, arch + 1);
}

static bool has_agent(struct ssh *l)
{
    struct strbuf key = STRBUF_INIT;
    strbuf_printf(&key, "\nbatchai-has %s", l->image->hash);
    bool has = strstr(l->cmd.out.s, key.s) != NULL;
    strbuf_free(&key);
    return has;
}

static enum ssh_step learn(struct ssh *l)
{
    char *system = told(&l->cmd.out, "\nbatchai-system "),
         *dir = told(&l->cmd.out, "\nbatchai-dir ");
    enum ssh_step s = SSH_FAILED;
    if (!system || !dir || l->cmd.exit_code != 0)
        (void)ssh_fail(l, ERR_NODE, NULL, "/bin/sh ended with exit code %d: %s", l->cmd.exit_code,
                       ssh_command_said(&l->cmd));
    else
        s = choose_image(l, system);
    if (s == SSH_NEXT) {
        struct strbuf path = STRBUF_INIT;
        free(l->agent_dir);
        l->agent_dir = xstrdup(dir);
        strbuf_printf(&path, "%s/" AGENT_NAME "%s", dir, l->image->hash);
        l->agent_path = strbuf_take(&path);
    }
    free(system);
    free(dir);
    return s;
}

enum ssh_step ssh_step_probe(struct ssh *l)
{
    if (l->cmd.stage == CMD_IDLE)
        ask_probe(l);
    enum ssh_step s = ssh_command_run(l);
    return s == SSH_NEXT ? learn(l) : s;
}

/* ---- upload ---- */

static void ask_upload(struct ssh *l)
{
    struct strbuf line = STRBUF_INIT;
    script(&line, "", upload_script);
    argument(&line, l->agent_dir);
    image_arguments(&line, l->image);
    ssh_command_set(&l->cmd, &line, l->image->bytes, l->image->n);
}

enum ssh_step ssh_step_upload(struct ssh *l)
{
    if (l->cmd.in != l->image->bytes) {
        if (has_agent(l)) {
            ssh_command_free(&l->cmd);
            return SSH_NEXT;
        }
        ask_upload(l);
    }
    enum ssh_step s = ssh_command_run(l);
    if (s != SSH_NEXT)
        return s;
    if (l->cmd.exit_code != 0)
        return ssh_fail(l, ERR_NODE, NULL, "%s: %s (exit code %d)", l->agent_dir,
                        ssh_command_said(&l->cmd), l->cmd.exit_code);
    LOG_INFO(l->link.log, "node.agent_uploaded", LF_STR("node", l->name),
             LF_STR("path", l->agent_path), LF_INT("bytes", l->image->n));
    ssh_command_free(&l->cmd);
    return SSH_NEXT;
}

/* ---- start ---- */

/* The owner: this daemon (each has a known_hosts file of its own) and its name for the machine, so
 * that a machine with two names is refused under the second. A program that uses the file but is
 * not the daemon says so.
 */
static void owner_argument(struct strbuf *line, const struct ssh *l)
{
    char host[UV_MAXHOSTNAMESIZE] = "";
    size_t n = sizeof host;
    struct strbuf owner = STRBUF_INIT;
    (void)uv_os_gethostname(host, &n);
    strbuf_printf(&owner, "%s%s:%s %s", l->yields ? "not " : "", host, l->known_hosts, l->name);
    argument(line, owner.s);
    strbuf_free(&owner);
}

static void ask_start(struct ssh *l)
{
    struct strbuf line = STRBUF_INIT;
    script(&line, l->become ? l->become : "", start_script);
    argument(&line, l->agent_path);
    argument(&line, l->root);
    owner_argument(&line, l);
    argument(&line, l->look ? "look" : "agent");
    ssh_command_set(&l->cmd, &line, "", 0);
}

/* -1: broken; 0: nothing more for now. Reads stdout byte by byte, because frames follow the mark.
 */
static int read_start(struct ssh *l, bool *marked)
{
    struct ssh_command *c = &l->cmd;
    char byte, buf[1024];
    ssize_t n;
    while ((n = l->lib.libssh2_channel_read_stderr(c->channel, buf, sizeof buf)) > 0)
        strbuf_add(&c->errors, buf, (size_t)n);
    while (!*marked && (n = l->lib.libssh2_channel_read(c->channel, &byte, 1)) > 0) {
        strbuf_putc(&c->out, byte);
        size_t mark = strlen(START_MARK);
        *marked = c->out.len >= mark && strcmp(c->out.s + c->out.len - mark, START_MARK) == 0;
    }
    return n < 0 && n != LIBSSH2_ERROR_EAGAIN ? -1 : 0;
}

static enum ssh_step not_started(struct ssh *l)
{
    if (l->become)
        return ssh_fail(l, ERR_NODE,
                        "let this account use it there without a password (sudo: NOPASSWD: ALL)",
                        "'%s' did not run it: %s", l->become, ssh_command_said(&l->cmd));
    return ssh_fail(l, ERR_NODE, NULL, "the login shell did not run it: %s",
                    ssh_command_said(&l->cmd));
}

enum ssh_step ssh_step_start(struct ssh *l)
{
    bool marked = false;
    if (l->cmd.stage == CMD_IDLE)
        ask_start(l);
    enum ssh_step s = ssh_command_begin(l);
    if (s != SSH_NEXT)
        return s;
    if (read_start(l, &marked) < 0)
        return ssh_fail_lib(l, l->lib.libssh2_session_last_errno(l->session), "reading");
    if (!marked)
        return l->lib.libssh2_channel_eof(l->cmd.channel) ? not_started(l) : SSH_WAIT;
    ssh_take_errors(l, l->cmd.errors.s, l->cmd.errors.len); /* it may have failed already */
    l->channel = l->cmd.channel;
    return SSH_NEXT;
}
