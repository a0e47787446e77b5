/* SPDX-License-Identifier: MIT
 *
 * Reads the files of the NVIDIA and AMD drivers in /proc and /sys, in the order of the GPUs'
 * numbers. A field whose file cannot be read is left out.
 */
#include "nodeagent-proto/agent/gpus.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/gpu_lines.h"
#include "nodeagent-proto/wire/codec.h"

#define NVIDIA_VERSION "/proc/driver/nvidia/version"
#define KFD_NODES      "/sys/class/kfd/kfd/topology/nodes" /* contains AMD GPUs and CPUs */
#define TEXT_MAX       16384

/* Adds the value of a line such as "Model: \t\t Tesla V100" in the driver's description. */
static void add_field(json_t *gpu, const char *name, const char *text, const char *label)
{
    const char *at = strstr(text, label);
    if (!at)
        return;
    at += strlen(label);
    at += strspn(at, " \t");
    json_object_set_new(gpu, name, json_stringn(at, strcspn(at, "\n")));
}

/* Returns the first word that consists of digits and points in a line such as "NVRM version: NVIDIA
 * UNIX x86_64 Kernel Module 535.104.05 Sat Aug 19 ..."; the caller frees it. NULL: there is no such
 * word. */
static char *driver_version(void)
{
    char *text;
    if (fs_read(NVIDIA_VERSION, 16384, &text, NULL, NULL) < 0)
        return NULL;
    text[strcspn(text, "\n")] = '\0';
    char *save, *word = strtok_r(text, " \t", &save);
    while (word && (word[strspn(word, "0123456789.")] || !strchr(word, '.')))
        word = strtok_r(NULL, " \t", &save);
    char *version = word ? xstrdup(word) : NULL;
    free(text);
    return version;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int by_number(const struct dirent **a, const struct dirent **b)
{
    long m = strtol((*a)->d_name, NULL, 10), n = strtol((*b)->d_name, NULL, 10);
    return (m > n) - (m < n);
}

static int is_visible(const struct dirent *de)
{
    return de->d_name[0] != '.';
}

static void add_number(json_t *gpu, const char *name, const char *text, const char *label)
{
    const char *at = strstr(text, label);
    if (at)
        json_object_set_new(gpu, name, json_integer(strtoll(at + strlen(label), NULL, 10)));
}

static void add_nvidia(json_t *list, const char *bus, const char *driver)
{
    char path[512], *text;
    snprintf(path, sizeof path, NVIDIA_GPUS "/%s/information", bus);
    if (fs_read(path, TEXT_MAX, &text, NULL, NULL) < 0)
        return;
    json_t *gpu = json_pack("{s:i, s:s, s:s, s:s*}", "index", (int)json_array_size(list), "vendor",
                            "nvidia", "bus", bus, "driver", driver);
    add_field(gpu, "model", text, "Model:");
    add_field(gpu, "uuid", text, "GPU UUID:");
    add_number(gpu, "minor", text, "Device Minor:");
    json_array_append_new(list, gpu);
    free(text);
}

/* Lists the GPUs sorted by their bus names. All bus names have the same length, so this is also the
 * order of the driver's numbers. */
static void list_nvidia(json_t *list)
{
    struct dirent **found;
    char *driver = driver_version();
    int n = scandir(NVIDIA_GPUS, &found, is_visible, by_name);
    for (int i = 0; i < n; i++) {
        add_nvidia(list, found[i]->d_name, driver);
        free(found[i]);
    }
    if (n >= 0)
        free(found);
    free(driver);
}

/* Reads a property from lines "name value". False: there is no such property. (A device without
 * SIMDs is a CPU.) */
static bool property(const char *text, const char *name, long long *out)
{
    size_t len = strlen(name);
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL)
        if (strncmp(line, name, len) == 0 && line[len] == ' ') {
            *out = strtoll(line + len, NULL, 10);
            return true;
        }
    return false;
}

