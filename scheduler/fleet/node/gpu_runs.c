/* SPDX-License-Identifier: MIT
 *
 * Tells a machine which runs use which of its GPUs, in the files that dcgm-exporter reads for its
 * labels: there is a file for each GPU, named by the GPU's number, with the name of a run in each
 * line. If the node's tenants change the text of a file, and over each new link, all files are
 * written.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/strbuf.h"
#include "scheduler/fleet/node/node_priv.h"

/* The programs that read the files run as other users. */
#define MODE 0644

static const char *directory_of(const struct node_rt *rt)
{
    const struct site *s = rt->fleet->cfg.site;
    return s && rt->machine ? s->gpu_runs_dir : NULL;
}

static const char *text_of(const struct node_rt *rt, struct arena *a, int gpu)
{
    const char *text = "";
    for (const struct node_tenant *t = rt->tenants; t; t = t->next)
        if (t->name && tenant_has_gpu(t, gpu))
            text = arena_concat(a, text, t->name, "\n");
    return text;
}

/* Also called when the link breaks; over the next link all files are written again. */
static void on_written(void *ctx, const struct err *why)
{
    const struct node_rt *rt = ctx;
    if (why && node_rt_usable(rt))
        LOG_WARN(rt->fleet->log, "node.gpu_mapping_file_not_written", LF_STR("node", rt->name),
                 LF_STR("why", why->msg));
}

void node_tell_gpu_runs(struct node_rt *rt)
{
    const char *dir = directory_of(rt);
    struct strbuf all = STRBUF_INIT;
    struct arena a;
    if (!dir)
        return;
    arena_init(&a);
    const char **texts = arena_alloc(&a, ((size_t)rt->seen.has.gpus + 1) * sizeof *texts);
    strbuf_printf(&all, "%s\n", dir);
    for (int i = 0; i < rt->seen.has.gpus; i++) {
        texts[i] = text_of(rt, &a, i);
        strbuf_printf(&all, "%d\n%s", i, texts[i]);
    }
    bool changed = !rt->gpu_runs || strcmp(rt->gpu_runs, all.s) != 0;
    for (int i = 0; changed && i < rt->seen.has.gpus; i++)
        node_ask(rt->contact.link,
                 REQUEST(write_file, .path = arena_printf(&a, "%s/%d", dir, i), .text = texts[i],
                         .mode = MODE),
                 on_written, rt);
    if (changed)
        node_set_text(&rt->gpu_runs, all.s);
    strbuf_free(&all);
    arena_free(&a);
}

void node_forget_gpu_runs(struct node_rt *rt)
{
    free(rt->gpu_runs);
    rt->gpu_runs = NULL;
}

void node_gpu_runs_changed(const struct node_rt *rt)
{
    if (directory_of(rt))
        wake(rt->fleet->wakes, &woken_node, rt->id);
}
