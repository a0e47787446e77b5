/* SPDX-License-Identifier: MIT */
#include "model/wishes.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* --- values --------------------------------------------------------------------------------- */

/* Digits alone, at most `max`; *end is what follows. False: none, or too many. */
static bool read_digits(const char *text, int64_t max, int64_t *out, const char **end)
{
    int64_t n = 0;
    const char *p = text;
    for (; *p >= '0' && *p <= '9'; p++) {
        n = n * 10 + (*p - '0');
        if (n > max)
            return false;
    }
    *out = n;
    *end = p;
    return p > text;
}

static bool read_number(const char *text, int min, int max, int *out)
{
    int64_t n;
    const char *end;
    if (!read_digits(text, max, &n, &end) || *end || n < min)
        return false;
    *out = (int)n;
    return true;
}

static bool read_gpus(const char *text, struct wishes *out)
{
    out->part = true;
    return read_number(text, 0, 1024, &out->need.gpus);
}

static bool read_slots(const char *text, struct wishes *out)
{
    out->part = true;
    return read_number(text, 1, 100000, &out->need.slots);
}

static bool read_cores(const char *text, struct wishes *out)
{
    out->part = true;
    return read_number(text, 1, 100000, &out->need.cores);
}

/* A unit is needed: without one, some would mean bytes and others MiB. 1024 is the factor whether
 * it is written G, GB or GiB, as for the sizes of docker and Slurm. */
static bool read_memory(const char *text, struct wishes *out)
{
    static const char units[] = "KMGT";
    const char *end, *unit;
    int64_t n;
    if (!read_digits(text, CAPACITY_MEMORY_MAX, &n, &end) || n == 0 || !*end ||
        !(unit = strchr(units, *end)))
        return false;
    end++;
    if (*end && strcmp(end, "B") != 0 && strcmp(end, "i") != 0 && strcmp(end, "iB") != 0)
        return false;
    int shift = 10 * (int)(unit - units + 1);
    if (n > CAPACITY_MEMORY_MAX >> shift)
        return false;
    out->part = true;
    out->need.memory = n << shift;
    return true;
}

static bool read_grace(const char *text, struct wishes *out)
{
    out->has_grace = true;
    return read_number(text, 0, WISH_GRACE_MAX_S, &out->grace_s);
}

/* --- the table ------------------------------------------------------------------------------ */

static const struct reader {
    struct wish_row row;
    bool (*read)(const char *text, struct wishes *out);
} readers[] = {
    {{WISH_PREFIX "GPUS", "a whole number from 0 to 1024",
      "How many GPUs of each node the job takes."},
     read_gpus},
    {{WISH_PREFIX "SLOTS", "a whole number from 1 to 100000",
      "How many slots of each node it takes; 1 where it takes a part without this."},
     read_slots},
    {{WISH_PREFIX "CORES", "a whole number from 1 to 100000",
      "How many cores of each node it takes; it may not use more."},
     read_cores},
    {{WISH_PREFIX "MEMORY", "a number with a unit, such as 512M, 4G or 4GiB, at most 1024T",
      "How much memory of each node it takes; it may not use more. K, M, G and T are powers of "
      "1024."},
     read_memory},
    {{WISH_PREFIX "GRACE", "a whole number of seconds from 0 to 3600",
      "How long the job has between SIGTERM and SIGKILL when it is terminated or its time is up; 5 "
      "without this."},
     read_grace},
};
#define N_READERS (sizeof readers / sizeof readers[0])

const struct wish_row *wish_row(size_t i)
{
    return i < N_READERS ? &readers[i].row : NULL;
}

bool wish_reserved(const char *name)
{
    return strncasecmp(name, WISH_PREFIX, strlen(WISH_PREFIX)) == 0;
}

static const struct reader *find(const char *name)
{
    for (size_t i = 0; i < N_READERS; i++)
        if (strcmp(readers[i].row.name, name) == 0)
            return &readers[i];
    return NULL;
}

static int refuse_name(const char *name, const char *at, struct err *e)
{
    char all[512];
    size_t len = 0;
    all[0] = '\0';
    for (size_t i = 0; i < N_READERS && len < sizeof all; i++)
        len += (size_t)snprintf(all + len, sizeof all - len, "%s%s",
                                i == 0               ? ""
                                : i == N_READERS - 1 ? " or "
                                                     : ", ",
                                readers[i].row.name);
    return err_set(e, ERR_INVALID_PROPERTY, at,
                   "%s is \"%.80s\"; names that begin with " WISH_PREFIX
                   " are reserved, and it must be one of %s",
                   at, name, all);
}

int wish_read(const char *name, const char *value, const char *name_at, const char *value_at,
              struct wishes *out, struct err *e)
{
    const struct reader *r = find(name);
    if (!r)
        return refuse_name(name, name_at, e);
    if (r->read(value, out))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, value_at, "%s is \"%.80s\"; %s must be %s", value_at,
                   value, name, r->row.right);
}

void wishes_take(struct kv *env, size_t *n, struct wishes *out)
{
    size_t kept = 0;
    *out = (struct wishes){0};
    for (size_t i = 0; i < *n; i++) {
        if (!wish_reserved(env[i].name)) {
            env[kept++] = env[i];
            continue;
        }
        struct wishes with = *out;
        const struct reader *r = env[i].is_secret ? NULL : find(env[i].name);
        if (r && r->read(env[i].value ? env[i].value : "", &with))
            *out = with;
    }
    *n = kept;
}
