/* SPDX-License-Identifier: MIT
 *
 * Checks of values: each function takes the text of one setting, and describes the problem in its
 * error. The functions have no side effects.
 */
#include "daemon/config/config_checks.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config/config.h"
#include "lib/dns_name.h"
#include "lib/guid.h"
#include "lib/network.h"

#define HOST_NAME_BYTES 200 /* leaves room for the prefix ACCOUNT.file.core. */

static const char *const log_levels[] = {"debug", "info", "warn", "error", NULL};
static const char *const log_formats[] = {"text", "json", NULL};
static_assert(sizeof log_levels / sizeof log_levels[0] == LOG_LVL_ERROR + 2 &&
                  sizeof log_formats / sizeof log_formats[0] == LOG_FMT_JSON + 2,
              "a place in the list is a value");

static int index_of(const char *const *names, const char *value)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], value) == 0)
            return i;
    return -1;
}

int config_check_log_level(const char *value, struct err *e)
{
    if (index_of(log_levels, value) >= 0)
        return 0;
    return err_set(e, ERR_CONFIG, NULL,
                   "'%s' is not a valid log level; use debug, info, warn or error", value);
}

int config_check_log_format(const char *value, struct err *e)
{
    if (index_of(log_formats, value) >= 0)
        return 0;
    return err_set(e, ERR_CONFIG, NULL, "'%s' is not a valid log format; use text or json", value);
}

enum log_level config_log_level(const char *name)
{
    int i = index_of(log_levels, name);
    assert(i >= 0); /* not -1, because the text was checked when the file was read */
    return (enum log_level)i;
}

enum log_format config_log_format(const char *name)
{
    int i = index_of(log_formats, name);
    assert(i >= 0);
    return (enum log_format)i;
}

static int bad_listen(const char *value, const char *what, struct err *e)
{
    return err_set(
        e, ERR_CONFIG, NULL,
        "cannot listen on '%s': %s; write ADDR:PORT, as in 127.0.0.1:7443, [::1]:7443 or "
        "localhost:7443 (port 0 picks a free one)",
        value, what);
}

static int parse_port(const char *value, const char *text, int *port, struct err *e)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || n > 65535)
        return bad_listen(value, "the port must be a number from 0 to 65535", e);
    *port = (int)n;
    return 0;
}

int config_parse_listen(const char *value, char host[CONFIG_HOST_SIZE], int *port, struct err *e)
{
    const char *colon = strrchr(value, ':');
    if (!colon)
        return bad_listen(value, "it has no port", e);
    const char *from = value;
    size_t len = (size_t)(colon - value);
    bool bracketed = len >= 2 && from[0] == '[' && from[len - 1] == ']';
    if (bracketed) {
        from++;
        len -= 2;
    }
    if (len >= CONFIG_HOST_SIZE)
        return bad_listen(value, "the address is too long", e);
    memcpy(host, from, len);
    host[len] = '\0';

    unsigned char addr[sizeof(struct in6_addr)];
    bool v6 = inet_pton(AF_INET6, host, addr) == 1;
    if (v6 && !bracketed)
        return bad_listen(value, "an IPv6 address needs brackets", e);
    bool v4 = inet_pton(AF_INET, host, addr) == 1 || strcmp(host, "localhost") == 0;
    if (bracketed ? !v6 : !v4)
        return bad_listen(value, "it has no IP address", e);
    return parse_port(value, colon + 1, port, e);
}

int config_check_listen(const char *value, struct err *e)
{
    char host[CONFIG_HOST_SIZE];
    int port;
    return config_parse_listen(value, host, &port, e);
}

int config_check_guid(const char *value, struct err *e)
{
    if (guid_valid(value))
        return 0;
    return err_set(e, ERR_CONFIG, NULL,
                   "'%s' is not a valid GUID; write it as in ba7c4a1d-0000-4000-8000-000000000000",
                   value);
}

int config_check_host_name(const char *value, struct err *e)
{
    if (is_dns_name(value) && strlen(value) <= HOST_NAME_BYTES)
        return 0;
    return err_set(e, ERR_CONFIG, NULL,
                   "'%.80s' is not a valid host name; write it as in gpu-head.lab, without a port",
                   value);
}

