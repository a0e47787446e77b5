/* SPDX-License-Identifier: MIT
 *
 * Logins that a user confirms on a web page. A device shows a short code for the page, and polls
 * with a long code. A program opens the page in a browser, and receives the long code by a
 * redirect. Also the links that begin a session of a browser, as `batchaid open` makes them. Kept
 * in memory; a restart of the daemon forgets them.
 */
#ifndef API_LOGIN_CODES_H
#define API_LOGIN_CODES_H

#include <stdbool.h>
#include <stdint.h>

#include "api/http/session.h"

#define CODE_SIZE      41  /* 160 random bits as hexadecimal digits */
#define USER_CODE_SIZE 10  /* "BCDF-GHJK" */
#define CODE_SECONDS   900 /* how long one is good */
/* at a time; beyond, the oldest unconfirmed code of a device is dropped */
#define CODES_MAX    1000
#define LINK_SECONDS 60
/* Links of one owner at a time, and his confirmed codes; beyond, the oldest is dropped. */
#define OWNED_MAX 10

#define CODE_PROGRAM_SIZE 32

struct codes;

struct code {
    char code[CODE_SIZE];           /* "": free */
    char user_code[USER_CODE_SIZE]; /* "": nobody types it */
    char object_id[64];             /* the user who confirmed the code; "": not confirmed */
    char key_id[GUID_SIZE];         /* the secret by which; "": none */
    char challenge[64], nonce[128]; /* from the program that opened the page */
    unsigned char program[CODE_PROGRAM_SIZE]; /* hash of the program's client id and redirect URI */
    int64_t expires_us;
    int64_t session_ends_us; /* of a link: when the session ends in any case; 0: it is no link */
    /* Of a link: the session that made it; the link ends with the session. "": a login without a
     * cookie. */
    char session_id[SESSION_ID_SIZE];
    int64_t session_begun_us;
};

struct codes *codes_create(void);
void codes_free(struct codes *c);
/* A new code; NULL: there are too many. Borrowed until the next call, as are the results below. */
struct code *codes_add(struct codes *c, int64_t now_us);
/* Like codes_add(), for a link of this owner. No program gets a token for it. */
struct code *codes_add_link(struct codes *c, const struct session *s, int64_t now_us);
/* A user confirms a code by a secret. */
void codes_confirm(struct codes *c, struct code *code, const char *object_id, const char *key_id,
                   int64_t now_us);
/* NULL: no such code, or it has expired. Accepts a user code in any case, with or without the
 * dash. */
struct code *codes_by_code(struct codes *c, const char *code, int64_t now_us);
struct code *codes_by_user_code(struct codes *c, const char *typed, int64_t now_us);
void codes_remove(struct code *code);
/* code_bind() stores the program of a code; code_is_for() checks whether a program is the stored
 * one. `redirect_uri` NULL: a device, which gets no redirect. */
void code_bind(struct code *code, const char *client_id, const char *redirect_uri);
bool code_is_for(const struct code *code, const char *client_id, const char *redirect_uri);

#endif
