/* SPDX-License-Identifier: MIT
 *
 * A step is described by an order in the script's arena; a `struct carrying` carries the order out.
 * It outlives the arena if the script is halted meanwhile.
 */
#include "scheduler/fleet/copy/copy_step.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/guid.h"
#include "lib/strbuf.h"

struct carry_order {
    struct carry_what what;
    bool archive;
    struct carrying *work; /* the work, while it runs */
};

struct carrying {
    struct carry_order *order; /* NULL: the script was halted */
    struct script_turn *turn;
    struct node_link *link;
    struct carry *carry;
    char *archive; /* its temporary path on the node until it is unpacked; NULL: not an archive */
};

static void end(struct carrying *j, const struct err *why)
{
    struct script_turn *turn = j->order ? j->turn : NULL;
    if (j->order)
        j->order->work = NULL;
    free(j->archive);
    free(j);
    if (turn)
        script_turn_end(turn, why);
}

static void on_unpacked(void *ctx, const struct err *why)
{
    end(ctx, why);
}

static void on_carried(void *ctx, const struct err *why)
{
    struct carrying *j = ctx;
    j->carry = NULL;
    if (why || !j->archive)
        end(j, why);
    else
        node_ask(j->link, REQUEST(unpack, .path = j->archive, .target = j->order->what.path),
                 on_unpacked, j);
}

static void carry(struct carrying *j)
{
    struct carry_what what = j->order->what;
    if (j->archive) {
        what.as = NULL;
        what.path = j->archive;
        what.mode = 0600;
    }
    j->carry = carry_begin(j->link, &what, on_carried, j);
}

/* The node has answered whether the archive's directory exists. If not, the archive is sent. */
static void on_looked(void *ctx, const struct err *why)
{
    struct carrying *j = ctx;
    if (j->order && why && why->code == ERR_FILE_NOT_FOUND)
        carry(j);
    else
        end(j, why);
}

static void begin(void *ctx, struct node_link *link, struct script_turn *turn)
{
    struct carry_order *o = ctx;
    struct carrying *j = xcalloc(1, sizeof *j);
    assert(!o->work);
    o->work = j;
    *j = (struct carrying){.order = o, .turn = turn, .link = link};
    if (!o->archive) {
        carry(j);
        return;
    }
    char guid[GUID_SIZE];
    struct strbuf name = STRBUF_INIT;
    guid_new(guid);
    strbuf_printf(&name, "%s.%s.zip", o->what.path, guid);
    j->archive = strbuf_take(&name);
    node_ask(link, REQUEST(unpack, .target = o->what.path), on_looked, j);
}

static void halt(void *ctx)
{
    struct carry_order *o = ctx;
    struct carrying *j = o->work;
    if (!j)
        return;
    o->work = NULL;
    j->order = NULL;
    if (!j->carry)
        return;
    carry_halt(j->carry);
    end(j, NULL);
}

static void add(struct script *sc, struct arena *a, const struct script_label *label,
                const struct carry_what *what, bool archive)
{
    struct carry_order *o = arena_alloc(a, sizeof *o);
    *o = (struct carry_order){.what = *what, .archive = archive};
    const struct script_work work = {.begin = begin, .halt = halt, .ctx = o};
    script_work(sc, label, &work);
}

void script_put_file(struct script *sc, struct arena *a, const struct script_label *label,
                     const struct carry_what *what)
{
    add(sc, a, label, what, false);
}

void script_put_archive(struct script *sc, struct arena *a, const struct script_label *label,
                        const struct carry_what *what)
{
    add(sc, a, label, what, true);
}
