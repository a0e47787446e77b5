/* SPDX-License-Identifier: MIT
 *
 * Sources: `nvidia-smi --help-query-gpu` and --help-query-compute-apps; Documentation/gpu/amdgpu of
 * Linux (gpu_busy_percent, mem_info_vram_*, hwmon).
 */
#include "nodeagent-proto/agent/gpu_lines.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/fs.h"
#include "nodeagent-proto/agent/file_text.h"

#define MIB         INT64_C(1048576)
#define FIELDS      9
#define FIELD_MAX   64
#define DIGITS_MAX  15 /* the most digits of a number, so that it does not overflow */
#define PER_PERCENT 10
#define DIGITS      "0123456789"

/* Splits the line at its commas into exactly `n` fields, without the blanks around them. False: it
 * has another number of fields, or one is empty or too long. */
static bool split(const char *line, char fields[][FIELD_MAX], int n)
{
    for (int i = 0; i < n; i++) {
        line += strspn(line, " ");
        size_t len = strcspn(line, ","), end = len;
        while (end > 0 && line[end - 1] == ' ')
            end--;
        if (end == 0 || end >= FIELD_MAX || (line[len] == ',') != (i < n - 1))
            return false;
        memcpy(fields[i], line, end);
        fields[i][end] = '\0';
        line += len + (line[len] == ',');
    }
    return true;
}

/* Reads a number such as "72.43" and returns it times `scale`. */
static int64_t number_of(const char *field, int64_t scale)
{
    size_t whole = strspn(field, DIGITS);
    const char *point = field + whole;
    size_t after = *point == '.' ? strspn(point + 1, DIGITS) : 0;
    if (whole == 0 || whole > DIGITS_MAX || (*point == '.' && after == 0) ||
        point[(*point == '.') + after])
        return SAMPLE_UNKNOWN;
    int64_t n = strtoll(field, NULL, 10), unit = scale;
    if (n > SAMPLE_BYTES_MOST / scale)
        return SAMPLE_UNKNOWN;
    n *= scale;
    for (size_t i = 0; i < after && unit >= 10; i++) {
        unit /= 10;
        n += (point[1 + i] - '0') * unit;
    }
    return n;
}

/* Reads "0x0000000000000001". A value above SAMPLE_COUNT_MOST is unknown, because the highest bit
 * would make it negative. */
static int64_t bits_of(const char *field)
{
    size_t n = strncmp(field, "0x", 2) == 0 ? strspn(field + 2, DIGITS "abcdefABCDEF") : 0;
    uint64_t bits = n > 0 && n <= 16 && !field[2 + n] ? strtoull(field + 2, NULL, 16) : UINT64_MAX;
    return bits > SAMPLE_COUNT_MOST ? SAMPLE_UNKNOWN : (int64_t)bits;
}

static bool is_uuid(const char *field)
{
    return strncmp(field, "GPU-", 4) == 0 && field[4] &&
           !field[4 + strspn(field + 4, DIGITS "abcdefABCDEF-")];
}

static int64_t at_most(int64_t value, int64_t most)
{
    return value > most ? SAMPLE_UNKNOWN : value;
}

bool gpu_line_read(const char *line, struct gpu_sample *out)
{
    char f[FIELDS][FIELD_MAX];
    gpu_sample_clear(out);
    if (!split(line, f, FIELDS) || !is_uuid(f[1]))
        return false;
    int64_t index = number_of(f[0], 1);
    if (index < 0 || index >= SAMPLE_GPUS)
        return false;
    out->index = (int)index;
    memcpy(out->uuid, f[1], strlen(f[1]) + 1);
    out->busy_permille = at_most(number_of(f[2], PER_PERCENT), SAMPLE_PERMILLE);
    out->memory_used = number_of(f[3], MIB);
    out->memory_total = number_of(f[4], MIB);
    out->power_mw = at_most(number_of(f[5], 1000), SAMPLE_POWER_MOST);
    out->temperature = at_most(number_of(f[6], 1), SAMPLE_DEGREE_MOST);
    out->ecc_errors = at_most(number_of(f[7], 1), SAMPLE_COUNT_MOST);
    out->throttle = bits_of(f[8]);
    return true;
}

bool gpu_app_read(const char *line, char uuid[SAMPLE_UUID_SIZE], struct gpu_process *out)
{
    char f[3][FIELD_MAX];
    if (!split(line, f, 3) || !is_uuid(f[0]))
        return false;
    memcpy(uuid, f[0], strlen(f[0]) + 1);
    *out = (struct gpu_process){number_of(f[1], 1), number_of(f[2], MIB)};
    return out->pid > 0;
}

/* --- AMD -------------------------------------------------------------------------------------- */

/* Reads a number from a file and divides it by `unit`; SAMPLE_UNKNOWN if there is no such
 * number. */
static int64_t part_of(const char *dir, const char *name, int64_t unit)
{
    int64_t n = file_number(dir, name, SAMPLE_UNKNOWN);
    return n < 0 ? SAMPLE_UNKNOWN : n / unit;
}

static void read_sensors(const char *dir, struct gpu_sample *out)
{
    out->power_mw = part_of(dir, "power1_average", 1000); /* uW */
    if (out->power_mw == SAMPLE_UNKNOWN)
        out->power_mw = part_of(dir, "power1_input", 1000);
    out->temperature = part_of(dir, "temp1_input", 1000);
}

void gpu_amd_uuid(const char *dir, char out[SAMPLE_UUID_SIZE])
{
    char *id = file_text(dir, "unique_id");
    snprintf(out, SAMPLE_UUID_SIZE, "%.*s", id ? (int)strspn(id, DIGITS "abcdefx") : 0,
             id ? id : "");
    free(id);
}

void gpu_amd_read(const char *dir, struct gpu_sample *out)
{
    char *sensors = fs_join(dir, "hwmon");
    DIR *d = opendir(sensors);
    struct dirent *de;
    int64_t busy = file_number(dir, "gpu_busy_percent", SAMPLE_UNKNOWN);
    if (busy >= 0 && busy <= SAMPLE_PERMILLE / PER_PERCENT)
        out->busy_permille = busy * PER_PERCENT;
    out->memory_used = part_of(dir, "mem_info_vram_used", 1);
    out->memory_total = part_of(dir, "mem_info_vram_total", 1);
    while (d && (de = readdir(d)))
        if (strncmp(de->d_name, "hwmon", 5) == 0) {
            char *at = fs_join(sensors, de->d_name);
            read_sensors(at, out);
            free(at);
            break;
        }
    gpu_amd_uuid(dir, out->uuid);
    if (d)
        closedir(d);
    free(sensors);
}
