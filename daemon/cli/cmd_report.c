/* SPDX-License-Identifier: MIT
 *
 * `batchaid report`: prints what users, groups and others have used. `batchaid job` prints what one
 * job has used, and advice.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/json_print.h"
#include "daemon/cli/table.h"

#define MS_PER_HOUR 3600000.0
#define US_PER_HOUR 3600000000.0

/* The columns of the table and of CSV: members of the reply. */
enum unit { NUMBER, MILLISECONDS, MICROSECONDS, BYTES };
static const struct amount {
    const char *member, *more; /* a second member that is added to `member`; NULL: none */
    const char *shown, *csv;   /* shown NULL: only in CSV */
    enum unit unit;
} amounts[] = {{"runs", NULL, "RUNS", "runs", NUMBER},
               {"attempts", NULL, NULL, "attempts", NUMBER},
               {"nodeMilliseconds", NULL, "NODE-H", "node_seconds", MILLISECONDS},
               {"coreMilliseconds", NULL, NULL, "core_seconds", MILLISECONDS},
               {"gpuMilliseconds", NULL, "GPU-H", "gpu_seconds", MILLISECONDS},
               {"gpuBusyMilliseconds", NULL, "BUSY", "gpu_busy_seconds", MILLISECONDS},
               {"gpuIdleMilliseconds", NULL, "IDLE", "gpu_idle_seconds", MILLISECONDS},
               {"gpuUnknownMilliseconds", NULL, "UNKNOWN", "gpu_unknown_seconds", MILLISECONDS},
               {"gpuLostMilliseconds", NULL, "LOST", "gpu_lost_seconds", MILLISECONDS},
               {"userMicroseconds", "kernelMicroseconds", "CPU-H", "cpu_seconds", MICROSECONDS},
               {"waitMilliseconds", NULL, "WAIT-H", "wait_seconds", MILLISECONDS},
               {"readBytes", NULL, "READ", "read_bytes", BYTES},
               {"writtenBytes", NULL, "WRITTEN", "written_bytes", BYTES},
               {"memoryPeakBytes", NULL, "PEAK", "memory_peak_bytes", BYTES},
               {"unmeasured", NULL, NULL, "unmeasured", NUMBER}};
#define N_AMOUNTS (sizeof amounts / sizeof amounts[0])

static long long amount_of(const json_t *o, const struct amount *a)
{
    long long n = json_integer_value(json_object_get(o, a->member));
    return n + (a->more ? json_integer_value(json_object_get(o, a->more)) : 0);
}

/* --- report ----------------------------------------------------------------------------------- */

static void add_amount(struct table *t, const json_t *o, const struct amount *a)
{
    long long n = amount_of(o, a);
    struct strbuf b = STRBUF_INIT;
    if (a->unit == BYTES)
        table_bytes(n, &b);
    if (a->unit == NUMBER)
        table_addf(t, "%lld", n);
    else if (a->unit == BYTES)
        table_add(t, TABLE_PLAIN, b.s);
    else
        table_addf(t, "%.2f", (double)n / (a->unit == MILLISECONDS ? MS_PER_HOUR : US_PER_HOUR));
    strbuf_free(&b);
}

static void add_row(struct table *t, const char *name, const json_t *o)
{
    table_add(t, TABLE_PLAIN, name);
    for (size_t i = 0; i < N_AMOUNTS; i++)
        if (amounts[i].shown)
            add_amount(t, o, &amounts[i]);
}

static void print_table(const json_t *reply)
{
    struct table_column columns[N_AMOUNTS + 1] = {{.elide = true}};
    struct table t;
    size_t i, n = 1;
    const json_t *row;
    char *by = xstrdup(jobs_text(reply, "by"));
    for (char *c = by; *c; c++)
        *c = (char)(*c - 'a' + 'A');
    columns[0].name = by;
    for (i = 0; i < N_AMOUNTS; i++)
        if (amounts[i].shown)
            columns[n++] = (struct table_column){.name = amounts[i].shown, .right = true};
    table_init(&t, columns, n);
    json_array_foreach(json_object_get(reply, "value"), i, row)
        add_row(&t, jobs_text(row, "name"), row);
    add_row(&t, "total", json_object_get(reply, "total"));
    struct table_screen screen = table_screen_of(stdout);
    table_print(&t, &screen, stdout);
    table_free(&t);
    free(by);
}

