/* SPDX-License-Identifier: MIT */
#include "lib/err.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/jsontext.h"

static void set_target(struct err *e, const char *target)
{
    snprintf(e->target, sizeof e->target, "%s", target ? target : "");
    jsontext_mend(e->target, sizeof e->target);
}

int err_set(struct err *e, int code, const char *target, const char *fmt, ...)
{
    assert(code != ERR_NONE); /* ERR_NONE would read as success */
    if (!e)
        return -1;
    e->code = code;
    set_target(e, target);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    jsontext_mend(e->msg, sizeof e->msg);
    return -1;
}

int err_prefix(struct err *e, const char *fmt, ...)
{
    if (!e)
        return -1;
    char old[sizeof e->msg];
    memcpy(old, e->msg, sizeof old);
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof e->msg)
        snprintf(e->msg + n, sizeof e->msg - (size_t)n, ": %.*s", (int)jsontext_cut(old, 900), old);
    jsontext_mend(e->msg, sizeof e->msg);
    return -1;
}

int err_errno(struct err *e, int code, const char *fmt, ...)
{
    int saved = errno;
    assert(code != ERR_NONE);
    if (!e)
        return -1;
    e->code = code;
    set_target(e, NULL);
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof e->msg)
        snprintf(e->msg + n, sizeof e->msg - (size_t)n, ": %s", strerror(saved));
    jsontext_mend(e->msg, sizeof e->msg);
    errno = saved;
    return -1;
}

void err_clear(struct err *e)
{
    memset(e, 0, sizeof *e);
}

#define ERR_NAME(symbol) [symbol] = #symbol,
static const char *const code_names[ERR_CODES] = {ERR_TABLE(ERR_NAME)};
#undef ERR_NAME

const char *err_code_name(int code)
{
    return code >= 0 && code < ERR_CODES ? code_names[code] : "a service's own";
}
