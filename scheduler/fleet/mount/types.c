/* SPDX-License-Identifier: MIT
 *
 * The types of rules under `mounts`, and the plan of each for a share or container.
 */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "lib/shell.h"
#include "scheduler/fleet/mount/plan_priv.h"

static const char *work_file(struct planning *p, const char *suffix)
{
    return arena_printf(p->a, "%s/%zu.%s", p->node->work_dir, p->i, suffix);
}

static bool is_given(const char *text)
{
    return text && *text;
}

static const char *source_of(struct planning *p, const char *otherwise)
{
    return mount_fill(p->a, is_given(p->rule->source) ? p->rule->source : otherwise, &p->words,
                      false);
}

static bool plan_local(struct planning *p)
{
    p->out->folder = source_of(p, NULL);
    return true;
}

static bool plan_bind(struct planning *p)
{
    struct arena *a = p->a;
    plan_set_command(p, arena_printf(a, "mount --bind %s%s %s", plan_options(p, &p->options, 1),
                                     shell_quoted(a, source_of(p, NULL)),
                                     shell_quoted(a, p->out->target)));
    return true;
}

static bool plan_nfs(struct planning *p)
{
    struct arena *a = p->a;
    const char *parts[] = {p->options, plan_own_options(p)};
    plan_set_command(p, arena_printf(a, "mount -t nfs %s%s %s", plan_options(p, parts, 2),
                                     shell_quoted(a, source_of(p, NULL)),
                                     shell_quoted(a, p->out->target)));
    return true;
}

static bool need_key(struct planning *p)
{
    const struct front_words *w = p->node->words;
    const char *key = p->m->key;
    if (!key || !*key)
        return plan_refuse(p, p->out->code,
                           front_say(w, p->a,
                                     "%s: the volume has no {account_key}, which this way of "
                                     "mounting needs",
                                     p->out->what),
                           front_text(w, p->a, "give {account_key_path} with the volume"));
    for (; *key; key++)
        if (iscntrl((unsigned char)*key))
            return plan_refuse(p, p->out->code,
                               front_say(w, p->a,
                                         "%s: the {account_key} has a line break or another "
                                         "control character in it",
                                         p->out->what),
                               "copy the key from the storage account");
    return true;
}

/* Credentials in the site's options replace the volume's key. */
static bool site_has_credentials(const char *options)
{
    static const char *const names[] = {
        "credentials=", "cred=", "username=", "user=", "sec=krb5", "guest"};
    for (size_t i = 0; options && i < sizeof names / sizeof names[0]; i++)
        if (strstr(options, names[i]))
            return true;
    return false;
}

static bool plan_cifs(struct planning *p)
{
    struct arena *a = p->a;
    const struct mount_volume *m = p->m;
    const char *credentials = NULL;
    if (!site_has_credentials(p->options)) {
        if (!need_key(p))
            return false;
        p->out->file = work_file(p, "credentials");
        p->out->file_text = arena_printf(a, "username=%s\npassword=%s\n", m->account, m->key);
        credentials = arena_printf(a, "credentials=%s", p->out->file);
    }
    const char *parts[] = {
        "vers=3.0,serverino",
        arena_printf(a, "dir_mode=%s", m->directory_mode ? m->directory_mode : "0777"),
        arena_printf(a, "file_mode=%s", m->file_mode ? m->file_mode : "0777"),
        credentials,
        p->options,
        plan_own_options(p),
    };
    const char *options = plan_options(p, parts, sizeof parts / sizeof parts[0]);
    plan_set_command(p, arena_printf(a, "mount -t cifs %s%s %s", options,
                                     shell_quoted(a, source_of(p, "//{url}/{share}")),
                                     shell_quoted(a, p->out->target)));
    return true;
}

/* An agent that is root mounts for another account, the run's user, so it needs allow_other. */
static bool plan_sshfs(struct planning *p)
{
    struct arena *a = p->a;
    const char *parts[] = {"BatchMode=yes,reconnect,ServerAliveInterval=15,ServerAliveCountMax=3",
                           p->node->is_root ? "allow_other" : NULL, p->options,
                           plan_own_options(p)};
    plan_set_command(p, arena_printf(a, "sshfs %s%s %s", plan_options(p, parts, 4),
                                     shell_quoted(a, source_of(p, NULL)),
                                     shell_quoted(a, p->out->target)));
    return true;
}

static const char *yaml_quote(struct arena *a, const char *text)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_putc(&b, '\'');
    for (; *text; text++)
        strbuf_puts(&b, *text == '\'' ? "''" : (const char[]){*text, '\0'});
    strbuf_putc(&b, '\'');
    const char *quoted = arena_strdup(a, b.s);
    strbuf_free(&b);
    return quoted;
}

