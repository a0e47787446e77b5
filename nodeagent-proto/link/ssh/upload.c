/* SPDX-License-Identifier: MIT
 *
 * Finds out the kind of the machine, uploads the programs (the agent; batchai-cmd, if there is one)
 * and starts the agent. All scripts are POSIX sh on one line, without ', \ and !, so that any login
 * shell passes them to sh unchanged.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/shell.h"
#include "nodeagent-proto/link/ssh/ssh_priv.h"
#include "nodeagent-proto/wire/message.h"

/* After this line, everything on the channel is from the agent; before it, start files of the login
 * shell may print text. */
#define START_MARK "batchai-node-follows\n"

/* Arguments DIR (NAME-HASH SIZE)...: prints the machine's architecture and the programs that it has
 * completely. */
static const char probe_script[] =
    "d=$1; shift; case $d in \"~/\"*) d=$HOME/${d#??};; esac; "
    "echo; echo batchai-system $(uname -sm); echo \"batchai-dir $d\"; "
    "while [ $# -gt 1 ]; do f=$d/$1; h=${1##*-}; "
    "if [ -f \"$f\" ] && [ -x \"$f\" ] && [ $(wc -c < \"$f\") -eq $2 ]; then s=$h; "
    "if command -v sha256sum > /dev/null 2>&1; then s=$(sha256sum < \"$f\"); fi; "
    "if [ \"${s%% *}\" = $h ]; then echo batchai-has $1; fi; fi; shift 2; done";

/* Arguments DIR NAME-HASH SIZE, with the program on stdin. The file gets its name only when it is
 * complete. The script also removes unfinished uploads that are older than a day (left by a power
 * cut). */
static const char upload_script[] =
    "umask 022; mkdir -p \"$1\" || exit 1; t=$1/.upload-$2.$$; h=${2##*-}; "
    "gone() { rm -f \"$t\"; }; trap gone EXIT; trap \"exit 1\" HUP INT TERM; "
    "trap \"\" PIPE; " /* after the link broke, nobody could read an error */
    "find \"$1\" -name \".upload-*\" -mtime +0 -exec rm -f {} + 2> /dev/null; "
    "cat > \"$t\" || exit 1; n=$(wc -c < \"$t\"); "
    "if [ $n -ne $3 ]; then echo \"only $n of $3 bytes arrived\" >&2; exit 1; fi; s=$h; "
    "if command -v sha256sum > /dev/null 2>&1; then s=$(sha256sum < \"$t\"); fi; "
    "if [ \"${s%% *}\" = $h ]; then :; else echo \"the SHA-256 differs\" >&2; exit 1; fi; "
    "chmod 755 \"$t\" && mv -f \"$t\" \"$1/$2\"";

static const char start_script[] =
    "echo batchai-node-follows; " NODE_OWNER_VARIABLE "=$3; export " NODE_OWNER_VARIABLE
    "; " NODE_CMD_VARIABLE "=$5; export " NODE_CMD_VARIABLE "; "
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

static void program_arguments(struct strbuf *line, const struct node_program *p)
{
    if (p->bytes)
        strbuf_printf(line, " %s %zu", p->name, p->n);
}

/* ---- probe ---- */

static void ask_probe(struct ssh *l)
{
    struct strbuf line = STRBUF_INIT;
    script(&line, "", probe_script);
    argument(&line, l->agent_dir);
    for (size_t i = 0; i < l->agents->n; i++)
        for (int k = 0; k < NODE_PROGRAMS; k++)
            program_arguments(&line, &l->agents->images[i].programs[k]);
    ssh_command_set(&l->cmd, &line, "", 0);
}

/* Returns the value of a line "KEY value" in the output (`key` is "\nKEY "); the caller frees. NULL
 * if there is no such line. */
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