static void print_quoted(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text);
    }
    putchar('"');
}

/* Prints seconds with all digits, so that sums of printed values are exact. */
static void print_exact(long long n, enum unit unit)
{
    if (unit == MILLISECONDS)
        printf(",%lld.%03lld", n / 1000, n % 1000);
    else if (unit == MICROSECONDS)
        printf(",%lld.%06lld", n / 1000000, n % 1000000);
    else
        printf(",%lld", n);
}

static void print_csv(const json_t *reply)
{
    size_t i;
    const json_t *row;
    fputs(jobs_text(reply, "by"), stdout);
    for (i = 0; i < N_AMOUNTS; i++)
        printf(",%s", amounts[i].csv);
    putchar('\n');
    json_array_foreach(json_object_get(reply, "value"), i, row) {
        print_quoted(jobs_text(row, "name"));
        for (size_t k = 0; k < N_AMOUNTS; k++)
            print_exact(amount_of(row, &amounts[k]), amounts[k].unit);
        putchar('\n');
    }
}

static int report(struct daemon_client *c, const struct options *o, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    json_t *reply = NULL;
    strbuf_puts(&path, "/batchaid/usage");
    jobs_filter(c, &path, "by", o->by);
    jobs_filter(c, &path, "from", o->from);
    jobs_filter(c, &path, "to", o->to);
    int rc = client_call(c, "GET", path.s, NULL, &reply, e);
    if (rc == 0 && o->json)
        json_print(reply);
    else if (rc == 0 && o->csv)
        print_csv(reply);
    else if (rc == 0)
        print_table(reply);
    json_decref(reply);
    strbuf_free(&path);
    return rc;
}

int cmd_report(const struct options *o)
{
    return jobs_with_client(o, report);
}

/* --- job -------------------------------------------------------------------------------------- */

static double hours(const json_t *use, const char *member)
{
    return (double)json_integer_value(json_object_get(use, member)) / MS_PER_HOUR;
}

static void print_bytes(const char *what, const json_t *use, const char *member)
{
    struct strbuf b = STRBUF_INIT;
    long long n = json_integer_value(json_object_get(use, member));
    table_bytes(n, &b);
    printf("%-12s%s\n", what, n > 0 ? b.s : "-");
    strbuf_free(&b);
}

static void print_use(const json_t *use)
{
    static const struct amount cpu = {"userMicroseconds", "kernelMicroseconds", NULL, NULL,
                                      MICROSECONDS};
    printf("%-12s%.2f hours\n", "nodes", hours(use, "nodeMilliseconds"));
    printf("%-12s%.2f hours: %.2f busy, %.2f idle, %.2f unknown; %.2f lost to requeues\n", "GPUs",
           hours(use, "gpuMilliseconds"), hours(use, "gpuBusyMilliseconds"),
           hours(use, "gpuIdleMilliseconds"), hours(use, "gpuUnknownMilliseconds"),
           hours(use, "gpuLostMilliseconds"));
    printf("%-12s%.2f hours of %.2f\n", "processors", (double)amount_of(use, &cpu) / US_PER_HOUR,
           hours(use, "coreMilliseconds"));
    print_bytes("memory", use, "memoryPeakBytes");
    print_bytes("read", use, "readBytes");
    print_bytes("written", use, "writtenBytes");
    printf("%-12s%.2f hours\n", "waited", hours(use, "waitMilliseconds"));
}

static int job(struct daemon_client *c, const struct options *o, struct err *e)
{
    json_t *found = NULL, *reply = NULL;
    int rc = jobs_find(c, o->args[0], &found, e);
    if (rc == 0)
        rc = jobs_ask_about(c, "/batchaid/usage", json_array_get(found, 0), &reply, e);
    if (rc == 0 && o->json) {
        json_print(reply);
    } else if (rc == 0) {
        const json_t *j = json_object_get(reply, "job");
        printf("%s in %s/%s/%s, %s\n", jobs_text(j, "name"), jobs_text(j, "resourceGroup"),
               jobs_text(j, "workspace"), jobs_text(j, "experiment"), jobs_text(j, "state"));
        print_use(json_object_get(reply, "use"));
        printf("%s\n", jobs_text(reply, "advice"));
    }
    json_decref(found);
    json_decref(reply);
    return rc;
}

int cmd_job(const struct options *o)
{
    return jobs_with_client(o, job);
}
