/* SPDX-License-Identifier: MIT
 *
 * See rows.h. The aliases are the statements' aliases of tables.
 */
#include "storage/rows.h"
#include "storage/overview.h"

#include <assert.h>
#include <string.h>

#include "lib/strbuf.h"
#include "storage/columns.h"

#define ROW struct resource_group
static const struct st_column group_columns[] = {
    OWN_ID("id", id),
    TEXT("subscription", subscription),
    TEXT("name", name),
    TEXT("location", location),
    TEXT("tags", tags),
    INT("prov_state", prov_state, prov_state),
    INT64("created_us", created_us, instant),
    INT64("updated_us", updated_us, instant),
    TEXT("created_by", created_by),
};
#undef ROW
ROW_OF(group_row, struct resource_group, group, "resource_group", "g");

#define ROW struct workspace
static const struct st_column workspace_columns[] = {
    OWN_ID("id", id),
    INT64("group_id", group_id, id),
    TEXT("name", name),
    TEXT("location", scope.location),
    TEXT("tags", tags),
    INT("prov_state", prov_state, prov_state),
    INT64("prov_us", prov_us, instant),
    INT64("created_us", created_us, instant),
    INT64("updated_us", updated_us, instant),
    TEXT("created_by", created_by),
    FROM_TEXT("g.subscription", scope.subscription),
    FROM_TEXT("g.name", scope.group),
};
#undef ROW
ROW_OF(workspace_row, struct workspace, workspace, "workspace", "w");

#define ROW struct experiment
static const struct st_column experiment_columns[] = {
    OWN_ID("id", id),
    INT64("workspace_id", workspace_id, id),
    TEXT("name", name),
    INT("prov_state", prov_state, prov_state),
    INT64("prov_us", prov_us, instant),
    INT64("created_us", created_us, instant),
    INT64("updated_us", updated_us, instant),
    TEXT("created_by", created_by),
    FROM_TEXT("g.subscription", scope.subscription),
    FROM_TEXT("g.name", scope.group),
    FROM_TEXT("w.location", scope.location),
    FROM_TEXT("w.name", scope.workspace),
};
#undef ROW
ROW_OF(experiment_row, struct experiment, experiment, "experiment", "r");

#define ROW struct file_server
static const struct st_column file_server_columns[] = {
    OWN_ID("id", id),
    INT64("workspace_id", workspace_id, id),
    TEXT("name", name),
    TEXT("guid", guid),
    TEXT("doc", doc),
    INT("prov_state", prov_state, prov_state),
    INT64("prov_us", prov_us, instant),
    INT64("created_us", created_us, instant),
    INT64("updated_us", updated_us, instant),
    TEXT("created_by", created_by),
    FROM_TEXT("g.subscription", scope.subscription),
    FROM_TEXT("g.name", scope.group),
    FROM_TEXT("w.location", scope.location),
    FROM_TEXT("w.name", scope.workspace),
    SECRET("secrets"),
};
#undef ROW
ROW_OF(file_server_row, struct file_server, file_server, "file_server", "r");

#define ROW struct pool
static const struct st_column pool_columns[] = {
    OWN_ID("id", id),
    INT("kind", kind, pool_kind),
    TEXT("vm_size", vm_size),
    INT("vm_priority", vm_priority, vm_priority),
    INT("scale_kind", scale.kind, scale_kind),
    INT("scale_target", scale.target, wish),
    INT("scale_dealloc", scale.dealloc, dealloc_option),
    INT("scale_minimum", scale.minimum, wish),
    INT("scale_maximum", scale.maximum, wish),
    INT("scale_initial", scale.initial, wish),
    INT("auto_target", auto_target, wish),
    INT("alloc_state", alloc_state, alloc_state),
    INT64("alloc_us", alloc_us, instant),
    BOOL("is_new", is_new),
    BOOL("going", going),
    TEXT("errors", errors),
    INT("scale_low", scale.low, wish),
    INT("slots", slots, count),
    BOOL("spread", spread),
};
#undef ROW
ROW_OF(pool_row, struct pool, pool, "pool", "p");

