/* SPDX-License-Identifier: MIT */
#include "daemon/serve/fault_hook.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/wildcard.h"

#define VARIABLE "BATCHAID_TESTING_FAULT"

static void hang(void)
{
    for (;;)
        usleep(1000);
}

static void crash(void)
{
    raise(SIGSEGV);
}

static const struct {
    const char *name;
    void (*happen)(void);
} kinds[] = {{"hang ", hang}, {"abort ", abort}, {"crash ", crash}};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

static size_t kind_of(const char *text)
{
    size_t i = 0;
    while (i < N_KINDS && strncmp(text, kinds[i].name, strlen(kinds[i].name)) != 0)
        i++;
    return i;
}

static void on_begun(void *ctx, const struct work_item *w)
{
    char text[WORK_TEXT_SIZE];
    const char *fault = getenv(VARIABLE);
    (void)ctx;
    size_t kind = fault ? kind_of(fault) : N_KINDS;
    if (kind == N_KINDS)
        return;
    work_text(w, text);
    if (wildcard_match(fault + strlen(kinds[kind].name), text, WILDCARD_EXACT))
        kinds[kind].happen();
}

int fault_hook_find(fault_hook *out, struct err *e)
{
    const char *fault = getenv(VARIABLE);
    *out = NULL;
    if (!fault)
        return 0;
    if (kind_of(fault) == N_KINDS)
        return err_set(
            e, ERR_CONFIG, NULL,
            "$" VARIABLE " is '%s'; it must begin with hang, abort or crash, and a blank", fault);
    *out = on_begun;
    return 0;
}
