/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/agent/epoch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"

#define TEXT_MAX 256

static bool is_plain(const char *id)
{
    size_t n = strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return n > 0 && n < sizeof((struct agent_epoch *)0)->id && id[n] == '\0';
}

/* Reads "TERM ID\n", the form that keep() writes. False: the text has another form. */
static bool parse(struct agent_epoch *ep, char *text)
{
    char *id;
    errno = 0;
    long long term = strtoll(text, &id, 10);
    if (errno || id == text || term < 1 || *id++ != ' ')
        return false;
    id[strcspn(id, "\n")] = '\0';
    if (!is_plain(id))
        return false;
    ep->term = term;
    memcpy(ep->id, id, strlen(id) + 1);
    return true;
}

int epoch_open(struct agent_epoch *ep, const char *root, struct err *e)
{
    char *path = fs_join(root, "epoch"), *text = NULL;
    int rc = 0;
    if (access(path, F_OK) == 0 && (rc = fs_read(path, TEXT_MAX, &text, NULL, e)) == 0 &&
        !parse(ep, text))
        rc = err_set(e, ERR_IO, NULL, "%s is malformed: it must contain a term and an id", path);
    free(text);
    free(path);
    return rc;
}

static int keep(const struct agent_epoch *ep, const char *root, struct err *e)
{
    char *path = fs_join(root, "epoch");
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "%lld %s\n", (long long)ep->term, ep->id);
    int rc = fs_write_atomic(path, b.s, b.len, 0600, e);
    strbuf_free(&b);
    free(path);
    return rc;
}

int epoch_hear(struct agent_epoch *ep, const char *root, const struct node_epoch *said,
               struct err *e)
{
    ep->speaks = said->term;
    if (said->term < ep->term || said->term == 0 ||
        (said->term == ep->term && !strcmp(said->id, ep->id)))
        return 0;
    if (said->term < 0 || !is_plain(said->id))
        return err_set(e, ERR_PROTOCOL, "epoch",
                       "the epoch %lld '%.80s' is not valid: its term must be 1 or more, and its "
                       "id of a-z, 0-9 and '-'",
                       (long long)said->term, said->id);
    ep->term = said->term;
    snprintf(ep->id, sizeof ep->id, "%s", said->id);
    return keep(ep, root, e);
}

int epoch_may_change(const struct agent_epoch *ep, const char *op, struct err *e)
{
    if (ep->speaks >= ep->term)
        return 0;
    return err_set(e, ERR_CONFLICT, "epoch",
                   "'%s' is refused: this node works for a newer daemon (term %lld; this request "
                   "comes from term %lld); stop one of them",
                   op, (long long)ep->term, (long long)ep->speaks);
}
