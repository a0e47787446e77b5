/* SPDX-License-Identifier: MIT
 *
 * Usages: clusters, and vCPUs by VM family. The number of vCPUs of a size follows from its name,
 * which contains family and size; exceptions are from the real service's table of 2018.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/arm/batchai/batchai.h"
#include "api/arm/batchai/lookup.h"
#include "api/arm/batchai/routes.h"
#include "api/arm/kind.h"
#include "storage/storage.h"

#define FAMILIES  7
#define CORES_MAX 1024 /* a larger number in a name is no number of cores */
static const struct family {
    const char *name;
    unsigned versions;
} families[FAMILIES] = {
    {"D", V_ALL},           {"Dv2", V_ALL},       {"NC", V_ALL}, {"NCv2", V_2018_05_01},
    {"NCv3", V_2018_05_01}, {"ND", V_2018_05_01}, {"NV", V_ALL},
};

/* The family of a size: the first rule whose patterns match the name. */
static const struct size_rule {
    const char *prefix, *suffix; /* patterns for the name without STANDARD_ */
    int family;                  /* index into families */
} size_rules[] = {
    {"NC", "_V2", 3}, {"NC", "_V3", 4}, {"NC", "", 2},    {"ND", "", 5},
    {"NV", "", 6},    {"D", "_V2", 1},  {"DS", "_V2", 1}, {"D", "", 0},
};

struct quota_sums {
    int64_t total[2], family[2][FAMILIES]; /* cores; [dedicated, low priority] */
};

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

static int family_of(const char *size)
{
    for (size_t i = 0; i < sizeof size_rules / sizeof size_rules[0]; i++) {
        const struct size_rule *rule = &size_rules[i];
        if (strncmp(size, rule->prefix, strlen(rule->prefix)) == 0 && ends_with(size, rule->suffix))
            return rule->family;
    }
    return -1;
}

/* The number in names of the D series is not a core count; all other names contain their cores. */
static int cores_of(const char *size)
{
    static const struct {
        const char *size;
        int cores;
    } odd[] = {{"D1", 1},  {"D2", 2},  {"D3", 4},  {"D4", 8},   {"D5", 16},
               {"D11", 2}, {"D12", 4}, {"D13", 8}, {"D14", 16}, {"D15", 20}};
    char base[16];
    size_t n = strcspn(size, "_");
    snprintf(base, sizeof base, "%.*s", (int)(n < sizeof base ? n : sizeof base - 1), size);
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        if (strcmp(base, odd[i].size) == 0)
            return odd[i].cores;
    long cores = strtol(base + strcspn(base, "0123456789"), NULL, 10);
    return cores >= 1 && cores <= CORES_MAX ? (int)cores : 1;
}

static void add_cluster(struct quota_sums *u, const struct cluster *c)
{
    const struct node_counts *n = &c->counts;
    int nodes = n->idle + n->running + n->preparing + n->unusable + n->leaving;
    const char *size = strncmp(c->vm_size, "STANDARD_", 9) == 0 ? c->vm_size + 9 : c->vm_size;
    int which = c->vm_priority == VM_LOWPRIORITY;
    int64_t cores = (int64_t)nodes * cores_of(size);
    int family = family_of(size);
    assert(family < FAMILIES);
    u->total[which] += cores;
    if (family >= 0)
        u->family[which][family] += cores;
}

static void add_row(json_t *rows, const char *value, const char *localized, int64_t current,
                    int64_t limit)
{
    json_array_append_new(rows,
                          json_pack("{s:s, s:I, s:I, s:{s:s, s:s}}", "unit", "Count",
                                    "currentValue", (json_int_t)current, "limit", (json_int_t)limit,
                                    "name", "value", value, "localizedValue", localized));
}

static void add_core_rows(json_t *rows, enum api_version v, const struct quota_sums *u, int which,
                          int limit)
{
    static const char *const value[2] = {"Dedicated", "LowPriority"};
    static const char *const localized[2] = {"Dedicated", "Low Priority"};
    char a[100], b[100];
    snprintf(a, sizeof a, "Total Cluster %s Regional vCPUs", value[which]);
    snprintf(b, sizeof b, "Total Cluster %s Regional vCPUs", localized[which]);
    add_row(rows, a, b, u->total[which], limit);
    for (int f = 0; f < FAMILIES; f++) {
        if (!(families[f].versions & (unsigned)v))
            continue;
        snprintf(a, sizeof a, "Standard %s Family Cluster %s vCPUs", families[f].name,
                 value[which]);
        snprintf(b, sizeof b, "Standard %s Family Cluster %s vCPUs", families[f].name,
                 localized[which]);
        add_row(rows, a, b, u->family[which][f], limit);
    }
}

struct replied *usages_list(struct request *r)
{
    struct err e;
    struct cluster_rows clusters;
    int64_t unfinished;
    struct st_filter all = {.subscription = arm_subscription(r)};
    if (find_subscription(r, &e) < 0 ||
        st_cluster_list(arm_of(r)->storage, &r->arena, &all,
                        &(struct st_page){.limit = batchai_of(r)->cluster_quota + 1}, &clusters,
                        &e) < 0 ||
        st_job_unfinished(arm_of(r)->storage, arm_subscription(r), &unfinished, &e) < 0)
        return reply_err(r, &e);
    struct quota_sums u = {0};
    for (size_t i = 0; i < clusters.n; i++)
        add_cluster(&u, &clusters.items[i]);
    json_t *rows = json_array();
    add_row(rows, "Clusters", "Clusters", (int64_t)clusters.n, batchai_of(r)->cluster_quota);
    add_core_rows(rows, r->version, &u, 0, batchai_of(r)->core_quota);
    add_core_rows(rows, r->version, &u, 1, batchai_of(r)->core_quota);
    if (r->version == V_2018_03_01) /* jobs have no quota here: show the largest number */
        add_row(rows, "ActiveJobs", "Active Jobs", unfinished, INT32_MAX);
    return reply_json(r, 200, json_pack("{s:o}", "value", rows));
}
