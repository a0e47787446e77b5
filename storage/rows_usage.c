/* SPDX-License-Identifier: MIT
 *
 * The rows of the record of use, and of the counts for metrics; see rows.h.
 */
#include "model/usage.h"
#include "storage/columns.h"
#include "storage/tallies.h"

DOMAIN(total, 0, INT64_MAX, 0);

#define ROW struct usage
static const struct st_column usage_columns[] = {
    OWN_ID("id", id),
    INT64("subject_id", subject_id, id),
    INT64("run_id", run_id, id),
    INT("attempt", attempt, count),
    INT("rank", rank, count),
    INT("owner_kind", owner_kind, run_kind),
    INT64("owner_id", owner_id, id),
    INT("idx", idx, count),
    TEXT("name", name),
    TEXT("node_name", node_name),
    TEXT("machine", machine),
    INT64("begin_ms", begin_ms, instant),
    INT64("end_ms", end_ms, instant),
    INT("gpus", gpus, count),
    INT("slots", slots, count),
    INT("cores", cores, count),
    INT64("memory", memory, memory),
    BOOL("again", again),
    INT64("wait_ms", wait_ms, amount),
    INT64("busy_ms", busy_ms, amount),
    INT64("idle_ms", idle_ms, amount),
    USED_COLUMNS,
};
#undef ROW
ROW_OF(usage_row, struct usage, usage, "usage", "r");

#define ROW struct usage_live
static const struct st_column usage_ended_columns[] = {
    FROM_TEXT("s.owner", subject.owner),
    FROM_TEXT("s.subscription", subject.subscription),
    FROM_TEXT("s.group_name", subject.group),
    FROM_TEXT("s.home", subject.home),
    FROM_TEXT("s.experiment", subject.experiment),
    FROM_TEXT("s.pool", subject.pool),
    FROM_TEXT("s.vm_size", subject.vm_size),
    FROM_TEXT("s.gpu", subject.gpu),
    FROM_INT64("r.id", row.id, id),
    FROM_INT64("r.subject_id", subject.id, id),
    FROM_INT64("r.run_id", row.run_id, id),
    FROM_INT("r.attempt", row.attempt, count),
    FROM_INT("r.rank", row.rank, count),
    FROM_INT("r.owner_kind", row.owner_kind, run_kind),
    FROM_INT64("r.owner_id", row.owner_id, id),
    FROM_INT("r.idx", row.idx, count),
    FROM_TEXT("r.name", row.name),
    FROM_TEXT("r.node_name", row.node_name),
    FROM_INT64("r.begin_ms", row.begin_ms, instant),
    FROM_INT64("r.end_ms", row.end_ms, instant),
    FROM_INT("r.gpus", row.gpus, count),
    FROM_INT("r.slots", row.slots, count),
    FROM_INT("r.cores", row.cores, count),
    FROM_INT64("r.memory", row.memory, memory),
    FROM_BOOL("r.again", row.again),
    FROM_INT64("r.wait_ms", row.wait_ms, amount),
    FROM_INT64("r.busy_ms", row.busy_ms, amount),
    FROM_INT64("r.idle_ms", row.idle_ms, amount),
    FROM_BOOL("r.measured", row.used.known),
    FROM_INT64("r.user_us", row.used.user_us, amount),
    FROM_INT64("r.kernel_us", row.used.kernel_us, amount),
    FROM_INT64("r.memory_peak", row.used.memory_peak, amount),
    FROM_INT64("r.memory_used", row.used.memory_used, amount),
    FROM_INT64("r.read_bytes", row.used.read_bytes, amount),
    FROM_INT64("r.write_bytes", row.used.write_bytes, amount),
    FROM_INT64("r.read_ops", row.used.read_ops, amount),
    FROM_INT64("r.write_ops", row.used.write_ops, amount),
};
ROW_OF(usage_ended_row, struct usage_live, usage_ended, NULL, "r");