#define ROW struct cluster
static const struct st_column cluster_columns[] = {
    INT64("id", id, id),
    INT64("workspace_id", workspace_id, id),
    TEXT("name", name),
    TEXT("guid", guid),
    TEXT("doc", doc),
    INT("prov_state", prov_state, prov_state),
    INT64("prov_us", prov_us, instant),
    INT64("created_us", created_us, instant),
    INT64("updated_us", updated_us, instant),
    TEXT("created_by", created_by),
    FROM_TEXT("p.vm_size", vm_size),
    FROM_INT("p.vm_priority", vm_priority, vm_priority),
    FROM_INT("p.scale_kind", scale.kind, scale_kind),
    FROM_INT("p.scale_target", scale.target, wish),
    FROM_INT("p.scale_dealloc", scale.dealloc, dealloc_option),
    FROM_INT("p.scale_minimum", scale.minimum, wish),
    FROM_INT("p.scale_maximum", scale.maximum, wish),
    FROM_INT("p.scale_initial", scale.initial, wish),
    FROM_INT("p.auto_target", auto_target, wish),
    FROM_INT("p.alloc_state", alloc_state, alloc_state),
    FROM_INT64("p.alloc_us", alloc_us, instant),
    FROM_BOOL("p.is_new", is_new),
    FROM_TEXT("p.errors", errors),
    FROM_TEXT("g.subscription", scope.subscription),
    FROM_TEXT("g.name", scope.group),
    FROM_TEXT("w.location", scope.location),
    FROM_TEXT("w.name", scope.workspace),
    SECRET("secrets"),
};
#undef ROW
ROW_OF(cluster_row, struct cluster, cluster, "cluster", "r");

#define ROW struct run
static const struct st_column run_columns[] = {
    OWN_ID("id", id),
    INT64("pool_id", pool_id, id),
    INT("owner_kind", owner_kind, run_kind),
    INT64("owner_id", owner_id, id),
    INT("idx", idx, count),
    TEXT("guid", guid),
    INT("priority", priority, number),
    INT("nodes", nodes, wish),
    BOOL("need_whole", need_whole),
    INT("need_slots", need.slots, count),
    INT("need_gpus", need.gpus, count),
    INT("need_cores", need.cores, count),
    INT64("need_memory", need.memory, memory),
    INT64("max_wall_us", max_wall_us, duration),
    INT("phase", state, run_state),
    INT("stop", stop, run_stop),
    INT("attempt", attempt, count),
    INT64("start_us", start_us, instant),
    INT64("end_us", end_us, instant),
    INT("failure", failure, failure),
    INT("held", held, run_hold),
    INT("retried", retried, count),
    INT("runs", runs, count),
    INT("number", number, count),
    ID("group_id", group_id),
    ID("near_id", near_id),
    BOOL("own_class", own_class),
};
#undef ROW
ROW_OF(run_row, struct run, run, "run", "u");

#define ROW struct dependency
static const struct st_column dependency_columns[] = {
    INT("owner_kind", owner_kind, kind),
    INT64("owner_id", owner_id, id),
    INT("awaited_kind", awaited_kind, kind),
    INT64("awaited_id", awaited_id, id),
    TEXT("name", name),
    INT("wanted", wanted, after),
    INT("state", state, dependency_state),
    INT("ended", ended, ended_how),
};
#undef ROW
ROW_OF(dependency_row, struct dependency, dependency, "dependency", "dp");

#define ROW struct job
static const struct st_column job_columns[] = {
    OWN_ID("id", id),
    INT64("experiment_id", experiment_id, id),
    ID("cluster_id", cluster_id),
    TEXT("name", name),
    TEXT("guid", guid),
    TEXT("doc", doc),
    TEXT("cluster_ref", cluster_ref),
    FROM_INT("u.priority", priority, number),
    FROM_INT("u.nodes", node_count, wish),
    FROM_BOOL("u.need_whole = 0", part),
    FROM_INT("u.need_slots", need.slots, count),
    FROM_INT("u.need_gpus", need.gpus, count),
    FROM_INT("u.need_cores", need.cores, count),
    FROM_INT64("u.need_memory", need.memory, memory),
    FROM_INT("u.runs", runs, count),
    FROM_INT64("u.max_wall_us", max_wall_us, duration),
    FROM_INT("u.attempt", attempt, count),
    INT("prov_state", prov_state, prov_state),
    INT("exec_state", exec_state, exec_state),
    INT64("prov_us", prov_us, instant),
    INT64("exec_us", exec_us, instant),
    INT64("created_us", created_us, instant),
    INT64("updated_us", updated_us, instant),
    INT64("start_us", start_us, instant),
    INT64("end_us", end_us, instant),
    MAYBE("exit_code", exit_code, has_exit_code),
    TEXT("errors", errors),
    TEXT("created_by", created_by),
    FROM_TEXT("g.subscription", scope.subscription),
    FROM_TEXT("g.name", scope.group),
    FROM_TEXT("w.location", scope.location),
    FROM_TEXT("w.name", scope.workspace),
    FROM_TEXT("r.name", scope.experiment),
    SECRET("secrets"),
};
#undef ROW
ROW_OF(job_row, struct job, job, "job", "j");

