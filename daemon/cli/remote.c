/* SPDX-License-Identifier: MIT
 *
 * The lines are for any POSIX shell, and every value in them is quoted. They contain the
 * fingerprint of the authority's certificate. The shell on the other machine fetches the
 * certificate from a server that is not yet trusted, compares the fingerprint, and removes the
 * certificate if it differs.
 */
#include "daemon/cli/remote.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/certs/certs.h"
#include "daemon/cli/client.h"
#include "daemon/cli/cloud.h"
#include "daemon/cli/environment.h"
#include "daemon/cli/login_file.h"
#include "lib/arena.h"
#include "lib/dns_name.h"
#include "lib/fs.h"
#include "lib/shell.h"

#define SCHEME  "https://"
#define CA_MAX  65536 /* the most bytes of a certificate */
#define DOMAIN  "@batchaid"
#define ADDRESS 46 /* bytes of an IPv6 address as text, with its NUL */

/* --- the endpoint ----------------------------------------------------------------------------- */

static bool is_host(const char *host, size_t len)
{
    unsigned char bytes[16];
    char text[ADDRESS];
    if (len > 2 && host[0] == '[' && host[len - 1] == ']' && len - 2 < sizeof text) {
        memcpy(text, host + 1, len - 2);
        text[len - 2] = '\0';
        return inet_pton(AF_INET6, text, bytes) == 1;
    }
    char *name = xcalloc(len + 1, 1);
    memcpy(name, host, len);
    bool is = is_dns_name(name);
    free(name);
    return is;
}

static bool is_port(const char *text)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    return isdigit((unsigned char)*text) && !*end && !errno && n > 0 && n <= 65535;
}

/* How many bytes scheme, host and port have: the whole URL without a slash at its end. */
static size_t url_length(const char *url)
{
    size_t len = strlen(url);
    return len && url[len - 1] == '/' ? len - 1 : len;
}

/* The colon before the port; NULL: no port. An address in brackets contains other colons. */
static const char *port_of(const char *host)
{
    const char *close = strchr(host, ']');
    return strchr(close ? close : host, ':');
}

int remote_check_endpoint(const char *url, struct err *e)
{
    bool is = strncasecmp(url, SCHEME, strlen(SCHEME)) == 0;
    char *text = xstrdup(url);
    text[url_length(url)] = '\0';
    if (is) {
        const char *host = text + strlen(SCHEME), *port = port_of(host);
        is = is_host(host, port ? (size_t)(port - host) : strlen(host)) &&
             (!port || is_port(port + 1));
    }
    free(text);
    return is ? 0
              : err_set(
                    e, ERR_CONFIG, NULL,
                    "'%.100s' is not a valid endpoint; write how clients reach the daemon, as in "
                    "https://gpu-head.lab:7443",
                    url);
}

