/* SPDX-License-Identifier: MIT */
#include "api/admin/times.h"

#include <string.h>

#include "lib/timefmt.h"

int query_time(struct request *r, const char *name, int64_t fallback_ms, int64_t *ms, struct err *e)
{
    static const char rest[] = "0000-01-01T00:00:00Z";
    const char *text = request_query(r, name), *whole = text;
    int64_t us;
    *ms = fallback_ms;
    if (!text)
        return 0;
    if (strlen(text) == strlen("2026-11") || strlen(text) == strlen("2026-11-23"))
        whole = arena_concat(&r->arena, text, rest + strlen(text));
    if (timefmt_parse(whole, &us) < 0 || us < 0)
        return err_set(e, ERR_INVALID_QUERY, name,
                       "'%.100s' is not a valid time; use one like 2026-11, 2026-11-23 or "
                       "2026-11-23T09:00:00Z",
                       text);
    *ms = us / 1000;
    return 0;
}