/* The displayed columns of the row of a job. */
#define ROW struct job
static const struct st_column job_shown_columns[] = {
    OWN_ID("id", id),
    TEXT("name", name),
    TEXT("guid", guid),
    TEXT("doc", doc),
    INT("prov_state", prov_state, prov_state),
    INT("exec_state", exec_state, exec_state),
    INT64("prov_us", prov_us, instant),
    INT64("exec_us", exec_us, instant),
    INT64("created_us", created_us, instant),
    INT64("start_us", start_us, instant),
    INT64("end_us", end_us, instant),
    MAYBE("exit_code", exit_code, has_exit_code),
    TEXT("errors", errors),
};
#undef ROW
ROW_OF(job_shown_row, struct job, job_shown, NULL, "j");

#define ROW struct node
static const struct st_column node_columns[] = {
    OWN_ID("id", id),
    INT64("pool_id", pool_id, id),
    TEXT("name", name),
    INT("ordinal", ordinal, count),
    INT("state", state, node_state),
    INT64("state_us", state_us, instant),
    INT64("created_us", created_us, instant),
    INT64("idle_us", idle_us, instant),
    INT("slots", has.slots, count),
    INT("gpus", has.gpus, count),
    INT("cores", has.cores, count),
    INT64("memory", has.memory, memory),
    TEXT("devices", devices),
    TEXT("incarnation", incarnation),
    INT64("booted_us", booted_us, instant),
    INT64("emptied", emptied, bits),
    INT("failure", failure, failure),
    TEXT("errors", errors),
    TEXT("why", why),
    ID("machine_id", machine_id),
    TEXT("epoch", epoch),
    BOOL("reclaimed", reclaimed),
    FROM_INT(SQL_NODE_LIVE, live, count),
    FROM_INT("n.aside", aside, count),
    INT("vm_priority", vm_priority, vm_priority),
    INT("off", off, dealloc_option),
    INT("wish", wish, node_wish),
    INT("how", how, dealloc_option),
    FROM_INT("np.kind", pool_kind, pool_kind),
    FROM_INT("np.slots", pool_slots, count),
};
#undef ROW
ROW_OF(node_row, struct node, node, "node", "n");

#define ROW struct allocation
static const struct st_column allocation_columns[] = {
    INT64("run_id", run_id, id),
    INT("attempt", attempt, count),
    INT("rank", rank, count),
    ID("node_id", node_id),
    TEXT("node_name", node_name),
    INT("slots", takes.slots, count),
    INT("gpus", takes.gpus, count),
    INT("cores", takes.cores, count),
    INT64("memory", takes.memory, memory),
    TEXT("devices", devices),
    INT("state", state, allocation_state),
    BOOL("kept", kept),
    INT64("term", term, term),
    TEXT("task_prefix", task_prefix),
    INT64("created_us", created_us, instant),
    INT64("released_us", released_us, instant),
    INT64("busy_us", busy_us, instant),
    INT64("idle_us", idle_us, instant),
    USED_COLUMNS,
};
#undef ROW
ROW_OF(allocation_row, struct allocation, allocation, "allocation", "a");

#define ROW struct node_use
static const struct st_column node_use_columns[] = {
    FROM_INT64("n.id", node_id, id),
    FROM_INT64("n.pool_id", pool_id, id),
    FROM_TEXT("n.name", node),
    FROM_INT("n.state", state, node_state),
    FROM_INT(SQL_NODE_LIVE, live, count),
    FROM_BOOL(SQL_NODE_UNUSED, unused),
    FROM_TEXT("n.why", why),
    FROM_ID("n.machine_id", machine_id),
    FROM_TEXT("coalesce(c.name, bp.name)", pool),
    FROM_TEXT("coalesce(w.name, ba.name)", workspace),
    FROM_INT("n.vm_priority", vm_priority, vm_priority),
    FROM_TEXT(SQL_NODE_JOBS, runs),
    FROM_INT("n.slots", has.slots, count),
    FROM_INT("n.gpus", has.gpus, count),
    FROM_INT("n.cores", has.cores, count),
    FROM_INT64("n.memory", has.memory, memory),
    FROM_INT(SQL_SLOTS_TAKEN, taken.slots, count),
    FROM_INT(SQL_GPUS_TAKEN, taken.gpus, count),
    FROM_INT(SQL_CORES_TAKEN, taken.cores, count),
    FROM_INT64(SQL_MEMORY_TAKEN, taken.memory, memory),
};
#undef ROW
ROW_OF(node_use_row, struct node_use, node_use, NULL, "n");

