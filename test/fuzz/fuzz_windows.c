/* SPDX-License-Identifier: MIT
 *
 * Command lines of Windows, up to what would run: a variable, and then the line.
 *
 *     NAME=VALUE
 *     cmd /c ...
 *
 * Whatever it is, taking it apart ends, within the bounds; what is refused is refused with a
 * reason.
 */
#include "nodeagent-proto/windows/windows_priv.h"
#include "test/fuzz/fuzz.h"

static void check_words(struct arena *a, const char *line)
{
    size_t n = 0, bytes = 0;
    for (char **words = words_split(a, line); words[n]; n++)
        bytes += strlen(words[n]);
    CLAIM(n <= WINDOWS_WORDS && bytes <= strlen(line));
}

static void check_tree(const struct cmd_node *n, int depth)
{
    CLAIM(depth < 100000);
    for (; n; depth++) {
        CLAIM(n->kind != NODE_COMMAND || n->text);
        for (const struct redirection *r = n->redirections; r; r = r->next)
            CLAIM(r->how == '&' ? r->from >= 0 && r->from <= 9 : r->target && *r->target);
        check_tree(n->right, depth + 1);
        n = n->left;
    }
}

static void check_line(struct shell *sh, const char *line)
{
    struct cmd_line cmd;
    const struct cmd_node *tree = NULL;
    const char *why = NULL;
    if (!cmd_line_read(sh->arena, line, &cmd) || !cmd.command)
        return;
    const char *text = expand(sh, cmd.command);
    if (!text)
        return;
    CLAIM(strlen(text) <= WINDOWS_LONGEST);
    int rc = parse(sh->arena, text, &tree, &why);
    tell("line", rc, why);
    CLAIM(rc == 0 ? !why : why && *why);
    if (rc == 0)
        check_tree(tree, 0);
    sh->delayed = true;
    text = expand_late(sh, text);
    CLAIM(!text || strlen(text) <= WINDOWS_LONGEST);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pieces in = {(const char *)data, (const char *)data + size};
    char *pair = next_line(&in);
    char *environment[] = {pair, NULL};
    struct arena arena;
    arena_init(&arena);
    struct shell sh = {.arena = &arena, .line = ""};
    char *line = malloc((size_t)(in.end - in.p) + 1), *to = line;
    for (const char *p = in.p; p < in.end; p++)
        if (*p)
            *to++ = *p;
    *to = '\0';
    variables_init(&sh.variables, &arena, environment);
    char *all[] = {arena_strdup(&arena, "%0"), arena_strdup(&arena, "a b"), NULL};
    struct batch_file batch = {.given = all, .all = "a b", .path = "x/y.cmd"};
    check_words(&arena, line);
    check_line(&sh, line);
    sh.batch = &batch;
    sh.delayed = false;
    check_line(&sh, line);
    arena_free(&arena);
    free(line);
    free(pair);
    return 0;
}
