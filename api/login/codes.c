/* SPDX-License-Identifier: MIT
 *
 * State: a table of codes with the times at which they expire. A code is removed when it is used;
 * an expired code is never found, and a new code may take its slot. The service owns the table. On
 * the loop's thread.
 */
#include "api/login/codes.h"

#include <ctype.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/arena.h"

/* no vowels, so that codes form no words; no letters that look like digits */
#define LETTERS   "BCDFGHJKLMNPQRSTVWXZ"
#define N_LETTERS 8

struct codes {
    struct code slot[CODES_MAX];
};

struct codes *codes_create(void)
{
    return xcalloc(1, sizeof(struct codes));
}

void codes_free(struct codes *c)
{
    if (c)
        sodium_memzero(c, sizeof *c);
    free(c);
}

static void make_user_code(char out[USER_CODE_SIZE])
{
    for (int i = 0; i <= N_LETTERS; i++)
        out[i] = i == N_LETTERS / 2 ? '-' : LETTERS[randombytes_uniform(sizeof LETTERS - 1)];
    out[N_LETTERS + 1] = '\0';
}

/* A free slot; if there is none: the slot of the device that has waited longest for its user, or
 * NULL. Devices get codes without a login, so a client that requests many codes must not block
 * others for long. */
static struct code *find_slot(struct codes *c, int64_t now_us)
{
    struct code *oldest = NULL;
    for (size_t i = 0; i < CODES_MAX; i++) {
        struct code *slot = &c->slot[i];
        if (!*slot->code || slot->expires_us <= now_us)
            return slot;
        bool waits = *slot->user_code && !*slot->object_id;
        if (waits && (!oldest || slot->expires_us < oldest->expires_us))
            oldest = slot;
    }
    return oldest;
}

static void fill(struct code *slot, int64_t expires_us)
{
    unsigned char bytes[(CODE_SIZE - 1) / 2];
    memset(slot, 0, sizeof *slot);
    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2hex(slot->code, sizeof slot->code, bytes, sizeof bytes);
    slot->expires_us = expires_us;
}

struct code *codes_add(struct codes *c, int64_t now_us)
{
    struct code *slot = find_slot(c, now_us);
    if (!slot)
        return NULL;
    fill(slot, now_us + CODE_SECONDS * INT64_C(1000000));
    make_user_code(slot->user_code);
    return slot;
}

/* The owner's oldest link (or else confirmed code), if he has OWNED_MAX of them; NULL: he has
 * fewer. */
static struct code *find_owned(struct codes *c, const char *object_id, bool is_link, int64_t now_us)
{
    struct code *oldest = NULL;
    int n = 0;
    for (size_t i = 0; i < CODES_MAX; i++) {
        struct code *slot = &c->slot[i];
        if (is_link != (slot->session_ends_us != 0) || slot->expires_us <= now_us ||
            strcasecmp(slot->object_id, object_id) != 0)
            continue;
        n++;
        if (!oldest || slot->expires_us < oldest->expires_us)
            oldest = slot;
    }
    return n >= OWNED_MAX ? oldest : NULL;
}

static void own(struct code *slot, const char *object_id, const char *key_id)
{
    (void)snprintf(slot->object_id, sizeof slot->object_id, "%s", object_id);
    (void)snprintf(slot->key_id, sizeof slot->key_id, "%s", key_id);
}

struct code *codes_add_link(struct codes *c, const struct session *s, int64_t now_us)
{
    struct code *old = find_owned(c, s->object_id, true, now_us);
    struct code *slot = old ? old : find_slot(c, now_us);
    if (!slot)
        return NULL;
    fill(slot, now_us + LINK_SECONDS * INT64_C(1000000));
    own(slot, s->object_id, s->key_id);
    (void)snprintf(slot->session_id, sizeof slot->session_id, "%s", s->id);
    slot->session_begun_us = s->begun_us;
    slot->session_ends_us = s->ends_us;
    return slot;
}

void codes_confirm(struct codes *c, struct code *code, const char *object_id, const char *key_id,
                   int64_t now_us)
{
    struct code *old = find_owned(c, object_id, false, now_us);
    if (old)
        codes_remove(old);
    own(code, object_id, key_id);
}

/* Hashes each text with its final NUL, so that two different pairs never have the same bytes. */
static void hash_program(const char *client_id, const char *redirect_uri,
                         unsigned char out[CODE_PROGRAM_SIZE])
{
    crypto_generichash_state s;
    const char *texts[] = {client_id ? client_id : "", redirect_uri ? redirect_uri : ""};
    crypto_generichash_init(&s, NULL, 0, CODE_PROGRAM_SIZE);
    for (size_t i = 0; i < 2; i++)
        crypto_generichash_update(&s, (const unsigned char *)texts[i], strlen(texts[i]) + 1);
    crypto_generichash_final(&s, out, CODE_PROGRAM_SIZE);
}

void code_bind(struct code *code, const char *client_id, const char *redirect_uri)
{
    hash_program(client_id, redirect_uri, code->program);
}

bool code_is_for(const struct code *code, const char *client_id, const char *redirect_uri)
{
    unsigned char program[CODE_PROGRAM_SIZE];
    hash_program(client_id, redirect_uri, program);
    return sodium_memcmp(program, code->program, sizeof program) == 0;
}

struct code *codes_by_code(struct codes *c, const char *code, int64_t now_us)
{
    size_t n = strlen(code);
    for (size_t i = 0; n == CODE_SIZE - 1 && i < CODES_MAX; i++)
        if (c->slot[i].expires_us > now_us && sodium_memcmp(c->slot[i].code, code, n) == 0)
            return &c->slot[i];
    return NULL;
}

/* Whether `typed` has the letters of `code`; ignores upper and lower case and all other
 * characters. */
static bool same_letters(const char *code, const char *typed)
{
    for (;; code++, typed++) {
        while (*code && !isalpha((unsigned char)*code))
            code++;
        while (*typed && !isalpha((unsigned char)*typed))
            typed++;
        if (toupper((unsigned char)*code) != toupper((unsigned char)*typed))
            return false;
        if (!*code)
            return true;
    }
}

struct code *codes_by_user_code(struct codes *c, const char *typed, int64_t now_us)
{
    for (size_t i = 0; i < CODES_MAX; i++) {
        struct code *slot = &c->slot[i];
        if (*slot->user_code && slot->expires_us > now_us && same_letters(slot->user_code, typed))
            return slot;
    }
    return NULL;
}

void codes_remove(struct code *code)
{
    memset(code, 0, sizeof *code);
}
