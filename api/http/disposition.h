/* SPDX-License-Identifier: MIT
 *
 * Makes Content-Disposition (RFC 6266), which lets a browser save the reply as a file with a name.
 */
#ifndef API_HTTP_DISPOSITION_H
#define API_HTTP_DISPOSITION_H

#include "lib/arena.h"

/* attachment; filename="..."; filename*=UTF-8''... for a name of any bytes. Slashes, backslashes
 * and characters that could hide the true name (control characters, marks of writing direction)
 * become '_'. In the arena. */
const char *disposition_attachment(struct arena *a, const char *name);

#endif
