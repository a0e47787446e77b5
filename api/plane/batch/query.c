/* SPDX-License-Identifier: MIT
 *
 * Parameters that most operations have, whether or not they mean something here.
 */
#include <strings.h>

#include "api/plane/batch/batch.h"

/* How long the client waits, in seconds: everything is answered sooner. */
static int check_timeout(struct request *r, struct err *e)
{
    long seconds;
    return request_query_int(r, "timeout", 0, INT32_MAX, 0, &seconds, e);
}

int batch_check_query(struct request *r, struct err *e)
{
    static const char *const truths[] = {"recursive", "force"};
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        const char *text = request_query(r, truths[i]);
        if (text && strcasecmp(text, "true") != 0 && strcasecmp(text, "false") != 0)
            return err_set(e, ERR_INVALID_QUERY, truths[i], "%s must be true or false", truths[i]);
    }
    return check_timeout(r, e);
}