#define ROW struct node_use
static const struct st_column node_brief_columns[] = {
    FROM_INT64("n.id", node_id, id),
    FROM_INT64("n.pool_id", pool_id, id),
    FROM_TEXT("n.name", node),
    FROM_INT("n.state", state, node_state),
    FROM_INT(SQL_NODE_LIVE, live, count),
    FROM_ID("n.machine_id", machine_id),
    FROM_TEXT("coalesce(c.name, bp.name)", pool),
    FROM_INT("n.vm_priority", vm_priority, vm_priority),
    FROM_INT("n.gpus", has.gpus, count),
};
#undef ROW
ROW_OF(node_brief_row, struct node_use, node_brief, NULL, "n");

#define ROW struct node_tally
static const struct st_column node_tally_columns[] = {
    FROM_INT("n.state", state, number),
    FROM_BOOL(SQL_NODE_RUNS, runs),
    FROM_INT("count(*)", n, number),
};
#undef ROW
ROW_OF(node_tally_row, struct node_tally, node_tally, NULL, "n");

#define ROW struct pool_place
static const struct st_column pool_place_columns[] = {
    FROM_TEXT("coalesce(g.subscription, bg.subscription)", subscription),
    FROM_TEXT("coalesce(g.name, bg.name)", group),
    FROM_TEXT("coalesce(w.name, ba.name)", home),
    FROM_TEXT("coalesce(c.name, bp.name)", pool),
};
#undef ROW
ROW_OF(pool_place_row, struct pool_place, pool_place, NULL, "p");

#define ROW struct kept_dir
static const struct st_column kept_dir_columns[] = {
    FROM_INT64("a.run_id", run_id, id),
    FROM_INT("a.attempt", attempt, count),
    FROM_INT("a.rank", rank, count),
    FROM_TEXT("u.guid || '-' || a.attempt", name),
};
#undef ROW
ROW_OF(kept_dir_row, struct kept_dir, kept_dir, NULL, "a");

#define ROW struct held_part
static const struct st_column held_part_columns[] = {
    FROM_INT64("a.node_id", node_id, id),
    FROM_INT64("a.run_id", run_id, id),
    FROM_BOOL("a.devices IS NULL", whole),
    FROM_INT("a.slots", takes.slots, count),
    FROM_INT("a.gpus", takes.gpus, count),
    FROM_INT("a.cores", takes.cores, count),
    FROM_INT64("a.memory", takes.memory, memory),
    FROM_INT("u.phase", state, run_state),
    FROM_INT64("u.start_us", start_us, instant),
    FROM_INT64("u.max_wall_us", max_wall_us, duration),
};
#undef ROW
ROW_OF(held_part_row, struct held_part, held_part, NULL, "a");

#define ROW struct doomed_job
static const struct st_column doomed_job_columns[] = {
    FROM_INT64("j.id", id, id),
    FROM_INT64(SQL_ID_OF_RUN, run_id, id),
    FROM_INT(SQL_RUNS_OF_JOB, runs, count),
    FROM_ID("j.cluster_id", cluster_id),
    FROM_BOOL(SQL_DOOMED_ABOVE, with_experiment),
};
#undef ROW
ROW_OF(doomed_job_row, struct doomed_job, doomed_job, NULL, "j");

#define ROW struct machine_row
static const struct st_column machine_columns[] = {
    OWN_ID("id", id),       TEXT("name", name),   BOOL("drained", drained),
    TEXT("reason", reason), TEXT("facts", facts), INT64("contact_us", contact_us, instant),
};
#undef ROW
ROW_OF(machine_row_row, struct machine_row, machine, "machine", "m");

static const struct st_column id_columns[] = {{"id", "id", COLUMN_INT64, true, 0, 0, &id}};
const struct st_row id_row = {"id", NULL, "", sizeof(int64_t), id_columns, 1};

