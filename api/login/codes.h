/* SPDX-License-Identifier: MIT
 *
 * Logins that a user confirms on a web page. A device shows a short code for the page, and polls
 * with a long code. A program opens the page in a browser, and receives the long code by a
 * redirect. A code can also be part of a link that begins a browser session; `batchaid open` makes
 * such links. Codes are only in memory, so they end when the daemon restarts.
 */
#ifndef API_LOGIN_CODES_H
#define API_LOGIN_CODES_H

#include <stdbool.h>
#include <stdint.h>

#include "api/http/session.h"

#define CODE_SIZE      41  /* 160 random bits as hexadecimal digits */
#define USER_CODE_SIZE 10  /* "BCDF-GHJK" */
#define CODE_SECONDS   900 /* how long a code is valid */
/* codes at a time; a further code replaces the oldest unconfirmed code of a device */
#define CODES_MAX    1000
#define LINK_SECONDS 60
/* The most links of one owner, and the most codes that he confirmed; a further one replaces the
 * oldest. */
#define OWNED_MAX 10

#define CODE_PROGRAM_SIZE 32

struct codes;

struct code {
    char code[CODE_SIZE];           /* "": the slot is free */
    char user_code[USER_CODE_SIZE]; /* "": a code that no user types */
    char object_id[64];             /* the user who confirmed the code; "": not confirmed */
    char key_id[GUID_SIZE];         /* the secret with which he logged in; "": none */
    char challenge[64], nonce[128]; /* the values that the program sent when it opened the page */
    unsigned char program[CODE_PROGRAM_SIZE]; /* hash of the program's client id and redirect URI */
    int64_t expires_us;
    /* of a link: when its session ends at the latest; 0: the code is for no link */
    int64_t session_ends_us;
    /* Of a link: the session that made the link; the link is invalid after that session. "": no
     * session, the login had no cookie. */
    char session_id[SESSION_ID_SIZE];
    int64_t session_begun_us;
};

struct codes *codes_create(void);
void codes_free(struct codes *c);
/* Adds a code; NULL: there are too many. The pointers that these functions return are valid until
 * the next call. */
struct code *codes_add(struct codes *c, int64_t now_us);
/* Like codes_add(), for a link of the session's owner. No program gets a token for such a code. */
struct code *codes_add_link(struct codes *c, const struct session *s, int64_t now_us);
/* Stores that this user confirmed the code, after a login with the secret `key_id`. */
void codes_confirm(struct codes *c, struct code *code, const char *object_id, const char *key_id,
                   int64_t now_us);
/* Return NULL if there is no such code, or if it has expired. A typed user code may be in upper or
 * lower case, with or without the dash. */
struct code *codes_by_code(struct codes *c, const char *code, int64_t now_us);
struct code *codes_by_user_code(struct codes *c, const char *typed, int64_t now_us);
void codes_remove(struct code *code);
/* code_bind() stores for which program a code is; code_is_for() compares a program with it.
 * `redirect_uri` NULL: the code is for a device, which gets no redirect. */
void code_bind(struct code *code, const char *client_id, const char *redirect_uri);
bool code_is_for(const struct code *code, const char *client_id, const char *redirect_uri);

#endif
