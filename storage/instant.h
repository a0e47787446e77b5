/* SPDX-License-Identifier: MIT
 *
 * The database as it was at one instant, to be read in slices while others write: a copy in memory.
 * The copy is made in slices too. SQLite adds writes that come meanwhile to the copied part, so the
 * copy shows the instant at which it became complete, with everything acknowledged before.
 *
 *   COPYING --st_instant_copy(): 1--> COMPLETE --st_instant_enter()--> READ
 *                                        ^                              |
 *                                        '----- st_instant_leave() -----'
 */
#ifndef STORAGE_INSTANT_H
#define STORAGE_INSTANT_H

#include "storage/storage.h"

struct st_instant;

/* NULL: err. The storage must outlive the result. */
struct st_instant *st_instant_begin(struct storage *st, struct err *e) MUST_CHECK;
/* Copies for a few milliseconds. 1: the copy is complete; 0: call again in another turn; -1: err.
 */
int st_instant_copy(struct st_instant *i, struct err *e) MUST_CHECK;
/* From st_instant_enter() to st_instant_leave(), within one call of the loop, each read of the
 * storage reads the copy, and nothing may be written. */
void st_instant_enter(struct st_instant *i);
void st_instant_leave(struct st_instant *i);
void st_instant_end(struct st_instant *i); /* NULL is accepted */

#endif
