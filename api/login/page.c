/* SPDX-License-Identifier: MIT
 *
 * The web page for logins. It serves users who type the code that a device shows (RFC 8628), and
 * programs on the user's machine that open the page in a browser (RFC 6749, section 4.1). Plain
 * HTML, without scripts.
 */
#include <stdlib.h>
#include <string.h>

#include "api/http/form.h"
#include "api/http/request.h"
#include "api/http/url.h"
#include "api/login/codes.h"
#include "api/login/errors.h"
#include "api/login/login.h"
#include "api/login/routes.h"
#include "lib/strbuf.h"

#define DEVICE_PAGE "/adfs/oauth2/deviceauth"

/* --- HTML ------------------------------------------------------------------------------------- */

static void add_escaped(struct strbuf *b, const char *s)
{
    static const struct {
        char c;
        const char *name;
    } entities[] = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    for (; *s; s++) {
        const char *name = NULL;
        for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++)
            if (entities[i].c == *s)
                name = entities[i].name;
        if (name)
            strbuf_puts(b, name);
        else
            strbuf_putc(b, *s);
    }
}

static void add_field(struct strbuf *b, const char *type, const char *name, const char *value,
                      const char *label)
{
    if (label)
        strbuf_printf(b, "<p><label>%s<br>", label);
    strbuf_printf(b, "<input type=\"%s\" name=\"%s\" value=\"", type, name);
    add_escaped(b, value ? value : "");
    strbuf_puts(b, "\" autocomplete=\"off\">");
    if (label)
        strbuf_puts(b, "</label></p>");
}

/* Replies with a page. Its headers forbid to load anything from other sites, and to show the page
 * in a frame of another site. */
static struct replied *page(struct request *r, int status, struct strbuf *inner)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_puts(&b, "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">"
                    "<title>batchaid</title></head><body><h1>batchaid</h1>");
    strbuf_puts(&b, inner->s);
    strbuf_puts(&b, "</body></html>\n");
    strbuf_free(inner);
    reply_header(r, "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    reply_header(r, "X-Frame-Options", "DENY");
    reply_header(r, "Referrer-Policy", "no-referrer");
    return reply_text(r, status, "text/html; charset=utf-8", strbuf_take(&b));
}

static struct replied *say(struct request *r, int status, const char *text)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_puts(&b, "<p>");
    add_escaped(&b, text);
    strbuf_puts(&b, "</p>");
    return page(r, status, &b);
}

/* The parameters with which a program opens the page. Hidden fields of the form send them back. */
static const char *const carried[] = {"redirect_uri", "state",         "code_challenge",
                                      "nonce",        "response_mode", "client_id"};
enum { REDIRECT, STATE, CHALLENGE, NONCE, MODE, CLIENT, CARRIED };

/* Shows the form. `why`: the error of the last try, or NULL. `carried_value` NULL: the form is for
 * a device, and asks for its code. */
static struct replied *ask(struct request *r, int status, const char *why,
                           const char *const *carried_value, const char *user_code)
{
    struct strbuf b = STRBUF_INIT;
    if (why) {
        strbuf_puts(&b, "<p><strong>");
        add_escaped(&b, why);
        strbuf_puts(&b, "</strong></p>");
    }
    strbuf_puts(&b, "<form method=\"post\">");
    if (!carried_value)
        add_field(&b, "text", "user_code", user_code, "Code");
    for (int i = 0; carried_value && i < CARRIED; i++)
        add_field(&b, "hidden", carried[i], carried_value[i], NULL);
    add_field(&b, "text", "username", NULL, "User (name@domain)");
    add_field(&b, "password", "password", NULL, "Password");
    strbuf_puts(&b, "<p><button>Log in</button></p></form>");
    return page(r, status, &b);
}

static const char *field(const struct request *r, const char *name)
{
    const char *value = form_value(r->form, name);
    return value ? value : "";
}

/* --- devices ---------------------------------------------------------------------------------- */

struct replied *device_create(struct request *r)
{
    struct codes *codes = aad_of(r)->codes;
    struct code *code = codes ? codes_add(codes, r->now_us) : NULL;
    if (!code)
        return login_busy(r);
    code_bind(code, field(r, "client_id"), NULL);
    const char *url = arena_concat(&r->arena, request_base(r), DEVICE_PAGE);
    return reply_json(r, 200,
                      json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:o}", "device_code", code->code,
                                "user_code", code->user_code, "verification_uri", url,
                                "verification_url", url, "expires_in", CODE_SECONDS, "interval", 1,
                                "message",
                                json_sprintf("To sign in, use a web browser to open the page %s "
                                             "and enter the code %s to authenticate.",
                                             url, code->user_code)));
}

struct replied *device_page(struct request *r)
{
    return ask(r, 200, NULL, NULL, "");
}

