/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/agent/facts.h"

#include <dirent.h>
#include <jansson.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/codec.h"

#define NVIDIA_GPUS "/proc/driver/nvidia/gpus"

static int cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    return (int)sysconf(_SC_NPROCESSORS_ONLN); /* more than 1024 */
}

static int64_t disk_free(const char *root)
{
    struct statvfs v;
    return statvfs(root, &v) == 0 ? (int64_t)v.f_bavail * (int64_t)v.f_frsize : 0;
}

static void read_guid(const char *path, char out[GUID_SIZE])
{
    char *text = NULL;
    out[0] = '\0';
    if (fs_read(path, 256, &text, NULL, NULL) == 0)
        snprintf(out, GUID_SIZE, "%.*s", (int)strcspn(text, "\n"), text);
    free(text);
}

static int read_incarnation(const char *root, char out[GUID_SIZE], struct err *e)
{
    char *path = fs_join(root, "incarnation");
    int rc = 0;
    read_guid(path, out);
    if (!guid_valid(out)) {
        guid_new(out);
        rc = fs_write_atomic(path, out, strlen(out), 0644, e);
    }
    free(path);
    return rc;
}

/* A line "Model: \t\t Tesla V100" of the driver's description. */
static void add_field(json_t *gpu, const char *name, const char *text, const char *label)
{
    const char *at = strstr(text, label);
    if (!at)
        return;
    at += strlen(label);
    at += strspn(at, " \t");
    json_object_set_new(gpu, name, json_stringn(at, strcspn(at, "\n")));
}

static char *gpus(void)
{
    json_t *list = json_array();
    DIR *d = opendir(NVIDIA_GPUS);
    struct dirent *de;
    while (d && (de = readdir(d))) {
        char path[512], *text;
        snprintf(path, sizeof path, NVIDIA_GPUS "/%s/information", de->d_name);
        if (de->d_name[0] == '.' || fs_read(path, 16384, &text, NULL, NULL) < 0)
            continue;
        json_t *gpu = json_pack("{s:s}", "bus", de->d_name);
        add_field(gpu, "model", text, "Model:");
        add_field(gpu, "uuid", text, "GPU UUID:");
        json_array_append_new(list, gpu);
        free(text);
    }
    if (d)
        closedir(d);
    struct strbuf text = STRBUF_INIT;
    if (codec_text(list, &text) < 0)
        strbuf_reset(&text);
    json_decref(list);
    return strbuf_take(&text);
}

int facts_read(struct facts *f, const char *root, struct err *e)
{
    memset(f, 0, sizeof *f);
    if (read_incarnation(root, f->incarnation, e) < 0)
        return -1;
    if (uname(&f->uname) < 0)
        return err_errno(e, ERR_NODE, "cannot tell what system this is");
    read_guid("/proc/sys/kernel/random/boot_id", f->boot_id);
    f->gpus = gpus();
    f->node = (struct node_facts){
        .agent_version = BATCHAID_VERSION,
        .hostname = f->uname.nodename,
        .os = f->uname.sysname,
        .arch = f->uname.machine,
        .incarnation = f->incarnation,
        .boot_id = f->boot_id,
        .cpus = cpu_count(),
        .memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE),
        .disk_free_bytes = disk_free(root),
        .gpus = f->gpus,
    };
    return 0;
}

void facts_free(struct facts *f)
{
    free(f->gpus);
    f->gpus = NULL;
}