static const struct st_row *const all_rows[] = {&group_row,
                                                &workspace_row,
                                                &experiment_row,
                                                &file_server_row,
                                                &pool_row,
                                                &cluster_row,
                                                &run_row,
                                                &job_row,
                                                &node_row,
                                                &allocation_row,
                                                &node_use_row,
                                                &node_brief_row,
                                                &pool_place_row,
                                                &pool_tally_row,
                                                &owner_tally_row,
                                                &kept_dir_row,
                                                &usage_row,
                                                &usage_ended_row,
                                                &usage_live_row,
                                                &usage_total_row,
                                                &account_row,
                                                &share_row,
                                                &item_row,
                                                &item_change_row,
                                                &kept_put_row,
                                                &uncommitted_row,
                                                &node_tally_row,
                                                &batch_wait_row,
                                                &batch_seeded_file_row,
                                                &batch_file_shown_row,
                                                &change_row,
                                                &snapshot_row,
                                                &event_row,
                                                &operation_row,
                                                &epoch_row,
                                                &machine_row_row,
                                                &doomed_job_row,
                                                &job_shown_row,
                                                &vault_row,
                                                &secret_row,
                                                &secret_version_row,
                                                &held_part_row,
                                                &dependency_row,
                                                &run_secret_row,
                                                &identity_row,
                                                &credential_row,
                                                &role_assignment_row,
                                                &subscription_row,
                                                &batch_account_row,
                                                &batch_application_row,
                                                &batch_package_row,
                                                &batch_job_row,
                                                &batch_task_row,
                                                &batch_count_row,
                                                &batch_cleanup_row,
                                                &batch_chore_row,
                                                &batch_node_total_row,
                                                &batch_barred_row,
                                                &batch_pool_row,
                                                &batch_sample_row,
                                                &batch_pool_tasks_row,
                                                &batch_schedule_row,
                                                &batch_certificate_row,
                                                &node_setup_row,
                                                &batch_node_user_row,
                                                &batch_user_gone_row,
                                                &batch_subtask_row};

static const struct st_row *find(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof all_rows / sizeof all_rows[0]; i++)
        if (strlen(all_rows[i]->name) == n && memcmp(all_rows[i]->name, name, n) == 0)
            return all_rows[i];
    return NULL;
}

/* Finds the list of columns for a text such as "p.scale_kind": of the table with the alias p. */
static const struct st_row *row_of_alias(const char *sql, const char *dot)
{
    for (size_t i = 0; i < sizeof all_rows / sizeof all_rows[0]; i++)
        if (all_rows[i]->table && strlen(all_rows[i]->alias) == (size_t)(dot - sql) &&
            memcmp(all_rows[i]->alias, sql, (size_t)(dot - sql)) == 0)
            return all_rows[i];
    return NULL;
}

struct st_column_name st_column_name(const struct st_row *row, const struct st_column *c)
{
    const char *dot = c->is ? strchr(c->is, '.') : NULL;
    const struct st_row *of = dot ? row_of_alias(c->is, dot) : NULL;
    if (of)
        return (struct st_column_name){of->table, dot + 1};
    return (struct st_column_name){row->table ? row->table : row->name, c->name ? c->name : c->is};
}

/* The number of values that an insert binds. */
static int bound(const struct st_row *row)
{
    int n = 0;
    for (size_t i = 0; i < row->n; i++)
        n += !row->columns[i].read_only;
    return n;
}

static void add_select(struct strbuf *out, const struct st_row *row)
{
    const char *glue = "";
    for (size_t i = 0; i < row->n; i++) {
        const struct st_column *c = &row->columns[i];
        if (c->kind == COLUMN_SECRET)
            continue;
        strbuf_puts(out, glue);
        if (!c->is) {
            strbuf_puts(out, row->alias);
            strbuf_putc(out, '.');
        }
        strbuf_puts(out, c->is ? c->is : c->name);
        glue = ", ";
    }
}

static void add_insert(struct strbuf *out, const struct st_row *row)
{
    const char *glue = "";
    strbuf_printf(out, "%s (", row->table);
    for (size_t i = 0; i < row->n; i++) {
        if (row->columns[i].read_only)
            continue;
        strbuf_printf(out, "%s%s", glue, row->columns[i].name);
        glue = ", ";
    }
    strbuf_puts(out, ") VALUES (");
    for (int i = 1; i <= bound(row); i++)
        strbuf_printf(out, "%s?%d", i > 1 ? ", " : "", i);
    strbuf_putc(out, ')');
}

void st_sql_expand(struct strbuf *out, const char *text, const char *filter)
{
    for (const char *open; (open = strchr(text, '{')) != NULL;) {
        const char *close = strchr(open, '}');
        assert(close);
        bool insert = open[1] == '+';
        const char *name = open + 1 + insert;
        if (*name == '?') {
            strbuf_add(out, text, (size_t)(open - text));
            strbuf_puts(out, filter ? filter : "1");
            text = close + 1;
            continue;
        }
        const struct st_row *row = find(name, (size_t)(close - name));
        assert(row && (!insert || row->table));
        strbuf_add(out, text, (size_t)(open - text));
        (insert ? add_insert : add_select)(out, row);
        text = close + 1;
    }
    strbuf_puts(out, text);
}
