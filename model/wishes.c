/* SPDX-License-Identifier: MIT
 *
 * A table has a row for each reserved variable, with the function that reads its value. At the
 * first invalid value, reading ends with an error that names the variable. Pure; any thread.
 */
#include "model/wishes.h"

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* --- values --------------------------------------------------------------------------------- */

/* Reads a number of at most `max`, without a sign; *end is the text after it. False: there is no
 * number, or it is too large. */
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

/* A unit is required, because without it some users would mean bytes and others MiB. K, KB and KiB
 * all mean 1024 bytes, and so on, as in docker and Slurm. */
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

/* --- dependencies --------------------------------------------------------------------------- */

static size_t name_length(const char *s)
{
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || s[n] == '-' || s[n] == '_' || s[n] == '.')
        n++;
    return n <= 64 ? n : 0;
}

static bool read_wanted(const char **at, enum after *out)
{
    *out = AFTER_SUCCESS;
    if (**at != ':')
        return true;
    const char *word = *at + 1;
    for (const struct enum_name *n = after_names; n->name; n++) {
        size_t len = strlen(n->name);
        if (strncmp(word, n->name, len) == 0 && (word[len] == '\0' || word[len] == ',')) {
            *out = (enum after)n->value;
            *at = word + len;
            return true;
        }
    }
    return false;
}

bool wish_next_dependency(const char **at, struct wish_dependency *out)
{
    const char *p = *at;
    *out = (struct wish_dependency){.job = p, .job_len = name_length(p)};
    if (out->job_len == 0)
        return false;
    p += out->job_len;
    if (*p == '/') {
        out->experiment = out->job;
        out->experiment_len = out->job_len;
        out->job = p + 1;
        out->job_len = name_length(out->job);
        p = out->job + out->job_len;
    }
    if (out->job_len == 0 || !read_wanted(&p, &out->wanted) || (*p && (*p != ',' || !p[1])))
        return false;
    *at = *p ? p + 1 : p;
    return true;
}

static bool read_depends_on(const char *text, struct wishes *out)
{
    struct wish_dependency d;
    size_t n = 0;
    const char *at = text;
    while (*at && n < WISH_DEPENDENCIES_MAX && wish_next_dependency(&at, &d))
        n++;
    out->depends_on = text;
    return n > 0 && !*at;
}

/* --- arrays --------------------------------------------------------------------------------- */

static bool read_index(const char **at, int64_t *out)
{
    return read_digits(*at, WISH_ARRAY_INDEX_MAX, out, at);
}

/* Reads "5", "0-99" or "0-99:3". */
static bool read_range(const char **at, int64_t *from, int64_t *to, int64_t *step)
{
    *step = 1;
    if (!read_index(at, from))
        return false;
    *to = *from;
    if (**at != '-')
        return true;
    ++*at;
    if (!read_index(at, to) || *to < *from)
        return false;
    if (**at != ':')
        return true;
    ++*at;
    return read_index(at, step) && *step > 0;
}

/* Ranges must be in rising order, so that each index occurs once. */
size_t wish_array(const char *text, int out[WISH_ARRAY_MAX])
{
    size_t n = 0;
    int64_t from, to, step;
    for (const char *at = text;; at++) {
        if (!read_range(&at, &from, &to, &step) || (n > 0 && from <= out[n - 1]))
            return 0;
        for (int64_t i = from; i <= to; i += step) {
            if (n == WISH_ARRAY_MAX)
                return 0;
            out[n++] = (int)i;
        }
        if (!*at)
            return n;
        if (*at != ',')
            return 0;
    }
}

static bool read_array(const char *text, struct wishes *out)
{
    int numbers[WISH_ARRAY_MAX];
    out->array = text;
    out->array_n = (int)wish_array(text, numbers);
    return out->array_n > 0;
}

static bool read_array_limit(const char *text, struct wishes *out)
{
    return read_number(text, 1, WISH_ARRAY_MAX, &out->array_limit);
}

