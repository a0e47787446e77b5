/* SPDX-License-Identifier: MIT
 *
 * Functions shared by the subcommands of `batchaid nodes`.
 */
#include <stdio.h>
#include <stdlib.h>

#include "daemon/cli/cmd_nodes.h"
#include "daemon/config/state.h"
#include "daemon/serve/agent_path.h"
#include "lib/arena.h"
#include "lib/strbuf.h"

#define NAMES_SHOWN 8

void nodes_explain_inventory(const char *what)
{
    fprintf(stderr,
            "%s\n"
            "Machines that run sshd are used once the configuration names them, as in\n\n"
            "    inventory:\n"
            "      - hosts: gpu[01-16].rack1\n"
            "        user: batchai\n"
            "        identity: /etc/batchaid/id_ed25519\n\n"
            "and the daemon was started with --config FILE; see `batchaid help config`.\n",
            what);
}

int nodes_unknown(const char *name, const char *(*name_at)(const void *ctx, size_t i),
                  const void *ctx, size_t n, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < n && i < NAMES_SHOWN; i++)
        strbuf_printf(&b, "%s%s", i ? ", " : "", name_at(ctx, i));
    if (n > NAMES_SHOWN)
        strbuf_printf(&b, " and %zu more", n - NAMES_SHOWN);
    int rc = err_set(e, ERR_MACHINE_NOT_FOUND, name, "there is no machine '%s'; there %s %s", name,
                     n == 1 ? "is" : "are", n ? b.s : "none");
    strbuf_free(&b);
    return rc;
}

int nodes_load_site(const struct options *o, const struct config *c, struct daemon_site *site,
                    struct err *e)
{
    struct state s = {.dir = NULL};
    char *agent = NULL;
    int rc = state_locate(o->state_dir, c->state_dir, &s, e);
    if (rc == 0)
        rc = site_load(c, &s, site, e);
    if (rc == 0)
        rc = (agent = agent_path_find(e)) ? site_load_agents(site, agent, false, e) : -1;
    free(agent);
    state_free(&s);
    return rc;
}
