/* SPDX-License-Identifier: MIT
 *
 * The errors in a pool's properties: why nodes are missing, which nodes get no further run, and the
 * problems of unusable nodes.
 */
#include <string.h>

#include "scheduler/pass.h"

static struct failure shortage(struct pass *p, const struct pass_class *c)
{
    const struct front_words *w = p->front->words;
    const struct plan_scale_result *r = &c->plan;
    struct pool of = p->pool;
    of.vm_priority = c->priority;
    struct failure f = {.code = FAIL_NODE_CAPACITY_REACHED, .exit_code = -1};
    if (c->on_machines) {
        f.message = machines_shortage(p->s->fleet, p->a, &of, r->target, r->missing);
        f.remedy = front_text(w, p->a,
                              "make another {pool} smaller, undrain a machine, or add machines to "
                              "the inventory; allocation then continues automatically");
    } else {
        f.message = front_say(w, p->a,
                              "%d of the %d nodes asked for cannot be allocated: all {pools} "
                              "together may have %d local nodes",
                              r->missing, r->target, p->s->local_nodes);
        f.remedy = front_text(w, p->a,
                              "make another {pool} smaller, or raise the limit in the "
                              "configuration; allocation then continues automatically");
    }
    return f;
}

/* Fills *out if a node with runs gets no further run because its disk is full; its row stays in
 * state idle. False: this is not the case. */
static bool closed(struct pass *p, const struct node *nd, struct failure *out)
{
    const struct front_words *w = p->front->words;
    const char *why = fleet_node_closed(p->s->fleet, nd->id);
    if (!why || nd->state != NODE_IDLE || nd->live == 0)
        return false;
    *out = (struct failure){
        .code = FAIL_NODE_DISK,
        .message = front_say(w, p->a, "The node gets no further {run}: %s", why),
        .node = nd->name,
        .remedy = "free disk space there, or remount the disk if it has become read-only",
        .exit_code = -1};
    return true;
}

/* Fills *out with the reason why a node gets no further run although its row permits it: its
 * machine is drained, or not in the inventory. False: there is none. */
static bool withdrawn(struct pass *p, const struct node *nd, struct failure *out)
{
    const struct front_words *w = p->front->words;
    struct machine_use m;
    if (!machines_use(p->s->fleet, nd->machine_id, &m) || nd->state == NODE_LEAVING ||
        (m.in_inventory && !m.drained))
        return false;
    *out = (struct failure){.node = nd->name, .exit_code = -1};
    if (!m.in_inventory) {
        if (nd->state == NODE_UNUSABLE)
            return false;
        out->code = FAIL_NODE_NOT_IN_INVENTORY;
        out->message = front_say(
            w, p->a, "Machine %s is not in the inventory any more: it gets no further {run}",
            m.name);
        out->remedy =
            m.leaves
                ? "none needed: the node leaves as soon as nothing runs there"
                : front_text(w, p->a, "put it back into the inventory, or make the {pool} smaller");
        return true;
    }
    bool reason = m.reason && *m.reason;
    out->code = FAIL_NODE_DRAINED;
    out->message = front_say(w, p->a, "Machine %s is drained and gets no further {run}%s%s", m.name,
                             reason ? ": " : "", reason ? m.reason : "");
    out->remedy = "'batchaid nodes undrain' puts it back into use";
    return true;
}

int pass_write_errors(struct pass *p, struct err *e)
{
    const struct front_words *w = p->front->words;
    const char *errors, *lack = NULL;
    struct failure f;
    if (p->scale.missing > 0 || p->replaceable)
        id_map_put(&p->s->short_pools, p->pool.id, NULL);
    else
        id_map_remove(&p->s->short_pools, p->pool.id);
    const char **each = arena_alloc(p->a, (3 * p->n_nodes + PASS_CLASSES) * sizeof *each);
    size_t n = 0;
    for (size_t i = 0; i < p->n_classes; i++)
        if (p->classes[i].shut) {
            lack = "a test's fault keeps new nodes from it";
            each[n] = p->classes[i].error;
            n += each[n] != NULL;
        } else if (p->classes[i].plan.missing > 0) {
            f = shortage(p, &p->classes[i]);
            each[n++] = failure_append(p->a, NULL, &f);
            lack = f.message;
        }
    for (size_t i = 0; i < p->n_nodes; i++) {
        if (withdrawn(p, &p->nodes[i], &f))
            each[n++] = failure_append(p->a, NULL, &f);
        if (closed(p, &p->nodes[i], &f))
            each[n++] = failure_append(p->a, NULL, &f);
        if (p->nodes[i].state == NODE_UNUSABLE)
            each[n++] = p->nodes[i].errors;
    }
    errors = failure_join(p->a, each, n);
    if (strcmp(errors ? errors : "", p->pool.errors ? p->pool.errors : "") == 0)
        return 0;
    if (p->scale.missing > 0)
        LOG_WARN(p->s->log, "pool.short_of_nodes", LF_STR("kind", w->pool), LF_STR("pool", p->name),
                 LF_INT("missing", p->scale.missing), LF_STR("why", lack));
    return st_pool_set_errors(p->s->st, p->pool.id, errors, e);
}