static struct replied *device_known(struct request *r, void *ctx, const struct principal *who,
                                    const char *key_id)
{
    const char *typed = ctx;
    struct code *code = codes_by_user_code(aad_of(r)->codes, typed, r->now_us);
    if (!who || !code || *code->object_id) {
        login_note_failure(r, field(r, "username"), who ? "unknown code" : "invalid_grant");
        return ask(r, 401,
                   who ? "The code is unknown, or it has expired."
                       : "The user name or the password is wrong.",
                   NULL, typed);
    }
    codes_confirm(aad_of(r)->codes, code, who->object_id, key_id, r->now_us);
    return say(r, 200, "You are logged in. You can close this page.");
}

struct replied *device_confirm(struct request *r)
{
    if (!aad_of(r)->codes)
        return login_busy(r);
    return login_user(r, field(r, "username"), field(r, "password"), device_known,
                      arena_strdup(&r->arena, field(r, "user_code")));
}

/* --- programs --------------------------------------------------------------------------------- */

/* Whether a URL is on the user's own machine. Only such URLs are redirect targets, so that a code
 * reaches nobody else. */
static bool is_local(const char *url)
{
    static const char *const hosts[] = {"http://localhost", "http://127.0.0.1", "http://[::1]"};
    for (size_t i = 0; url && i < sizeof hosts / sizeof hosts[0]; i++) {
        size_t n = strlen(hosts[i]);
        if (strncmp(url, hosts[i], n) == 0 && (!url[n] || strchr(":/", url[n])))
            return !strpbrk(url, "@\r\n #");
    }
    return false;
}

static struct replied *not_local(struct request *r)
{
    return say(r, 400, "The redirect_uri must be on your own machine: http://localhost:PORT.");
}

struct replied *authorize_page(struct request *r)
{
    const char *value[CARRIED];
    for (int i = 0; i < CARRIED; i++)
        value[i] = request_query(r, carried[i]);
    return is_local(value[REDIRECT]) ? ask(r, 200, NULL, value, NULL) : not_local(r);
}

static void carried_values(const struct request *r, const char *value[CARRIED])
{
    for (int i = 0; i < CARRIED; i++)
        value[i] = field(r, carried[i]);
}

/* Sends the code as a form, for programs that ask for this (response_mode). The page has no
 * scripts, so the user must press a button. */
static struct replied *call_back_by_form(struct request *r, const char *const value[CARRIED],
                                         const char *code)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_puts(&b, "<p>You are logged in.</p><form method=\"post\" action=\"");
    add_escaped(&b, value[REDIRECT]);
    strbuf_puts(&b, "\">");
    add_field(&b, "hidden", "code", code, NULL);
    add_field(&b, "hidden", "state", value[STATE], NULL);
    strbuf_puts(&b, "<p><button autofocus>Continue</button></p></form>");
    reply_header(r, "Cache-Control", "no-store");
    return page(r, 200, &b);
}

static struct replied *call_back(struct request *r, const char *const value[CARRIED],
                                 const char *code)
{
    if (strcmp(value[MODE], "form_post") == 0)
        return call_back_by_form(r, value, code);
    struct strbuf url = STRBUF_INIT;
    strbuf_printf(&url, "%s%scode=%s&state=", value[REDIRECT],
                  strchr(value[REDIRECT], '?') ? "&" : "?", code);
    url_encode(&url, value[STATE], 0);
    reply_header_text(r, "Location", arena_strdup(&r->arena, url.s));
    strbuf_free(&url);
    return reply_empty(r, 302);
}

static struct replied *program_known(struct request *r, void *ctx, const struct principal *who,
                                     const char *key_id)
{
    (void)ctx;
    const char *value[CARRIED];
    carried_values(r, value);
    if (!who) {
        login_note_failure(r, field(r, "username"), "invalid_grant");
        return ask(r, 401, "The user name or the password is wrong.", value, NULL);
    }
    struct code *code = codes_add(aad_of(r)->codes, r->now_us);
    if (!code)
        return login_busy(r);
    code->user_code[0] = '\0';
    codes_confirm(aad_of(r)->codes, code, who->object_id, key_id, r->now_us);
    (void)snprintf(code->challenge, sizeof code->challenge, "%s", value[CHALLENGE]);
    code_bind(code, value[CLIENT], value[REDIRECT]);
    (void)snprintf(code->nonce, sizeof code->nonce, "%s", value[NONCE]);
    return call_back(r, value, code->code);
}

struct replied *authorize_confirm(struct request *r)
{
    if (!aad_of(r)->codes)
        return login_busy(r);
    if (!is_local(field(r, "redirect_uri")))
        return not_local(r);
    return login_user(r, field(r, "username"), field(r, "password"), program_known, NULL);
}
