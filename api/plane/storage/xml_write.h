/* SPDX-License-Identifier: MIT
 *
 * Writes XML as text. Texts are UTF-8; characters that XML cannot hold and invalid bytes become
 * '?'.
 */
#ifndef API_PLANE_STORAGE_XML_WRITE_H
#define API_PLANE_STORAGE_XML_WRITE_H

#include <stdbool.h>

#include "lib/strbuf.h"

/* Begins a document, with the byte order mark that Azure sends. */
void xml_begin_document(struct strbuf *b);
void xml_open(struct strbuf *b, const char *name);
void xml_close(struct strbuf *b, const char *name);
void xml_escaped(struct strbuf *b, const char *text);
/* <name>text</name>; NULL: <name />. */
void xml_element(struct strbuf *b, const char *name, const char *text);
/* Whether an XML document can contain the text unchanged. */
bool xml_can_hold(const char *text);

#endif