static const char *blobfuse_config(struct planning *p, const char *cache)
{
    struct arena *a = p->a;
    const char *endpoint = source_of(p, "{url}");
    if (!strstr(endpoint, "://"))
        endpoint = arena_printf(a, "https://%s", endpoint);
    return arena_printf(a,
                        "allow-other: %s\n"
                        "logging:\n  type: syslog\n  level: log_warning\n"
                        "components: [libfuse, file_cache, attr_cache, azstorage]\n"
                        "file_cache:\n  path: %s\n  timeout-sec: 120\n"
                        "  allow-non-empty-temp: true\n"
                        "azstorage:\n  type: block\n  mode: key\n  account-name: %s\n"
                        "  account-key: %s\n  container: %s\n  endpoint: %s\n",
                        p->node->is_root ? "true" : "false", yaml_quote(a, cache),
                        yaml_quote(a, p->words.account), yaml_quote(a, p->m->key),
                        yaml_quote(a, p->words.share), yaml_quote(a, endpoint));
}

/* Adds options after -o, or, if they begin with a dash, arguments separated by blanks, as the real
 * service does. */
static void put_arguments(struct arena *a, struct strbuf *b, const char *options)
{
    if (is_given(options) && *options != '-') {
        strbuf_printf(b, " -o %s", shell_quoted(a, options));
        return;
    }
    while (options && *(options += strspn(options, " \t"))) {
        size_t n = strcspn(options, " \t");
        strbuf_printf(b, " %s", shell_quoted(a, arena_strndup(a, options, n)));
        options += n;
    }
}

static bool plan_blobfuse2(struct planning *p)
{
    struct arena *a = p->a;
    if (!need_key(p))
        return false;
    const char *cache = work_file(p, "cache");
    p->out->file = work_file(p, "yaml");
    p->out->file_text = blobfuse_config(p, cache);
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "blobfuse2 mount %s %s", shell_quoted(a, p->out->target),
                  shell_quoted(a, arena_printf(a, "--config-file=%s", p->out->file)));
    put_arguments(a, &b, p->options);
    put_arguments(a, &b, p->m->options);
    p->out->shown = arena_strdup(a, b.s);
    strbuf_free(&b);
    p->out->command =
        mount_script(a, p->node->root, p->out->target, p->out->shown, p->out->file, cache);
    return true;
}

static bool plan_command(struct planning *p)
{
    struct arena *a = p->a;
    const struct mount_volume *m = p->m;
    const char *parts[] = {p->options, m->options};
    p->words.options = plan_joined(a, parts, 2);
    if (m->key)
        p->out->env[p->out->n_env++] =
            (struct kv){.name = "BATCHAI_KEY", .value = m->key, .is_secret = true};
    plan_set_command(p, mount_fill(a, p->rule->command, &p->words, true));
    return true;
}

static bool asks_for_key(const char *text)
{
    return text && strstr(text, "{key}");
}

/* Fills the values for the placeholders of the rule; {key} only if a text contains it. */
static bool fill_words(struct planning *p)
{
    const struct site_mount_rule *r = p->rule;
    if (asks_for_key(r->source) || asks_for_key(r->options) || asks_for_key(r->command)) {
        if (!need_key(p))
            return false;
        p->out->file = p->words.key = work_file(p, "key");
        p->out->file_text = p->m->key;
    }
    p->options = mount_fill(p->a, r->options ? r->options : "", &p->words, false);
    return true;
}

static const struct way {
    const char *name;
    bool needs_root, needs_text; /* source or command */
    bool (*plan)(struct planning *p);
} ways[] = {
    [SITE_MOUNT_LOCAL] = {"local", false, true, plan_local},
    [SITE_MOUNT_BIND] = {"bind", true, true, plan_bind},
    [SITE_MOUNT_NFS] = {"nfs", true, true, plan_nfs},
    [SITE_MOUNT_CIFS] = {"cifs", true, false, plan_cifs},
    [SITE_MOUNT_SSHFS] = {"sshfs", false, true, plan_sshfs},
    [SITE_MOUNT_BLOBFUSE2] = {"blobfuse2", false, false, plan_blobfuse2},
    [SITE_MOUNT_COMMAND] = {"command", false, true, plan_command},
};
static_assert(sizeof ways / sizeof ways[0] == SITE_MOUNT_COMMAND + 1, "a row a type");

bool plan_by_type(struct planning *p)
{
    const struct way *way = &ways[p->rule->type];
    bool command = p->rule->type == SITE_MOUNT_COMMAND;
    if (way->needs_root && !p->node->is_root)
        return plan_refuse_without_root(p, way->name);
    if (is_given(command ? p->rule->command : p->rule->source) || !way->needs_text)
        return fill_words(p) && way->plan(p);
    return plan_refuse(p, FAIL_MOUNT_NOT_CONFIGURED,
                       arena_printf(p->a, "%s: its rule of type %s has no %s", p->out->what,
                                    way->name, command ? "command" : "source"),
                       "complete the rule under `mounts` in batchaid's configuration");
}
