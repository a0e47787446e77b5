/* SPDX-License-Identifier: MIT
 *
 * Compares two configurations by their tables.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/config/config.h"
#include "daemon/config/config_table.h"

static bool same_list(const struct config_list *a, const struct config_list *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->items[i], b->items[i]) != 0)
            return false;
    return true;
}

static bool same_records(const struct record_kind *kind, const struct config_records *a,
                         const struct config_records *b);

static bool same_value(const struct setting *s, const void *a, const void *b)
{
    const void *at = (const char *)a + s->offset, *bt = (const char *)b + s->offset;
    switch (s->type) {
    case SETTING_INT:
        return *(const int64_t *)at == *(const int64_t *)bt;
    case SETTING_BOOL:
        return *(const bool *)at == *(const bool *)bt;
    case SETTING_STR:
        return strcmp(*(char *const *)at, *(char *const *)bt) == 0;
    case SETTING_LIST:
    case SETTING_TEXTS:
        return same_list(at, bt);
    case SETTING_RECORDS:
        return same_records(s->record, at, bt);
    }
    return false;
}

/* Whether two records are equal. `but`: a field that may differ; NULL: none. */
static bool same_record(const struct settings *fields, const void *a, const void *b,
                        const char *but)
{
    for (size_t i = 0; i < fields->n; i++)
        if (!(but && strcmp(fields->rows[i].key, but) == 0) && !same_value(&fields->rows[i], a, b))
            return false;
    return true;
}

static bool same_records(const struct record_kind *kind, const struct config_records *a,
                         const struct config_records *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!same_record(&kind->fields, (const char *)a->items + i * kind->size,
                         (const char *)b->items + i * kind->size, NULL))
            return false;
    return true;
}

bool config_same_group(const struct config_group *a, const struct config_group *b)
{
    return same_record(&config_inventory_kind.fields, a, b, "hosts");
}

void config_changes(const struct config *live, const struct config *start,
                    const struct config *fresh, config_change_fn *found, void *ctx)
{
    for (size_t i = 0; i < config_settings.n; i++) {
        const struct setting *s = &config_settings.rows[i];
        char name[CONFIG_PATH_SIZE];
        if (same_value(s, s->live ? live : start, fresh))
            continue;
        snprintf(name, sizeof name, "%s%s%s", s->section, *s->section ? "." : "", s->key);
        found(ctx, name, s->live);
    }
}