char *remote_plain_url(const char *url)
{
    char *plain = xstrdup(url);
    plain[url_length(url)] = '\0';
    for (char *at = plain; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    return plain;
}

/* --- the lines -------------------------------------------------------------------------------- */

static int add_fingerprint(const struct state *s, struct strbuf *out, struct err *e)
{
    char *pem, fingerprint[CERTS_FINGERPRINT_SIZE];
    if (fs_read(s->ca_cert, CA_MAX, &pem, NULL, e) < 0)
        return -1;
    int rc = certs_fingerprint(pem, fingerprint, e);
    free(pem);
    if (rc == 0)
        strbuf_puts(out, fingerprint);
    return rc;
}

/* Adds the folder for az's logins. It is named after the endpoint, so that the user's default
 * folder is not changed. */
static void add_folder(struct strbuf *out, const char *url)
{
    strbuf_puts(out, "export AZURE_CONFIG_DIR=\"$HOME/.batchaid/");
    for (const char *at = url + strlen(SCHEME); *at; at++)
        strbuf_putc(out, *at == ':' ? '-' : *at);
    strbuf_puts(out, "\"\nmkdir -p -m 700 \"$AZURE_CONFIG_DIR\"\n");
}

static int add_authority(const struct state *s, const char *url, struct strbuf *out, struct err *e)
{
    static const char *const readers[] = {"REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
                                          "SSL_CERT_FILE"};
    strbuf_puts(out, "curl -fsSk -o \"$AZURE_CONFIG_DIR/ca.pem\" "
                     "\"$BATCHAID_ENDPOINT/batchaid/ca.pem\" &&\n"
                     "[ \"$(openssl x509 -noout -fingerprint -sha256 -in "
                     "\"$AZURE_CONFIG_DIR/ca.pem\" | cut -d= -f2)\" = ");
    if (add_fingerprint(s, out, e) < 0)
        return -1;
    strbuf_printf(out,
                  " ] || { rm -f \"$AZURE_CONFIG_DIR/ca.pem\"; echo \"batchaid: %s is not trusted: "
                  "its certificate cannot be fetched, or is not the one of the daemon that printed "
                  "these lines\" >&2; }\n",
                  url);
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
        strbuf_printf(out, "export %s=\"$AZURE_CONFIG_DIR/ca.pem\"\n", readers[i]);
    return 0;
}

/* Adds lines about the cloud. The variables that are unset would direct az to another cloud than
 * the registered one. */
static void add_cloud(struct strbuf *out, const char *url)
{
    char *config = cloud_config(url);
    strbuf_puts(out, "unset AZURE_CLOUD_NAME ARM_CLOUD_METADATA_URL\n"
                     "if [ -e \"$SSL_CERT_FILE\" ] && command -v az >/dev/null; then\n"
                     "  grep -qs '^." CLOUD_NAME ".$' \"$AZURE_CONFIG_DIR/clouds.config\" && "
                     "verb=update || verb=register\n"
                     "  az cloud $verb -n " CLOUD_NAME " --only-show-errors -o none "
                     "--cloud-config ");
    shell_quote(out, config);
    strbuf_puts(out, "\n  az cloud set -n " CLOUD_NAME " --only-show-errors -o none\n"
                     "fi\n");
    free(config);
}

static void add_login(struct strbuf *out, const struct environment *env, const char *user)
{
    if (user) {
        strbuf_puts(out, "unset AZURE_CLIENT_SECRET\n");
        shell_export(out, "AZURE_CLIENT_ID", LOGIN_CLIENT);
        shell_export(out, "AZURE_USERNAME", user);
        return;
    }
    strbuf_puts(out, "unset AZURE_USERNAME AZURE_PASSWORD\n");
    shell_export(out, "AZURE_CLIENT_ID", environment_get(env, "AZURE_CLIENT_ID"));
    shell_export(out, "AZURE_CLIENT_SECRET", environment_get(env, "AZURE_CLIENT_SECRET"));
}

static int add_lines(const struct state *s, const struct environment *env, const char *url,
                     const char *user, struct strbuf *out, struct err *e)
{
    static const char *const same[] = {"AZURE_SUBSCRIPTION_ID", "AZURE_TENANT_ID",
                                       "AZURE_CORE_COLLECT_TELEMETRY"};
    shell_export(out, "BATCHAID_ENDPOINT", url);
    shell_export(out, "AZURE_AUTHORITY_HOST", url);
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        shell_export(out, same[i], environment_get(env, same[i]));
    add_login(out, env, user);
    add_folder(out, url);
    if (add_authority(s, url, out, e) < 0)
        return -1;
    add_cloud(out, url);
    return 0;
}

/* --- the user --- */

static bool is_user(const json_t *one, const char *name)
{
    const char *kind = json_string_value(json_object_get(one, "kind"));
    const char *given = json_string_value(json_object_get(one, "name"));
    if (!kind || !given || strcmp(kind, "user") != 0)
        return false;
    size_t len = strlen(name);
    return strncasecmp(given, name, len) == 0 &&
           (!given[len] || (!strchr(name, '@') && strcmp(given + len, DOMAIN) == 0));
}

/* Finds the user's whole name; caller frees. */
static int find_user(struct daemon_client *c, const char *name, char **out, struct err *e)
{
    json_t *reply = NULL, *one;
    size_t i;
    *out = NULL;
    if (client_call_pages(c, "/batchaid/users", &reply, e) < 0)
        return -1;
    json_array_foreach(json_object_get(reply, "value"), i, one)
        if (!*out && is_user(one, name))
            *out = xstrdup(json_string_value(json_object_get(one, "name")));
    json_decref(reply);
    return *out ? 0
                : err_set(e, ERR_RESOURCE_NOT_FOUND, NULL,
                          "there is no user '%.100s'; add one with: batchaid user add %.100s", name,
                          name);
}

int remote_lines(const struct state *s, const char *endpoint, const char *user, struct strbuf *out,
                 struct err *e)
{
    struct environment env;
    struct daemon_client *c = NULL;
    char *name = NULL;
    if (environment_build(s, &env, e) < 0)
        return -1;
    char *url = remote_plain_url(endpoint ? endpoint : environment_get(&env, "BATCHAID_ENDPOINT"));
    int rc = client_open(s, &c, e);
    if (rc == 0 && user)
        rc = find_user(c, user, &name, e);
    if (rc == 0)
        rc = client_check_name(c, url, e);
    if (rc == 0)
        rc = add_lines(s, &env, url, name, out, e);
    client_close(c);
    free(name);
    free(url);
    environment_free(&env);
    return rc;
}
