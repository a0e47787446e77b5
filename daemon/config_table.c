/* SPDX-License-Identifier: MIT
 *
 * Every setting, once, and the checks of their values.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config.h"
#include "lib/guid.h"

static const char *const log_levels[] = {"debug", "info", "warn", "error", NULL};
static const char *const log_formats[] = {"text", "json", NULL};

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
    return err_set(e, ERR_CONFIG, NULL, "'%s' is no log level; use debug, info, warn or error",
                   value);
}

int config_check_log_format(const char *value, struct err *e)
{
    if (index_of(log_formats, value) >= 0)
        return 0;
    return err_set(e, ERR_CONFIG, NULL, "'%s' is no log format; use text or json", value);
}

enum log_level config_log_level(const char *name)
{
    return (enum log_level)index_of(log_levels, name);
}

enum log_format config_log_format(const char *name)
{
    return (enum log_format)index_of(log_formats, name);
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

static int check_guid(const char *value, struct err *e)
{
    if (guid_valid(value))
        return 0;
    return err_set(e, ERR_CONFIG, NULL,
                   "'%s' is no GUID; write one as in ba7c4a1d-0000-4000-8000-000000000000", value);
}

static int check_not_empty(const char *value, struct err *e)
{
    return *value ? 0 : err_set(e, ERR_CONFIG, NULL, "it must not be empty");
}

static int check_vm_size(const char *value, struct err *e)
{
    if (*value && !value[strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789_-")])
        return 0;
    return err_set(e, ERR_CONFIG, NULL, "'%s' is no VM size; write a name as in STANDARD_NC6",
                   value);
}

#define AT(field) offsetof(struct config, field)

const struct setting config_settings[] = {
    {"", "listen", SETTING_LIST, AT(listen), "localhost:7443", 0, 0, config_check_listen,
     "Where to serve HTTPS: a list of ADDR:PORT, IPv6 addresses in brackets. localhost means both "
     "loopback addresses; port 0 picks a free one. --listen replaces the list."},
    {"", "state_dir", SETTING_STR, AT(state_dir), "", 0, 0, NULL,
     "The directory that holds everything the daemon keeps. Empty: $BATCHAID_STATE_DIR, else "
     "$STATE_DIRECTORY (set by systemd), else $XDG_STATE_HOME/batchaid, else "
     "~/.local/state/batchaid. --state-dir goes before all of these."},
    {"log", "level", SETTING_STR, AT(log_level), "info", 0, 0, config_check_log_level,
     "What to log: debug, info, warn or error, and everything above it."},
    {"log", "format", SETTING_STR, AT(log_format), "text", 0, 0, config_check_log_format,
     "How a log line on standard error looks: text, or json for one JSON object a line."},
    {"subscription", "id", SETTING_STR, AT(subscription_id), "ba7c4a1d-0000-4000-8000-000000000000",
     0, 0, check_guid, "The GUID of the one subscription that is served."},
    {"subscription", "name", SETTING_STR, AT(subscription_name), "batchaid", 0, 0, check_not_empty,
     "The display name of that subscription."},
    {"auth", "token_lifetime_s", SETTING_INT, AT(token_lifetime_s), "3600", 60, 86400, NULL,
     "How many seconds an access token is good for."},
    {"compat", "retry_after_s", SETTING_INT, AT(retry_after_s), "1", 0, 3600, NULL,
     "How many seconds a client is asked to wait between two looks at an operation in progress."},
    {"compat", "strict", SETTING_BOOL, AT(strict), "false", 0, 0, NULL,
     "Answer with the headers of the Azure service: Retry-After is 15 seconds with a 202 and "
     "absent "
     "with an operation in progress, instead of retry_after_s, and Strict-Transport-Security is "
     "sent."},
    {"local", "nodes", SETTING_INT, AT(nodes), "100", 0, 10000, NULL,
     "How many nodes this machine may pretend to be, over all clusters."},
    {"local", "vm_sizes", SETTING_LIST, AT(vm_sizes), "", 0, 0, check_vm_size,
     "The VM sizes that local nodes may have; an empty list allows any."},
    {"local", "autoscale_idle_s", SETTING_INT, AT(autoscale_idle_s), "300", 0, 86400, NULL,
     "How many seconds a node of an automatically scaled cluster idles before it is let go."},
    {"quota", "clusters", SETTING_INT, AT(quota_clusters), "100", 0, 1000000, NULL,
     "How many clusters the subscription may have."},
    {"quota", "cores", SETTING_INT, AT(quota_cores), "1000", 0, 1000000000, NULL,
     "The limit on cores that usages shows."},
};
const size_t config_n_settings = sizeof config_settings / sizeof config_settings[0];

bool config_is_named(const struct setting *s, const char *dotted)
{
    size_t n = strlen(s->section);
    if (n == 0)
        return strcmp(s->key, dotted) == 0;
    return strncmp(s->section, dotted, n) == 0 && dotted[n] == '.' &&
           strcmp(s->key, dotted + n + 1) == 0;
}

const char *config_type_name(enum setting_type type)
{
    switch (type) {
    case SETTING_INT:
        return "number";
    case SETTING_BOOL:
        return "truth value";
    case SETTING_STR:
        return "text";
    case SETTING_LIST:
        return "list";
    }
    return "";
}

const char *config_example(enum setting_type type)
{
    switch (type) {
    case SETTING_INT:
        return "300";
    case SETTING_BOOL:
        return "true";
    case SETTING_STR:
        return "\"some text\"";
    case SETTING_LIST:
        return "[\"one\", \"two\"]";
    }
    return "";
}
