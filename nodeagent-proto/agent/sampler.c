/* SPDX-License-Identifier: MIT
 *
 * Sources: Documentation/accounting/psi.rst of Linux; proc(5).
 */
#include "nodeagent-proto/agent/sampler.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "nodeagent-proto/agent/file_text.h"
#include "nodeagent-proto/agent/gpu_lines.h"
#include "nodeagent-proto/agent/gpus.h"
#include "nodeagent-proto/agent/usage.h"

#define SECOND_US INT64_C(1000000)

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (int64_t)t.tv_sec * SECOND_US + t.tv_nsec / 1000;
}

int64_t sampler_read_stall(const char *text)
{
    static const char label[] = "total=";
    const char *end = strchr(text, '\n'), *at = strstr(text, label);
    if (strncmp(text, "some ", 5) != 0 || !at || (end && at > end))
        return SAMPLE_UNKNOWN;
    at += sizeof label - 1;
    return *at >= '0' && *at <= '9' ? strtoll(at, NULL, 10) : SAMPLE_UNKNOWN;
}

static void count_stalls(int64_t out[SAMPLER_STALLS])
{
    static const char *const names[SAMPLER_STALLS] = {"cpu", "memory", "io"};
    for (int i = 0; i < SAMPLER_STALLS; i++) {
        char *text = file_text("/proc/pressure", names[i]);
        out[i] = text ? sampler_read_stall(text) : SAMPLE_UNKNOWN;
        free(text);
    }
}

/* (now - before) * scale / whole; SAMPLE_UNKNOWN if the counter was reset in between. */
static int64_t rate(int64_t before, int64_t now, int64_t scale, int64_t whole)
{
    if (before < 0 || now < before || whole <= 0)
        return SAMPLE_UNKNOWN;
    return (int64_t)((double)(now - before) * (double)scale / (double)whole + 0.5);
}

void sampler_compare(const struct sampler_counts *before, const struct sampler_counts *now,
                     struct node_sample *out)
{
    const struct node_usage *u = &before->usage, *v = &now->usage;
    int64_t us = now->at_us - before->at_us;
    int64_t *stalls[SAMPLER_STALLS] = {&out->pressure_cpu, &out->pressure_memory,
                                       &out->pressure_io};
    if (before->at_us == 0)
        return;
    out->cpu_permille =
        rate(u->cpu_busy_ticks, v->cpu_busy_ticks, SAMPLE_PERMILLE, v->cpu_ticks - u->cpu_ticks);
    out->disk_read = rate(u->disk_read_bytes, v->disk_read_bytes, SECOND_US, us);
    out->disk_written = rate(u->disk_write_bytes, v->disk_write_bytes, SECOND_US, us);
    out->network_in = rate(u->network_in_bytes, v->network_in_bytes, SECOND_US, us);
    out->network_out = rate(u->network_out_bytes, v->network_out_bytes, SECOND_US, us);
    for (int i = 0; i < SAMPLER_STALLS; i++)
        *stalls[i] = rate(before->stalled_us[i], now->stalled_us[i], SAMPLE_PERMILLE, us);
}

/* --- GPUs ------------------------------------------------------------------------------------- */

static void add_gpu(struct node_sample *out, const struct gpu_sample *g, const char *uuid)
{
    struct gpu_sample *to = &out->gpus[out->n_gpus];
    if (g)
        *to = *g;
    else
        gpu_sample_clear(to);
    if (uuid)
        snprintf(to->uuid, sizeof to->uuid, "%s", uuid);
    to->index = out->n_gpus++;
}

static void add_amd(struct node_sample *out, const json_t *gpu, const char *drm)
{
    struct gpu_sample g;
    char dir[256];
    gpu_sample_clear(&g);
    snprintf(dir, sizeof dir, "%s/renderD%lld/device", drm,
             (long long)json_integer_value(json_object_get(gpu, "render")));
    if (json_object_get(gpu, "render"))
        gpu_amd_read(dir, &g);
    add_gpu(out, &g, NULL);
}

static bool has_uuid(const struct node_sample *s, const char *uuid)
{
    for (int i = 0; i < s->n_gpus; i++)
        if (strcmp(s->gpus[i].uuid, uuid) == 0)
            return true;
    return false;
}

void sampler_add_gpus(const struct gpu_watch *w, const char *list, const char *drm,
                      struct node_sample *out)
{
    json_t *gpus = json_loads(list, 0, NULL), *gpu;
    size_t i;
    json_array_foreach(gpus, i, gpu) {
        const char *vendor = json_string_value(json_object_get(gpu, "vendor"));
        const char *uuid = json_string_value(json_object_get(gpu, "uuid"));
        if (out->n_gpus == SAMPLE_GPUS)
            break;
        if (vendor && strcmp(vendor, "amd") == 0)
            add_amd(out, gpu, drm);
        else
            add_gpu(out, uuid ? gpu_watch_find(w, uuid) : NULL, uuid);
    }
    for (int k = 0; k < w->n_gpus && out->n_gpus < SAMPLE_GPUS; k++) {
        const struct gpu_sample *g = gpu_watch_at(w, k);
        if (g && !has_uuid(out, g->uuid))
            add_gpu(out, g, NULL);
    }
    snprintf(out->why, sizeof out->why, "%s", w->why);
    json_decref(gpus);
}

/* --- the whole sample ------------------------------------------------------------------------- */

static void take_levels(const char *root, const struct node_usage *u, struct node_sample *out)
{
    struct statvfs v;
    out->memory_total = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    if (u->memory_bytes > 0)
        out->memory_used = u->memory_bytes;
    if (statvfs(root, &v) == 0) {
        out->disk_free = (int64_t)v.f_bavail * (int64_t)v.f_frsize;
        out->disk_total = (int64_t)v.f_blocks * (int64_t)v.f_frsize;
    }
}

void sampler_take(struct sampler *s, const char *root, const char *list, bool watch,
                  struct node_sample *out)
{
    struct gpu_sample *gpus = out->gpus;
    struct sampler_counts now = {.at_us = now_us()};
    sample_clear(out);
    out->gpus = gpus;
    usage_look(root, &now.usage);
    count_stalls(now.stalled_us);
    sampler_compare(&s->before, &now, out);
    s->before = now;
    take_levels(root, &now.usage, out);
    if (watch)
        gpu_watch_want(&s->gpus);
    else
        gpu_watch_stop(&s->gpus);
    sampler_add_gpus(&s->gpus, list, DRM, out);
    sample_believe(out);
}

void sampler_close(struct sampler *s)
{
    gpu_watch_stop(&s->gpus);
}
