/* SPDX-License-Identifier: MIT
 *
 * Settings of an SSH link: checks and copies them before the link begins, and frees them.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/loop_uv.h"
#include "nodeagent-proto/link/ssh/ssh_priv.h"

enum { DEFAULT_CONNECT_MS = 10000, DEFAULT_LOGIN_MS = 20000, DEFAULT_COMMAND_MS = 20000 };
enum { DEFAULT_KEEPALIVE_S = 15, DEFAULT_DEAD_MS = 60000, DEFAULT_PORT = 22 };

static void free_secret(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

void ssh_settings_free(struct ssh *l)
{
    char *texts[] = {l->name,        l->host,      l->user, l->identity, l->agent_socket,
                     l->known_hosts, l->agent_dir, l->root, l->become,   l->no_cmd};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free(texts[i]);
    for (size_t k = 0; k < NODE_PROGRAMS; k++)
        free(l->paths[k]);
    free_secret(l->passphrase);
    free_secret(l->password);
}

static char *copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

static int check(const struct node_ssh_config *c, struct err *e)
{
    const char *dir = c->agent_dir;
    if (!c->host || !*c->host || !c->user || !*c->user || !c->known_hosts || !c->agents ||
        !c->files)
        return err_set(e, ERR_CONFIG, NULL,
                       "an SSH node needs a host, a user, a known_hosts file and agents");
    if (c->port < 0 || c->port > 65535)
        return err_set(e, ERR_CONFIG, NULL, "node %s: port %d is not between 1 and 65535", c->host,
                       c->port);
    if (!c->identity && !c->agent_socket && !c->password)
        return err_set(e, ERR_CONFIG, NULL,
                       "node %s: no way to log in; give an identity file, an ssh-agent's socket "
                       "or a password",
                       c->host);
    if (!c->root || c->root[0] != '/')
        return err_set(e, ERR_CONFIG, NULL, "node %s: the node root must be an absolute path",
                       c->host);
    if (dir && dir[0] != '/' && strncmp(dir, "~/", 2) != 0)
        return err_set(e, ERR_CONFIG, NULL,
                       "node %s: agent directory '%s' is neither absolute nor below ~/", c->host,
                       dir);
    return 0;
}

static void copy_texts(struct ssh *l, const struct node_ssh_config *c)
{
    struct strbuf name = STRBUF_INIT;
    strbuf_printf(&name, strchr(c->host, ':') ? "%s@[%s]:%d" : "%s@%s:%d", c->user, c->host,
                  l->port);
    l->name = strbuf_take(&name);
    l->host = copy(c->host);
    l->user = copy(c->user);
    l->identity = copy(c->identity);
    l->passphrase = copy(c->passphrase);
    l->agent_socket = copy(c->agent_socket);
    l->password = copy(c->password);
    l->known_hosts = copy(c->known_hosts);
    l->become = copy(c->become);
    l->agent_dir = copy(c->agent_dir ? c->agent_dir : "~/.cache/batchai-node");
    l->root = copy(c->root);
}

static int or_default(int value, int standard)
{
    return value > 0 ? value : standard;
}

struct ssh *ssh_create(const struct node_ssh_config *c, struct err *e)
{
    if (check(c, e) < 0)
        return NULL;
    if (libssh2_init(0) != 0) {
        err_set(e, ERR_NODE, NULL, "libssh2 cannot be initialized");
        return NULL;
    }
    struct ssh *l = xcalloc(1, sizeof *l);
    l->loop = loop_uv_of(c->loop);
    l->port = or_default(c->port, DEFAULT_PORT);
    l->connect_ms = or_default(c->connect_ms, DEFAULT_CONNECT_MS);
    l->login_ms = or_default(c->login_ms, DEFAULT_LOGIN_MS);
    l->command_ms = or_default(c->command_ms, DEFAULT_COMMAND_MS);
    l->keepalive_s = or_default(c->keepalive_s, DEFAULT_KEEPALIVE_S);
    l->dead_ms = or_default(c->dead_ms, DEFAULT_DEAD_MS);
    l->strict = c->strict;
    l->look = c->look;
    l->yields = c->yields;
    l->agents = c->agents;
    l->files = c->files;
    l->queue_end = &l->queue;
    l->fd = -1;
    copy_texts(l, c);
    return l;
}