/* Sets the path of each program on the machine; NULL: the machine gets no program of the kind. */
static void learn_places(struct ssh *l, const char *dir)
{
    for (int k = 0; k < NODE_PROGRAMS; k++) {
        const struct node_program *p = &l->image->programs[k];
        struct strbuf key = STRBUF_INIT, path = STRBUF_INIT;
        if (!p->bytes)
            continue;
        strbuf_printf(&key, "\nbatchai-has %s", p->name);
        strbuf_printf(&path, "%s/%s", dir, p->name);
        l->has[k] = strstr(l->cmd.out.s, key.s) != NULL;
        l->paths[k] = strbuf_take(&path);
        strbuf_free(&key);
    }
    if (l->image->no_cmd)
        l->no_cmd = xstrdup(l->image->no_cmd);
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
        free(l->agent_dir);
        l->agent_dir = xstrdup(dir);
        learn_places(l, dir);
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

static void ask_upload(struct ssh *l, const struct node_program *p)
{
    struct strbuf line = STRBUF_INIT;
    script(&line, "", upload_script);
    argument(&line, l->agent_dir);
    program_arguments(&line, p);
    ssh_command_set(&l->cmd, &line, p->bytes, p->n);
}

/* Without the agent the link fails. Without batchai-cmd only the tasks that need it fail, with the
 * reason. */
static enum ssh_step not_uploaded(struct ssh *l, enum node_program_kind kind)
{
    struct strbuf why = STRBUF_INIT;
    if (kind == NODE_PROGRAM_AGENT)
        return ssh_fail(l, ERR_NODE, NULL, "%s: %s (exit code %d)", l->agent_dir,
                        ssh_command_said(&l->cmd), l->cmd.exit_code);
    strbuf_printf(&why, "it could not be put into %s: %s (exit code %d)", l->agent_dir,
                  ssh_command_said(&l->cmd), l->cmd.exit_code);
    LOG_WARN(l->link.log, "node.windows_interpreter_missing", LF_STR("node", l->name),
             LF_STR("why", why.s));
    l->no_cmd = strbuf_take(&why);
    free(l->paths[kind]);
    l->paths[kind] = NULL;
    return SSH_NEXT;
}

static enum ssh_step upload(struct ssh *l, enum node_program_kind kind)
{
    const struct node_program *p = &l->image->programs[kind];
    if (l->cmd.in != p->bytes)
        ask_upload(l, p);
    enum ssh_step s = ssh_command_run(l);
    if (s != SSH_NEXT)
        return s;
    if (l->cmd.exit_code != 0)
        return not_uploaded(l, kind);
    l->has[kind] = true;
    LOG_INFO(l->link.log, "node.agent_uploaded", LF_STR("node", l->name),
             LF_STR("path", l->paths[kind]), LF_INT("bytes", p->n));
    return SSH_NEXT;
}

enum ssh_step ssh_step_upload(struct ssh *l)
{
    enum ssh_step s = SSH_NEXT;
    for (int k = 0; k < NODE_PROGRAMS && s == SSH_NEXT; k++)
        if (l->paths[k] && !l->has[k])
            s = upload(l, (enum node_program_kind)k);
    if (s == SSH_NEXT)
        ssh_command_free(&l->cmd);
    return s;
}

/* ---- start ---- */

/* Names the agent's owner: this daemon (by its known_hosts file) and its name for the machine. So a
 * machine with two names is refused under its second name. Another program that uses the same
 * known_hosts file adds "not ". */
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
    const char *cmd = l->paths[NODE_PROGRAM_CMD] ? l->paths[NODE_PROGRAM_CMD] : l->no_cmd;
    argument(&line, l->paths[NODE_PROGRAM_AGENT]);
    argument(&line, l->root);
    owner_argument(&line, l);
    argument(&line, l->look ? "look" : "agent");
    argument(&line, cmd ? cmd : "");
    ssh_command_set(&l->cmd, &line, "", 0);
}

/* Reads up to the mark; *marked: the mark was read. -1: the channel is broken. Reads stdout byte by
 * byte, because frames follow the mark. Of the text that start files print, only the last bytes are
 * kept. */
static int read_start(struct ssh *l, bool *marked)
{
    struct ssh_command *c = &l->cmd;
    char byte, buf[1024];
    ssize_t n;
    while ((n = libssh2_channel_read_stderr(c->channel, buf, sizeof buf)) > 0)
        if (c->errors.len < SSH_ERRORS_MAX)
            strbuf_add(&c->errors, buf, (size_t)n);
    while (!*marked && (n = libssh2_channel_read(c->channel, &byte, 1)) > 0) {
        size_t mark = strlen(START_MARK);
        strbuf_putc(&c->out, byte);
        if (c->out.len > 1024) {
            memmove(c->out.s, c->out.s + c->out.len - mark, mark);
            strbuf_cut(&c->out, mark);
        }
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
        return ssh_fail_lib(l, libssh2_session_last_errno(l->session), "reading");
    if (!marked)
        return libssh2_channel_eof(l->cmd.channel) ? not_started(l) : SSH_WAIT;
    /* the agent may have printed errors already */
    ssh_take_errors(l, l->cmd.errors.s, l->cmd.errors.len);
    l->channel = l->cmd.channel;
    return SSH_NEXT;
}
