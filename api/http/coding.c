/* SPDX-License-Identifier: MIT */
#include "api/http/coding.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/request.h"

/* RFC 9110, 12.5.3: "gzip;q=0" refuses gzip. */
bool takes_gzip(const struct request *r)
{
    const char *accepted = request_header(r, "Accept-Encoding");
    const char *found = accepted ? strcasestr(accepted, "gzip") : NULL;
    if (!found)
        return false;
    const char *quality = found + strlen("gzip");
    quality += strspn(quality, " \t");
    return strncasecmp(quality, ";q=0", 4) != 0 || strtod(quality + 3, NULL) > 0;
}
