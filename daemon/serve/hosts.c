/* SPDX-License-Identifier: MIT */
#include "daemon/serve/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/strbuf.h"

#define LABELS_MAX 3

static const struct {
    const char *label[LABELS_MAX]; /* before the suffix */
    /* the suffix after the label, without the daemon's name: "core." of core.localhost */
    const char *below;
    /* the offset of the list of the site's suffixes in struct config */
    size_t extra;
} kinds[API_HOSTS] = {
#define STORAGE_HOSTS(...)                                                                         \
    {                                                                                              \
        {__VA_ARGS__}, "core.", offsetof(struct config, storage_suffixes)                          \
    }
    [HOSTS_BLOB] = STORAGE_HOSTS("*.blob."),
    [HOSTS_FILE] = STORAGE_HOSTS("*.file."),
    [HOSTS_UNSERVED] = STORAGE_HOSTS("*.queue.", "*.table.", "*.dfs."),
#undef STORAGE_HOSTS
    [HOSTS_VAULT] = {{"*."}, "vault.", offsetof(struct config, vault_suffixes)},
    [HOSTS_BATCH] = {{"*.*."}, "batch.", offsetof(struct config, batch_suffixes)},
};

static const struct config_list *extra_of(const struct config *c, int kind)
{
    return (const struct config_list *)((const char *)c + kinds[kind].extra);
}

static char *pattern(const char *label, const char *below, const char *suffix)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "%s%s%s", label, below, suffix);
    return strbuf_take(&b);
}

static void add_suffixes(const struct config *c, struct api_suffix out[HOSTS_SUFFIXES])
{
    static const int of[HOSTS_SUFFIXES] = {HOSTS_BLOB, HOSTS_VAULT, HOSTS_BATCH};
    for (int i = 0; i < HOSTS_SUFFIXES; i++) {
        const struct config_list *extra = extra_of(c, of[i]);
        out[i] = (struct api_suffix){kinds[of[i]].below, extra->n > 0 ? extra->items[0] : NULL};
    }
}

void hosts_make(const char *const *names, size_t n_names, const struct config *c, struct hosts *out)
{
    *out = (struct hosts){0};
    add_suffixes(c, out->suffixes);
    for (int k = 0; k < API_HOSTS; k++) {
        if (!kinds[k].label[0])
            continue;
        const struct config_list *extra = extra_of(c, k);
        char **list = xcalloc(LABELS_MAX * (n_names + extra->n) + 1, sizeof *list);
        out->of[k] = list;
        for (int l = 0; l < LABELS_MAX && kinds[k].label[l]; l++) {
            for (size_t i = 0; i < n_names; i++)
                *list++ = pattern(kinds[k].label[l], kinds[k].below, names[i]);
            for (size_t i = 0; i < extra->n; i++)
                *list++ = pattern(kinds[k].label[l], "", extra->items[i]);
        }
    }
}

void hosts_free(struct hosts *h)
{
    for (int k = 0; k < API_HOSTS; k++) {
        for (size_t i = 0; h->of[k] && h->of[k][i]; i++)
            free(h->of[k][i]);
        free(h->of[k]);
        h->of[k] = NULL;
    }
}

struct config_list hosts_certified(const struct config *c)
{
    const struct config_list *const lists[] = {&c->tls_names, &c->storage_suffixes,
                                               &c->vault_suffixes, &c->batch_suffixes};
    struct config_list all = {xcalloc(c->tls_names.n + c->storage_suffixes.n + c->vault_suffixes.n +
                                          c->batch_suffixes.n + 1,
                                      sizeof *all.items),
                              0};
    for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++)
        for (size_t i = 0; i < lists[l]->n; i++)
            all.items[all.n++] = lists[l]->items[i];
    return all;
}
