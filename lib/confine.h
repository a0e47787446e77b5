/* SPDX-License-Identifier: MIT
 *
 * Keeps processes from a directory, and from tracing, by Landlock (Linux 5.13 and later). A process
 * that is confined, and all that it starts, can neither read, write, make nor remove what is below
 * the directory, except below what it may reach there; only names can be listed. It cannot trace
 * processes that are not confined with it, look into their /proc/PID or, from Linux 6.12 on, signal
 * them. Programs give it no rights that it does not have (sudo), and it mounts nothing. Landlock
 * allows and cannot forbid, so what is made afterwards in a directory above the hidden one is out
 * of reach, too. Linux before 6.2 does not keep it from shortening files of its own user by
 * truncate(2).
 *
 * https://docs.kernel.org/userspace-api/landlock.html
 */
#ifndef LIB_CONFINE_H
#define LIB_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/err.h"

/* Whether the kernel can do it. */
bool confine_works(void);
/* Makes the rules that hide `dir` and leave what of `reach` is there. A descriptor, which may be
 * used more than once; the caller closes it. */
int confine_open(const char *dir, const char *const *reach, size_t n, struct err *e) MUST_CHECK;
/* Confines this thread, and what it starts from now on. After a second time it cannot trace what
 * was confined once. */
int confine_enter(int rules, struct err *e) MUST_CHECK;

#endif