static void add_memory(json_t *gpu, const char *node)
{
    char path[512], *text;
    long long bytes;
    snprintf(path, sizeof path, KFD_NODES "/%s/mem_banks/0/properties", node);
    if (fs_read(path, TEXT_MAX, &text, NULL, NULL) < 0)
        return;
    if (property(text, "size_in_bytes", &bytes))
        json_object_set_new(gpu, "memory_bytes", json_integer(bytes));
    free(text);
}

static void add_amd(json_t *list, const char *node, int index)
{
    char path[512], *name;
    json_t *gpu = json_pack("{s:i, s:s}", "index", index, "vendor", "amd");
    snprintf(path, sizeof path, KFD_NODES "/%s/name", node);
    if (fs_read(path, TEXT_MAX, &name, NULL, NULL) == 0) {
        name[strcspn(name, "\n")] = '\0';
        json_object_set_new(gpu, "model", json_string(name));
        free(name);
    }
    add_memory(gpu, node);
    json_array_append_new(list, gpu);
}

static void add_render(json_t *gpu, long long render)
{
    char dir[64], uuid[SAMPLE_UUID_SIZE];
    snprintf(dir, sizeof dir, DRM "/renderD%lld/device", render);
    gpu_amd_uuid(dir, uuid);
    json_object_set_new(gpu, "render", json_integer(render));
    if (*uuid)
        json_object_set_new(gpu, "uuid", json_string(uuid));
}

static void list_amd(json_t *list)
{
    struct dirent **found;
    int n = scandir(KFD_NODES, &found, is_visible, by_number), index = 0;
    for (int i = 0; i < n; i++) {
        char path[512], *text;
        long long simds = 0, render;
        snprintf(path, sizeof path, KFD_NODES "/%s/properties", found[i]->d_name);
        if (fs_read(path, TEXT_MAX, &text, NULL, NULL) == 0) {
            if (property(text, "simd_count", &simds) && simds > 0) {
                add_amd(list, found[i]->d_name, index++);
                if (property(text, "drm_render_minor", &render))
                    add_render(json_array_get(list, json_array_size(list) - 1), render);
            }
            free(text);
        }
        free(found[i]);
    }
    if (n >= 0)
        free(found);
}

char *gpus_list(void)
{
    json_t *list = json_array();
    struct strbuf text = STRBUF_INIT;
    list_nvidia(list);
    list_amd(list);
    if (codec_text(list, &text) < 0)
        strbuf_reset(&text);
    json_decref(list);
    return strbuf_take(&text);
}

int gpus_count(void)
{
    json_t *list = json_array();
    list_nvidia(list);
    list_amd(list);
    int n = (int)json_array_size(list);
    json_decref(list);
    return n;
}

static bool is_among(const char *numbers, long long number)
{
    for (const char *at = numbers; *at;) {
        char *end;
        if (strtoll(at, &end, 10) == number && end > at)
            return true;
        at = *end == ',' ? end + 1 : "";
    }
    return false;
}

/* Finds the device file of a GPU. A process uses an AMD GPU through the GPU's own device file and
 * through /dev/kfd, which all GPUs share. The driver of /dev/kfd checks the access to the GPU's own
 * file, so it is enough to deny that file. */
static bool device_of(const json_t *gpu, const char *dev, dev_t *out)
{
    char path[512];
    struct stat st;
    json_t *minor = json_object_get(gpu, "minor"), *render = json_object_get(gpu, "render");
    if (minor)
        snprintf(path, sizeof path, "%s/nvidia%lld", dev, (long long)json_integer_value(minor));
    else if (render)
        snprintf(path, sizeof path, "%s/dri/renderD%lld", dev,
                 (long long)json_integer_value(render));
    else
        return false;
    if (stat(path, &st) < 0 || !S_ISCHR(st.st_mode))
        return false;
    *out = st.st_rdev;
    return true;
}

size_t gpus_others(const char *list, const char *numbers, const char *dev, dev_t *out, size_t max)
{
    json_t *gpus = json_loads(list, 0, NULL), *gpu;
    size_t i, n = 0;
    json_array_foreach(gpus, i, gpu)
        if (n < max && !is_among(numbers, json_integer_value(json_object_get(gpu, "index"))) &&
            device_of(gpu, dev, &out[n]))
            n++;
    json_decref(gpus);
    return n;
}
