/* SPDX-License-Identifier: MIT
 *
 * Logins that somebody confirms on a page: of devices, which show a short code to type there and
 * ask with a long one until it is confirmed, and of programs that opened the page in a browser and
 * get the long one by being called back. In memory; a restart of the daemon forgets them.
 */
#ifndef API_LOGIN_CODES_H
#define API_LOGIN_CODES_H

#include <stdbool.h>
#include <stdint.h>

#define CODE_SIZE      41   /* 160 random bits as hexadecimal digits */
#define USER_CODE_SIZE 10   /* "BCDF-GHJK" */
#define CODE_SECONDS   900  /* how long one is good */
#define CODES_MAX      1000 /* at a time; then the oldest of a device that nobody has typed goes */

#define CODE_PROGRAM_SIZE 32

struct codes;

struct code {
    char code[CODE_SIZE];                     /* "": free */
    char user_code[USER_CODE_SIZE];           /* "": nobody types it */
    char object_id[64];                       /* who confirmed it; "": nobody yet */
    char challenge[64], nonce[128];           /* of the program that opened the page */
    unsigned char program[CODE_PROGRAM_SIZE]; /* who asked, and where it is called back */
    int64_t expires_us;
};

struct codes *codes_create(void);
void codes_free(struct codes *c);
/* A new one; NULL: there are too many. Borrowed, until the next call; likewise below. */
struct code *codes_add(struct codes *c, int64_t now_us);
/* NULL: there is none, or its time is over. A user code in any case, with or without the dash. */
struct code *codes_by_code(struct codes *c, const char *code, int64_t now_us);
struct code *codes_by_user_code(struct codes *c, const char *typed, int64_t now_us);
void codes_remove(struct code *code);
/* Notes which program a code is for, and whether it is for this one. `redirect_uri` NULL: that of a
 * device, which is not called back. */
void code_bind(struct code *code, const char *client_id, const char *redirect_uri);
bool code_is_for(const struct code *code, const char *client_id, const char *redirect_uri);

#endif
