/* SPDX-License-Identifier: MIT
 *
 * Makes the settings of a link over SSH out of a machine and its group.
 */
#include "scheduler/site/site.h"

#define MS_PER_S 1000
/* Factor on connect_timeout: a login may take longer than a connection, because sshd asks name
 * services and PAM. */
#define LOGIN_TIMES 2
/* Factor on connect_timeout for a command, or an upload that has stalled: more than the 5 s that an
 * agent waits for another agent. */
#define COMMAND_TIMES 3

struct node_ssh_config site_ssh_config(const struct site *s, const struct site_machine *m)
{
    const struct site_group *g = m->group;
    return (struct node_ssh_config){
        .host = m->host,
        .port = m->port,
        .user = g->user,
        .identity = g->identity,
        .agent_socket = g->agent_socket,
        .password = g->password,
        .known_hosts = s->known_hosts,
        .strict = s->strict_host_keys,
        .become = g->become,
        .agents = s->agents,
        .root = g->node_root,
        .connect_ms = s->connect_timeout_s * MS_PER_S,
        .login_ms = LOGIN_TIMES * s->connect_timeout_s * MS_PER_S,
        .command_ms = COMMAND_TIMES * s->connect_timeout_s * MS_PER_S,
        .keepalive_s = s->keepalive_s,
        .dead_ms = s->dead_after_s * MS_PER_S,
    };
}
