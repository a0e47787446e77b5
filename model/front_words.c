/* SPDX-License-Identifier: MIT
 *
 * Replaces {name} in a text by the words of a front. An unknown name stays as it is. Pure; any
 * thread.
 */
#include "model/front_words.h"

#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/strbuf.h"

#define LOG_ENDING ".log"

static const struct word {
    const char *key; /* the name in braces */
    size_t at;       /* the offset of the member in struct front_words */
} words[] = {
#define WORD(member)                                                                               \
    {                                                                                              \
#member, offsetof(struct front_words, member)                                              \
    }
    WORD(pool),
    WORD(pools),
    WORD(run),
    WORD(runs),
    WORD(log),
    WORD(setup_task),
    WORD(admin_name),
    WORD(std_prefix),
    WORD(time_limit),
    WORD(time_limit_path),
    WORD(container),
    WORD(registry),
    WORD(registry_url),
    WORD(account_key),
    WORD(account_key_path),
    WORD(source_directory),
    WORD(mount_command),
#undef WORD
};

/* Finds the word for a key of n bytes, whose first letter may be a capital. NULL: there is none. */
static const char *find_word(const struct front_words *w, const char *key, size_t n)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (n > 0 && strlen(words[i].key) == n && tolower((unsigned char)*key) == *words[i].key &&
            memcmp(words[i].key + 1, key + 1, n - 1) == 0)
            return *(const char *const *)((const char *)w + words[i].at);
    return NULL;
}

static void put_words(const struct front_words *w, struct strbuf *out, const char *text)
{
    while (*text) {
        size_t plain = strcspn(text, "{");
        strbuf_add(out, text, plain);
        text += plain;
        if (!*text)
            break;
        const char *key = text + 1, *close = strchr(key, '}');
        const char *word = close ? find_word(w, key, (size_t)(close - key)) : NULL;
        if (word) {
            bool capital = isupper((unsigned char)*key);
            strbuf_putc(out, capital ? (char)toupper((unsigned char)*word) : *word);
            strbuf_puts(out, word + 1);
            text = close + 1;
        } else {
            strbuf_putc(out, *text++);
        }
    }
}

const char *front_text(const struct front_words *w, struct arena *a, const char *text)
{
    struct strbuf said = STRBUF_INIT;
    put_words(w, &said, text);
    const char *kept = arena_strdup(a, said.s ? said.s : "");
    strbuf_free(&said);
    return kept;
}

const char *front_say(const struct front_words *w, struct arena *a, const char *fmt, ...)
{
    struct strbuf said = STRBUF_INIT;
    va_list ap;
    put_words(w, &said, fmt);
    va_start(ap, fmt);
    /* This is safe: the compiler has checked fmt, and the words put into it contain no %. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const char *text = said.s ? arena_vprintf(a, said.s, ap) : "";
#pragma GCC diagnostic pop
    va_end(ap);
    strbuf_free(&said);
    return text;
}

const char *front_var_next(const struct front_words *w, enum front_var var, size_t *i)
{
    while (w->vars[*i].name) {
        const struct front_var_name *v = &w->vars[(*i)++];
        if (v->var == var)
            return v->name;
    }
    return NULL;
}

const char *front_log_name(const struct front_words *w, struct arena *a, const char *node)
{
    return arena_concat(a, w->log, node ? "-" : "", node ? node : "", LOG_ENDING);
}

bool front_is_log_name(const struct front_words *w, const char *name)
{
    size_t n = strlen(name), log = strlen(w->log), ending = strlen(LOG_ENDING);
    return n >= log + ending && strncmp(name, w->log, log) == 0 &&
           (name[log] == '.' || name[log] == '-') && strcmp(name + n - ending, LOG_ENDING) == 0;
}