static const struct st_column usage_live_columns[] = {
    FROM_TEXT("coalesce(j.created_by, bj.created_by, '')", subject.owner),
    FROM_TEXT("coalesce(g.subscription, bg.subscription, '')", subject.subscription),
    FROM_TEXT("coalesce(g.name, bg.name, '')", subject.group),
    FROM_TEXT("coalesce(w.name, ba.name, '')", subject.home),
    FROM_TEXT("coalesce(x.name, bj.name, '')", subject.experiment),
    FROM_TEXT("coalesce(c.name, bp.name, '')", subject.pool),
    FROM_TEXT("p.vm_size", subject.vm_size),
    FROM_TEXT(SQL_USAGE_GPU_MODEL, subject.gpu),
    FROM_INT64("p.id", pool_id, id),
    FROM_INT64("a.run_id", row.run_id, id),
    FROM_INT("a.attempt", row.attempt, count),
    FROM_INT("a.rank", row.rank, count),
    FROM_INT("u.owner_kind", row.owner_kind, run_kind),
    FROM_INT64("u.owner_id", row.owner_id, id),
    FROM_INT("u.idx", row.idx, count),
    FROM_TEXT("coalesce(j.name, bt.name, '')", row.name),
    FROM_TEXT("a.node_name", row.node_name),
    FROM_TEXT("m.name", row.machine),
    FROM_INT64("a.created_us / 1000", row.begin_ms, instant),
    FROM_INT(SQL_USAGE_GPUS, row.gpus, number),
    FROM_INT("a.slots", row.slots, count),
    FROM_INT(SQL_USAGE_CORES, row.cores, count),
    FROM_INT64("a.memory", row.memory, memory),
    FROM_INT64(SQL_USAGE_WAIT, row.wait_ms, amount),
    FROM_INT64(SQL_USAGE_BUSY, row.busy_ms, amount),
    FROM_INT64(SQL_USAGE_IDLE, row.idle_ms, amount),
};
#undef ROW
ROW_OF(usage_live_row, struct usage_live, usage_live, NULL, "a");

/* A sum of numbers from machines: at most USAGE_MOST, like each of the numbers. The daemon measures
 * the other values itself, and their sums are never too large. */
#define SUM(column)                                                                                \
    "min((min(sum(" column " >> 30), 1 << 30) << 30) + sum(" column " & 0x3fffffff), 1 << 60)"
#define ROW struct usage_total
static const struct st_column usage_total_columns[] = {
    FROM_TEXT("s.owner", subject.owner),
    FROM_TEXT("s.subscription", subject.subscription),
    FROM_TEXT("s.group_name", subject.group),
    FROM_TEXT("s.home", subject.home),
    FROM_TEXT("s.experiment", subject.experiment),
    FROM_TEXT("s.pool", subject.pool),
    FROM_TEXT("s.vm_size", subject.vm_size),
    FROM_TEXT("s.gpu", subject.gpu),
    FROM_INT64("s.id", subject.id, id),
    FROM_INT64("sum(d.runs)", sums.runs, total),
    FROM_INT64("sum(d.attempts)", sums.attempts, total),
    FROM_INT64("sum(d.node_ms)", sums.node_ms, total),
    FROM_INT64("sum(d.core_ms)", sums.core_ms, total),
    FROM_INT64("sum(d.gpu_ms)", sums.gpu_ms, total),
    FROM_INT64("sum(d.busy_ms)", sums.busy_ms, total),
    FROM_INT64("sum(d.idle_ms)", sums.idle_ms, total),
    FROM_INT64("sum(d.lost_ms)", sums.lost_ms, total),
    FROM_INT64("sum(d.wait_ms)", sums.wait_ms, total),
    FROM_INT64(SUM("d.user_us"), sums.user_us, total),
    FROM_INT64(SUM("d.kernel_us"), sums.kernel_us, total),
    FROM_INT64(SUM("d.read_bytes"), sums.read_bytes, total),
    FROM_INT64(SUM("d.write_bytes"), sums.write_bytes, total),
    FROM_INT64("sum(d.unmeasured)", sums.unmeasured, total),
    FROM_INT64("max(d.memory_peak)", sums.memory_peak, total),
};
#undef ROW
ROW_OF(usage_total_row, struct usage_total, usage_total, NULL, "d");

#define ROW struct pool_tally
static const struct st_column pool_tally_columns[] = {
    FROM_INT64("t.pool_id", pool_id, id),
    FROM_INT("t.kind", kind, pool_kind),
    FROM_INT("t.state", state, node_state),
    FROM_BOOL("t.is_local", local),
    FROM_BOOL("t.is_off", off),
    FROM_BOOL("t.runs", runs),
    FROM_INT("count(*)", nodes, number),
    FROM_INT("sum(t.gpus)", gpus, number),
    FROM_INT64("sum(t.taken)", taken_gpus, amount),
    FROM_INT64("sum(t.held)", held_ms, amount),
    FROM_INT64("sum(min(t.busy, t.held))", busy_ms, amount),
    FROM_INT64("sum(min(t.idle, t.held - min(t.busy, t.held)))", idle_ms, amount),
};
#undef ROW
ROW_OF(pool_tally_row, struct pool_tally, pool_tally, NULL, "t");

#define ROW struct owner_tally
static const struct st_column owner_tally_columns[] = {
    FROM_TEXT("t.owner", owner),
    FROM_INT64("sum(t.held)", held_ms, amount),
    FROM_INT64("sum(min(t.busy, t.held))", busy_ms, amount),
    FROM_INT64("sum(min(t.idle, t.held - min(t.busy, t.held)))", idle_ms, amount),
};
#undef ROW
ROW_OF(owner_tally_row, struct owner_tally, owner_tally, NULL, "t");
