/* SPDX-License-Identifier: MIT
 *
 * Filters of lists as SQL. Literals are bound, never written into the statement; their parameters
 * have the numbers after those of the statement.
 */
#include "lib/strbuf.h"
#include "model/filter.h"
#include "storage/storage_priv.h"

#define FIRST_PARAMETER 100

struct filter_writer {
    struct strbuf sql;
    const char *const *columns;
    int next; /* number of the next parameter */
};

/* Writes one comparison. IS, IS NOT and ifnull() are used because other comparisons with a null
 * column are neither true nor false, which matters under NOT. */
static void write_term(struct filter_writer *w, const struct filter_term *t, bool negated)
{
    static const char *const operators[FILTER_OPS] = {
        [FILTER_EQ] = "IS", [FILTER_NE] = "IS NOT", [FILTER_LT] = "<",
        [FILTER_LE] = "<=", [FILTER_GT] = ">",      [FILTER_GE] = ">=",
    };
    const char *column = w->columns[t->property];
    bool orders = t->op != FILTER_EQ && t->op != FILTER_NE;
    strbuf_puts(&w->sql, orders && negated ? "ifnull(" : "(");
    if (t->op == FILTER_STARTS_WITH) {
        strbuf_printf(&w->sql, "%s >= ?%d AND %s < ?%d || char(1114111)", column, w->next, column,
                      w->next);
        w->next++;
    } else {
        strbuf_printf(&w->sql, "%s %s ?%d", column, operators[t->op], w->next++);
    }
    strbuf_puts(&w->sql, orders && negated ? ", 0)" : ")");
}

static void write_filter(struct filter_writer *w, const struct filter *f, bool negated)
{
    switch (f->kind) {
    case FILTER_TERM:
        write_term(w, &f->term, negated);
        return;
    case FILTER_NOT:
        strbuf_puts(&w->sql, "(NOT ");
        write_filter(w, f->left, true);
        break;
    case FILTER_AND:
    case FILTER_OR:
        strbuf_putc(&w->sql, '(');
        write_filter(w, f->left, negated);
        strbuf_puts(&w->sql, f->kind == FILTER_AND ? " AND " : " OR ");
        write_filter(w, f->right, negated);
        break;
    }
    strbuf_putc(&w->sql, ')');
}

/* Binds the literals in the order in which write_term() wrote their parameters. */
static void bind_filter(struct q *q, const struct filter *f, int *next)
{
    if (f->kind == FILTER_TERM) {
        q_literal(q, (*next)++, &f->term.literal);
        return;
    }
    bind_filter(q, f->left, next);
    if (f->kind != FILTER_NOT)
        bind_filter(q, f->right, next);
}

void q_read_filtered(struct q *q, struct storage *st, enum stmt_id id, const struct filter *f,
                     const char *const *columns)
{
    struct filter_writer w = {.columns = columns, .next = FIRST_PARAMETER};
    int next = FIRST_PARAMETER;
    if (!f) {
        q_read(q, st, id);
        return;
    }
    write_filter(&w, f, false);
    st_turn_read(st);
    *q = (struct q){.st = st, .id = id};
    q->rc = st_prepare_filtered(st, id, w.sql.s, &q->own);
    strbuf_free(&w.sql);
    q->s = q->own;
    st->open_queries++;
    st->counters.statements++;
    bind_filter(q, f, &next);
}
