/* SPDX-License-Identifier: MIT
 *
 * Static variables: the present item, and a doubly linked list of open items. Only the loop's
 * thread changes them. A signal handler may read them between any two stores, so links are set
 * before an item becomes visible, and the functions that write texts neither allocate nor lock.
 */
#include "lib/work.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"

/* Static, because a process has one watched loop. Volatile, because signal handlers read them. */
static const struct work_item *volatile now;
static struct work_item *volatile open_works;
static struct work_judge judge;

const struct work_item *work_enter(const struct work_item *w)
{
    const struct work_item *before = now;
    now = w;
    return before;
}

void work_leave(const struct work_item *before)
{
    now = before;
}

const struct work_item *work_now(void)
{
    return now;
}

void work_open(struct work_item *w)
{
    assert(!w->at);
    w->next = open_works;
    w->at = (struct work_item **)(uintptr_t)&open_works;
    if (w->next)
        w->next->at = &w->next;
    open_works = w;
}

void work_close(struct work_item *w)
{
    if (!w->at)
        return;
    *w->at = w->next;
    if (w->next)
        w->next->at = w->at;
    w->next = NULL;
    w->at = NULL;
}

const struct work_item *work_first_open(void)
{
    return open_works;
}

/* --- texts; these functions must not allocate or lock --- */

static void add(char *out, size_t *used, const char *before, const char *text)
{
    if (!text || !*text)
        return;
    const char *const parts[] = {*used > 0 ? before : "", text};
    for (size_t i = 0; i < 2; i++)
        for (const char *p = parts[i]; *p && *used < WORK_TEXT_SIZE - 1; p++)
            out[(*used)++] = *p;
    out[*used] = '\0';
}

void work_text(const struct work_item *w, char out[WORK_TEXT_SIZE])
{
    char digits[24], *p = digits + sizeof digits - 1;
    size_t used = 0;
    out[0] = *p = '\0';
    for (uint64_t n = w->id > 0 ? (uint64_t)w->id : 0; n > 0; n /= 10)
        *--p = (char)('0' + n % 10);
    add(out, &used, "", w->kind);
    add(out, &used, " ", p);
    add(out, &used, " ", w->verb);
    /* The user comes before the path, because the path may be long. */
    add(out, &used, " by ", w->who);
    add(out, &used, " ", w->what);
}

static uint64_t mix(uint64_t key, const char *text)
{
    uint64_t n = text ? text_hash(text, strlen(text)) : 0;
    return number_hash(key ^ n) + 1;
}

uint64_t work_key(const struct work_item *w)
{
    uint64_t key = mix(mix(mix(mix(1, w->kind), w->who), w->verb), w->what);
    key = number_hash(key ^ w->body) + (uint64_t)w->id;
    return key ? key : 1;
}

static volatile bool gave_up;

_Noreturn void work_give_up(void)
{
    gave_up = true;
    abort();
}

bool work_gave_up(void)
{
    return gave_up;
}

/* --- before it begins ---------------------------------------------------------------------------
 */

void work_set_judge(const struct work_judge *j)
{
    judge = j ? *j : (struct work_judge){0};
}

int work_may_begin(const struct work_item *w, struct err *e)
{
    if (judge.judge && judge.judge(judge.ctx, w, e) < 0)
        return -1;
    if (judge.begins)
        judge.begins(judge.ctx, w);
    return 0;
}