/* --- retries -------------------------------------------------------------------------------- */

static bool read_reason(const char **at, struct retry_rule *r)
{
    static const struct {
        const char *word;
        size_t flag;
    } words[] = {{"node", offsetof(struct retry_rule, after_node)},
                 {"exit", offsetof(struct retry_rule, after_exit)}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t len = strlen(words[i].word);
        if (strncmp(*at, words[i].word, len) == 0) {
            *(bool *)((char *)r + words[i].flag) = true;
            *at += len;
            return true;
        }
    }
    int64_t code;
    const char *end;
    if (r->n_codes == RETRY_CODES_MAX || !read_digits(*at, 255, &code, &end) || code == 0)
        return false;
    r->codes[r->n_codes++] = (unsigned char)code;
    *at = end;
    return true;
}

/* Reads "3", "3:node", "3:exit" or "3:node,75,137". */
static bool read_retries(const char *text, struct wishes *out)
{
    struct retry_rule *r = &out->retry;
    int64_t times;
    const char *at;
    *r = (struct retry_rule){0};
    if (!read_digits(text, 10, &times, &at))
        return false;
    r->times = (int)times;
    r->after_node = r->after_exit = !*at;
    while (*at) {
        if (*at != (r->after_node || r->after_exit || r->n_codes ? ',' : ':'))
            return false;
        at++;
        if (!read_reason(&at, r))
            return false;
    }
    return true;
}

bool wish_retries(const struct retry_rule *r, bool nodes_fault, int exit_code)
{
    if (nodes_fault)
        return r->after_node;
    for (size_t i = 0; i < r->n_codes; i++)
        if (r->codes[i] == exit_code)
            return true;
    return r->after_exit && exit_code > 0;
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
      "How many slots of each node it takes; 1 if it takes a part and this is not set."},
     read_slots},
    {{WISH_PREFIX "CORES", "a whole number from 1 to 100000",
      "How many cores of each node it takes; it may not use more."},
     read_cores},
    {{WISH_PREFIX "MEMORY", "a number with a unit, such as 512M, 4G or 4GiB, at most 1024T",
      "How much memory of each node it takes; it may not use more. K, M, G and T are powers of "
      "1024."},
     read_memory},
    {{WISH_PREFIX "GRACE", "a whole number of seconds from 0 to 3600",
      "How long the job has between SIGTERM and SIGKILL when it is terminated or its time limit is "
      "over; default 5."},
     read_grace},
    {{WISH_PREFIX "DEPENDS_ON",
      "at most 100 jobs, separated by commas, each as JOB or EXPERIMENT/JOB, which :success, "
      ":failure or :end may follow",
      "The job waits until these jobs have ended in this way (default: succeeded), and fails if "
      "one ends otherwise."},
     read_depends_on},
    {{WISH_PREFIX "ARRAY",
      "indexes from 0 to 1000000 in rising order, at most 1000, such as 0-99, 1-10:3 or 1,5,7",
      "The job is an array: its command runs once for each index, as a run of its own."},
     read_array},
    {{WISH_PREFIX "ARRAY_LIMIT",
      "a whole number from 1 to 1000, together with " WISH_PREFIX "ARRAY",
      "How many indexes of the array may run at once; all without this."},
     read_array_limit},
    {{WISH_PREFIX "RETRIES",
      "a whole number from 0 to 10, optionally with a colon and a list of node, exit and at most "
      "16 exit codes from 1 to 255, such as 3:node,75",
      "How often the job is tried again when it fails: after any exit code but 0 and after the "
      "loss of a node, or only after the failures in the list."},
     read_retries},
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
    char all[1024];
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
        if (!r || !r->read(env[i].value ? env[i].value : "", &with))
            continue;
        if (with.depends_on && !out->depends_on)
            with.depends_at = i;
        *out = with;
    }
    *n = kept;
}