int config_check_not_empty(const char *value, struct err *e)
{
    return *value ? 0 : err_set(e, ERR_CONFIG, NULL, "it must not be empty");
}

int config_check_vm_size(const char *value, struct err *e)
{
    if (*value && !value[strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789_-")])
        return 0;
    return err_set(e, ERR_CONFIG, NULL,
                   "'%s' is not a valid VM size; write a name as in STANDARD_NC6", value);
}

int config_check_network(const char *value, struct err *e)
{
    struct network net;
    if (network_read(value, &net, e) == 0)
        return 0;
    e->code = ERR_CONFIG;
    return -1;
}

int config_check_path(const char *value, struct err *e)
{
    if (!*value || *value == '/')
        return 0;
    return err_set(e, ERR_CONFIG, NULL, "'%s' is not an absolute path; begin it with /", value);
}

int config_check_needed_path(const char *value, struct err *e)
{
    return *value ? config_check_path(value, e)
                  : err_set(e, ERR_CONFIG, NULL, "it must not be empty; write an absolute path");
}

/* A name that is safe in a command line and in a path, and cannot be mistaken for an option. */
int config_check_account(const char *value, struct err *e)
{
    if (!value[strspn(value,
                      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._@-")] &&
        *value != '-' && strlen(value) <= 64)
        return 0;
    return err_set(
        e, ERR_CONFIG, NULL,
        "'%s' is not a valid account name; use at most 64 letters, digits, '.', '_', '@' and '-', "
        "and no '-' first",
        value);
}

int config_check_one_line(const char *value, struct err *e)
{
    for (const char *p = value; *p; p++)
        if ((unsigned char)*p < ' ')
            return err_set(e, ERR_CONFIG, NULL, "it has a control character; write one line");
    return 0;
}

/* Refuses unknown placeholders. Braces of the shell, as in ${HOME} and { echo; }, are not
 * placeholders. */
static int check_placeholders(const char *value, const char *const *known, struct err *e)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
    for (const char *p = strchr(value, '{'); p; p = strchr(p + 1, '{')) {
        char name[32];
        size_t n = strspn(p + 1, letters);
        bool of_the_shell = p > value && p[-1] == '$';
        if (of_the_shell || n == 0 || p[1 + n] != '}')
            continue;
        snprintf(name, sizeof name, "%.*s", (int)n, p + 1);
        if (index_of(known, name) >= 0)
            continue;
        struct strbuf b = STRBUF_INIT;
        for (size_t i = 0; known[i]; i++)
            strbuf_printf(&b, "%s{%s}", i == 0 ? "" : known[i + 1] ? ", " : " or ", known[i]);
        err_set(e, ERR_CONFIG, NULL, "{%s} is not a placeholder here; use %s", name, b.s);
        strbuf_free(&b);
        return -1;
    }
    return config_check_one_line(value, e);
}

int config_check_mount_text(const char *value, struct err *e)
{
    static const char *const known[] = {"account", "share",   "container", "key",
                                        "url",     "options", "target",    NULL};
    return check_placeholders(value, known, e);
}

static int check_server_text(const char *value, struct err *e)
{
    static const char *const known[] = {"workspace", "name", NULL};
    return check_placeholders(value, known, e);
}

int config_check_server_path(const char *value, struct err *e)
{
    return config_check_path(value, e) < 0 ? -1 : check_server_text(value, e);
}

/* Accepts two patterns with a slash between them. */
int config_check_match(const char *value, struct err *e)
{
    const char *slash = strchr(value, '/');
    if (slash && slash > value && slash[1] && !strchr(slash + 1, '/'))
        return 0;
    return err_set(
        e, ERR_CONFIG, NULL,
        "'%s' is not a valid ACCOUNT/SHARE; write two patterns with one slash, as in */* or "
        "mystorage/data-*",
        value);
}

bool config_is_export(const char *value)
{
    const char *colon = strstr(value, ":/");
    return colon && colon > value && *value != '-';
}

int config_check_export(const char *value, struct err *e)
{
    if (!*value || config_is_export(value))
        return check_server_text(value, e);
    return err_set(e, ERR_CONFIG, NULL, "'%s' is not a valid NFS export; write HOST:/path", value);
}
