/* SPDX-License-Identifier: MIT
 *
 * Logins that somebody confirms on a page: of devices, which show a short code to type there and
 * ask with a long one until it is confirmed, and of programs that opened the page in a browser and
 * get the long one by being called back. In memory; a restart of the daemon forgets them.
 */
#ifndef API_AAD_CODES_H
#define API_AAD_CODES_H

#include <stdbool.h>
#include <stdint.h>

#define CODE_SIZE      41   /* 160 random bits as hexadecimal digits */
#define USER_CODE_SIZE 10   /* "BCDF-GHJK" */
#define CODE_SECONDS   900  /* how long one is good */
#define CODES_MAX      1000 /* at a time */

struct codes;

struct code {
    char code[CODE_SIZE];           /* "": free */
    char user_code[USER_CODE_SIZE]; /* "": nobody types it */
    char object_id[64];             /* who confirmed it; "": nobody yet */
    char challenge[64], nonce[128]; /* of the program that opened the page */
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

#endif
