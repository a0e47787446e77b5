/* SPDX-License-Identifier: MIT
 *
 * Commands for the shell of a node. The shell may be bash or any sh, and mountpoint(1) may be
 * missing. So the commands search for mounts in /proc/self/mountinfo; this never touches a stuck
 * mount either.
 */
#include <string.h>

#include "lib/shell.h"
#include "scheduler/fleet/mount/plan.h"

static const char *taken(struct arena *a, struct strbuf *b)
{
    const char *text = arena_strdup(a, b->s ? b->s : "");
    strbuf_free(b);
    return text;
}

/* The value of the placeholder at `p` ("{name}..."), and its length; NULL: not a placeholder. */
static const char *placeholder(const char *p, const struct mount_words *w, size_t *len)
{
    const struct {
        const char *name, *value;
    } table[] = {
        {"{account}", w->account}, {"{share}", w->share},         {"{container}", w->share},
        {"{url}", w->url},         {"{options}", w->options},     {"{target}", w->target},
        {"{key}", w->key},         {"{workspace}", w->workspace}, {"{name}", w->name},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        *len = strlen(table[i].name);
        if (table[i].value && strncmp(p, table[i].name, *len) == 0)
            return table[i].value;
    }
    return NULL;
}

const char *mount_fill(struct arena *a, const char *text, const struct mount_words *words,
                       bool quoted)
{
    struct strbuf b = STRBUF_INIT;
    while (*text) {
        size_t len;
        const char *value = *text == '{' ? placeholder(text, words, &len) : NULL;
        if (!value) {
            strbuf_putc(&b, *text++);
            continue;
        }
        strbuf_puts(&b, quoted ? shell_quoted(a, value) : value);
        text += len;
    }
    return taken(a, &b);
}

/* Sets $target and $real, the target without symbolic links, and defines the function `mounted`.
 * Names in mountinfo have blanks and backslashes as octal escapes; %b decodes these. */
static void put_head(struct arena *a, struct strbuf *b, const char *root, const char *target)
{
    strbuf_printf(b, "root=%s target=%s\n", shell_quoted(a, root), shell_quoted(a, target));
    strbuf_puts(
        b, "PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin\n"
           "real=$(cd \"$root\" && pwd -P) || exit\n"
           "real=$real${target#\"$root\"}\n"
           "mounted() {\n"
           "  while read -r _ _ _ _ point _; do\n"
           "    case $point in *\\\\*) point=$(printf %b_ \"$point\"); point=${point%_};; esac\n"
           "    [ \"$point\" != \"$real\" ] || return 0\n"
           "  done </proc/self/mountinfo\n"
           "  return 1\n"
           "}\n");
}

const char *mount_script(struct arena *a, const char *root, const char *target, const char *mount,
                         const char *file, const char *dir)
{
    struct strbuf b = STRBUF_INIT;
    put_head(a, &b, root, target);
    if (file)
        strbuf_printf(&b, "file=%s\ntrap 'rm -f -- \"$file\"' EXIT\n", shell_quoted(a, file));
    strbuf_puts(&b, "if mounted; then exit 0; fi\n");
    if (dir)
        strbuf_printf(&b, "mkdir -p -- %s || exit\n", shell_quoted(a, dir));
    /* Root must not mount over the target of a link that a user put into a share. */
    strbuf_puts(&b, "mkdir -p -- \"$target\" && got=$(cd \"$target\" && pwd -P) || exit\n"
                    "if [ \"$got\" != \"$real\" ]; then\n"
                    "  echo \"a symbolic link is on the way to $target\" >&2; exit 1\n"
                    "fi\n");
    strbuf_printf(&b, "(\n%s\n) || exit\n", mount);
    /* Some helpers fork into the background before the mount is complete. */
    strbuf_puts(&b, "tries=0\n"
                    "until mounted; do\n"
                    "  tries=$((tries + 1))\n"
                    "  if [ $tries -gt 100 ]; then\n"
                    "    echo \"the command ended well, but nothing is mounted at $target\" >&2\n"
                    "    exit 1\n"
                    "  fi\n"
                    "  sleep 0.1\n"
                    "done\n");
    return taken(a, &b);
}

const char *unmount_script(struct arena *a, const char *root, const char *target,
                           const char *unmount)
{
    struct strbuf b = STRBUF_INIT;
    put_head(a, &b, root, target);
    strbuf_printf(&b, "if mounted; then\n%s\nfi\n", unmount);
    return taken(a, &b);
}
