/* SPDX-License-Identifier: MIT
 *
 * Helpers for the steps of an SSH link: the texts of the phases and their error messages, the time
 * limit of a phase, and the results of work on files. All functions run on the loop; none calls a
 * step or ends the link.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "nodeagent-proto/link/ssh/ssh_priv.h"

static const struct {
    const char *doing, *remedy;
} texts[] = {
    [SSH_RESOLVE] = {"looking up the name", "check the name and the resolver"},
    [SSH_CONNECT] = {"connecting",
                     "check that sshd runs there, on this port, and that no firewall blocks it"},
    [SSH_HANDSHAKE] = {"SSH handshake",
                       "check that an SSH server listens on this port, and its log"},
    [SSH_HOST_KEY] = {"checking the host key", "check the known_hosts file"},
    [SSH_LOGIN] = {"logging in", "check user, key and authorized_keys"},
    [SSH_PROBE] = {"identifying the machine", "check that the user's login shell works"},
    [SSH_UPLOAD] = {"uploading the agent",
                    "check free space and rights of the agent directory, and the network"},
    [SSH_START] = {"starting the agent", "run its command by hand on the machine"},
    [SSH_RUNNING] = {"talking to the agent", "check the machine and the network"},
    [SSH_ENDING] = {"ending", ""},
};
static_assert(sizeof texts / sizeof texts[0] == SSH_OVER, "texts for each phase but the last");

enum ssh_step ssh_fail(struct ssh *l, enum err_code code, const char *remedy, const char *fmt, ...)
{
    char cause[768];
    struct err why;
    va_list ap;
    if (l->phase == SSH_OVER)
        return SSH_FAILED;
    va_start(ap, fmt);
    vsnprintf(cause, sizeof cause, fmt, ap);
    va_end(ap);
    err_set(&why, code, NULL, "%s: %s: %s; %s", l->name, texts[l->phase].doing, cause,
            remedy ? remedy : texts[l->phase].remedy);
    link_fail(&l->link, &why);
    return SSH_FAILED;
}

const char *ssh_lib_error(struct ssh *l)
{
    char *text = NULL;
    libssh2_session_last_error(l->session, &text, NULL, 0);
    return text && *text ? text : "no reason given";
}

enum ssh_step ssh_fail_lib(struct ssh *l, int rc, const char *what)
{
    return ssh_fail(l, ERR_NODE_LOST, NULL, "%s: %s (libssh2 error %d)", what, ssh_lib_error(l),
                    rc);
}

void ssh_progress(struct ssh *l)
{
    (void)uv_timer_again(&l->deadline); /* its repeat value is the limit */
}

size_t ssh_unsent(const struct ssh *l)
{
    return l->out.len + (l->tcp ? uv_stream_get_write_queue_size((uv_stream_t *)l->tcp) : 0);
}

void ssh_file_free(struct ssh_file *f)
{
    f->kind->free(f);
    free(f->path);
    free(f);
}

void ssh_file_drop(struct ssh *l)
{
    if (l->file)
        ssh_file_free(l->file);
    l->file = NULL;
}
