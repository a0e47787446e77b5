/* SPDX-License-Identifier: MIT */
#include "api/plane/storage/errors.h"

#include <string.h>

#include "api/http/request.h"
#include "lib/jsontext.h"

/* Errors show nothing about the share or job of a file, because clients ask for the file only. */
#define AZSTORAGE_ERRORS(X)                                                                        \
    HTTP_ERRORS(X)                                                                                 \
    X(ERR_FILE_NOT_FOUND, 404, "FileNotFound", 0)                                                  \
    ERRORS_NOT_FOUND(X, "ResourceNotFound")                                                        \
    X(ERR_NOT_ON_MOUNT_ROOT, 404, "ResourceNotFound", 0)                                           \
    X(ERR_INVALID_PROPERTY, 400, "InvalidParameter", 0)                                            \
    X(ERR_MISSING_PROPERTY, 400, "MissingRequiredProperty", 0)                                     \
    X(ERR_INVALID_NAME, 400, "InvalidResourceName", 0)                                             \
    X(ERR_NOT_SUPPORTED, 400, "FeatureNotSupported", 0)                                            \
    X(ERR_CONFLICT, 409, "Conflict", 0)                                                            \
    X(ERR_BEING_DELETED, 409, "ResourceBeingDeleted", 0)                                           \
    X(ERR_QUOTA, 409, "QuotaExceeded", 0)

ERROR_TABLE(azstorage_words, AZSTORAGE_ERRORS, AZSTORAGE_OWN)

/* Adds a text with XML escapes. Bytes that XML cannot contain even with escapes become '?'. The
 * text may be cut off inside a character. */
static void add_xml(struct strbuf *b, const char *s)
{
    static const struct {
        char c;
        const char *name;
    } entities[] = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}};
    json_auto_t *text = jsontext_string(s);
    for (const char *p = json_string_value(text); *p; p++) {
        const char *name = NULL;
        for (size_t i = 0; i < sizeof entities / sizeof entities[0] && !name; i++)
            if (entities[i].c == *p)
                name = entities[i].name;
        if (name)
            strbuf_puts(b, name);
        else
            strbuf_putc(b, (unsigned char)*p < ' ' && !strchr("\t\n", *p) ? '?' : *p);
    }
}

struct replied *azstorage_error(struct request *r, struct error_words words, const struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>%s</Code><Message>",
                  words.code);
    add_xml(&b, e->msg);
    strbuf_puts(&b, "</Message></Error>");
    reply_header(r, "x-ms-error-code", "%s", words.code);
    return reply_text(r, words.status, "application/xml", strbuf_take(&b));
}
