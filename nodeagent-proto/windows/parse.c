/* SPDX-License-Identifier: MIT
 *
 * Parses an expanded command line into a tree. Operators bind in the order | && || &; a line break
 * is like &, but also ends the commands of an if or for. A ^ takes the special meaning from the
 * next character, as quotes do.
 */
#include <ctype.h>
#include <string.h>

#include "nodeagent-proto/windows/windows_priv.h"

struct cmd_parser {
    struct arena *arena;
    const char *p;
    int depth;       /* nesting of blocks and conditions */
    int blocks;      /* open blocks: inside a block, a ) ends a command */
    bool one_line;   /* in a command of if or for: the command ends at the end of its line */
    const char *why; /* set on failure */
};

static const struct cmd_node *parse_sequence(struct cmd_parser *p);

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_delimiter(char c)
{
    return is_blank(c) || c == ',' || c == ';' || c == '=';
}

static void skip_blanks(struct cmd_parser *p)
{
    while (is_delimiter(*p->p))
        p->p++;
}

static void skip_lines(struct cmd_parser *p)
{
    while (is_blank(*p->p) || *p->p == '\n')
        p->p++;
}

static const struct cmd_node *unexpected(struct cmd_parser *p)
{
    size_t n = strcspn(p->p, " \t\r\n");
    p->why = n == 0 ? "The syntax of the command is incorrect."
                    : arena_printf(p->arena, "%.*s was unexpected at this time.",
                                   (int)(n < 40 ? n : 40), p->p);
    return NULL;
}

static struct cmd_node *make(struct cmd_parser *p, enum cmd_node_kind kind)
{
    struct cmd_node *n = arena_alloc(p->arena, sizeof *n);
    n->kind = kind;
    return n;
}

/* Whether the keyword `word` is next (in any case, followed by a separator). If so, moves past
 * it. */
static bool keyword(struct cmd_parser *p, const char *word)
{
    size_t n = strlen(word);
    char after = strncasecmp(p->p, word, n) == 0 ? p->p[n] : 'x';
    if (after && !is_delimiter(after) && !strchr("\n()&|<>/\"", after))
        return false;
    p->p += n;
    return true;
}

/* Whether an operator, or the end of the text, is next. */
static bool at_end(const struct cmd_parser *p)
{
    return !*p->p || *p->p == '\n' || *p->p == '&' || *p->p == '|' ||
           (*p->p == ')' && p->blocks > 0);
}

/* The target of a redirection: one word, with its quotes. */
static const char *read_target(struct cmd_parser *p)
{
    struct strbuf b = STRBUF_INIT;
    bool quoted = false;
    while (is_blank(*p->p))
        p->p++;
    while (*p->p && *p->p != '\n' &&
           (quoted || !(is_delimiter(*p->p) || strchr("&|<>()", *p->p)))) {
        if (!quoted && *p->p == '^' && p->p[1])
            p->p++;
        else
            quoted ^= *p->p == '"';
        strbuf_putc(&b, *p->p++);
    }
    const char *out = b.len > 0 ? arena_strndup(p->arena, b.s, b.len) : NULL;
    strbuf_free(&b);
    return out;
}

/* Reads <, >, >>, 2>&1 and the like; `fd` is the descriptor before the sign. */
static int read_redirection(struct cmd_parser *p, struct cmd_node *n, int fd)
{
    struct redirection *r = arena_alloc(p->arena, sizeof *r), **last = &n->redirections;
    r->how = *p->p++;
    r->fd = fd >= 0 ? fd : r->how == '>';
    if (r->how == '>' && *p->p == '>') {
        r->how = 'a';
        p->p++;
    }
    if (*p->p == '&') {
        if (!isdigit((unsigned char)p->p[1]))
            return -1;
        r->how = '&';
        r->from = p->p[1] - '0';
        p->p += 2;
    } else if (!(r->target = read_target(p))) {
        return -1;
    }
    while (*last)
        last = &(*last)->next;
    *last = r;
    return 0;
}

/* The descriptor before a redirection, if there is one: a digit that is a separate word. */
static int descriptor_before(struct strbuf *b)
{
    if (b->len == 0 || !isdigit((unsigned char)b->s[b->len - 1]) ||
        (b->len > 1 && !is_delimiter(b->s[b->len - 2])))
        return -1;
    int fd = b->s[b->len - 1] - '0';
    strbuf_cut(b, b->len - 1);
    return fd;
}

/* Parses a command, which ends at the next operator. */
static const struct cmd_node *parse_command(struct cmd_parser *p)
{
    struct cmd_node *n = make(p, NODE_COMMAND);
    struct strbuf b = STRBUF_INIT;
    bool quoted = false, fine = true;
    while (fine && (quoted ? *p->p && *p->p != '\n' : !at_end(p))) {
        char c = *p->p;
        if (!quoted && c == '^') {
            p->p++;
            p->p += *p->p == '\n'; /* continues in the next line */
            if (*p->p)
                strbuf_putc(&b, *p->p++);
        } else if (!quoted && (c == '<' || c == '>')) {
            fine = read_redirection(p, n, descriptor_before(&b)) == 0;
        } else {
            quoted ^= c == '"';
            strbuf_putc(&b, c);
            p->p++;
        }
    }
    n->text = arena_strndup(p->arena, b.s ? b.s : "", b.len);
    strbuf_free(&b);
    return fine ? n : unexpected(p);
}

static int read_block_redirections(struct cmd_parser *p, struct cmd_node *n)
{
    for (;;) {
        while (is_blank(*p->p))
            p->p++;
        int fd = -1;
        if (isdigit((unsigned char)*p->p) && (p->p[1] == '<' || p->p[1] == '>'))
            fd = *p->p++ - '0';
        if (*p->p != '<' && *p->p != '>')
            return 0;
        if (read_redirection(p, n, fd) < 0)
            return -1;
    }
}

static const struct cmd_node *parse_block(struct cmd_parser *p)
{
    struct cmd_node *n = make(p, NODE_BLOCK);
    bool one_line = p->one_line;
    p->p++;
    p->blocks++;
    p->one_line = false;
    n->left = parse_sequence(p);
    p->one_line = one_line;
    p->blocks--;
    if (p->why)
        return NULL;
    if (*p->p != ')' || !n->left)
        return unexpected(p);
    p->p++;
    return read_block_redirections(p, n) < 0 ? unexpected(p) : n;
}

/* The commands that belong to an if, else or for. */
static const struct cmd_node *parse_body(struct cmd_parser *p)
{
    bool one_line = p->one_line;
    p->one_line = true;
    const struct cmd_node *n = parse_sequence(p);
    p->one_line = one_line;
    return n;
}

/* A word of a condition: up to a blank or ==. NULL: there is no word. */
static const char *read_word(struct cmd_parser *p)
{
    bool quoted = false;
    skip_blanks(p);
    const char *start = p->p;
    while (*p->p && *p->p != '\n' &&
           (quoted || !(is_delimiter(*p->p) || strchr("&|<>()", *p->p)))) {
        quoted ^= *p->p == '"';
        p->p++;
    }
    return p->p > start ? arena_strndup(p->arena, start, (size_t)(p->p - start)) : NULL;
}

static int parse_condition(struct cmd_parser *p, struct cmd_node *n)
{
    static const struct {
        const char *word;
        enum condition condition;
    } words[] = {{"exist", IF_EXIST}, {"defined", IF_DEFINED}, {"errorlevel", IF_ERRORLEVEL}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (keyword(p, words[i].word)) {
            n->condition = words[i].condition;
            n->a = read_word(p);
            return n->a ? 0 : -1;
        }
    n->a = read_word(p);
    if (!n->a)
        return -1;
    while (is_blank(*p->p))
        p->p++;
    if (p->p[0] == '=' && p->p[1] == '=') {
        n->condition = IF_EQUAL;
    } else {
        n->condition = IF_COMPARE;
        n->op = read_word(p);
        if (!n->op)
            return -1;
    }
    n->b = read_word(p);
    return n->b ? 0 : -1;
}

static const struct cmd_node *parse_if(struct cmd_parser *p)
{
    struct cmd_node *n = make(p, NODE_IF);
    for (skip_blanks(p);; skip_blanks(p)) {
        if (keyword(p, "/i"))
            n->no_case = true;
        else if (keyword(p, "not"))
            n->negated = !n->negated;
        else
            break;
    }
    if (parse_condition(p, n) < 0)
        return unexpected(p);
    skip_blanks(p);
    bool block = *p->p == '(';
    n->left = parse_body(p);
    if (!n->left)
        return p->why ? NULL : unexpected(p);
    skip_blanks(p);
    if (!block || !keyword(p, "else"))
        return n;
    skip_blanks(p);
    n->right = parse_body(p);
    return n->right || p->why ? n : unexpected(p);
}

/* for [/l | /d] %x in (...) do ... */
static const struct cmd_node *parse_for(struct cmd_parser *p)
{
    struct cmd_node *n = make(p, NODE_FOR);
    skip_blanks(p);
    if (*p->p == '/') {
        n->option = (char)tolower((unsigned char)p->p[1]);
        if (n->option != 'l' && n->option != 'd')
            return unexpected(p);
        p->p += 2;
        skip_blanks(p);
    }
    if (*p->p != '%' || !isalpha((unsigned char)p->p[1]))
        return unexpected(p);
    n->letter = p->p[1];
    p->p += 2;
    skip_blanks(p);
    if (!keyword(p, "in"))
        return unexpected(p);
    skip_blanks(p);
    size_t size = *p->p == '(' ? strcspn(p->p, ")\n") : 0;
    if (size == 0 || p->p[size] != ')')
        return unexpected(p);
    n->text = arena_strndup(p->arena, p->p + 1, size - 1);
    p->p += size + 1;
    skip_blanks(p);
    if (!keyword(p, "do"))
        return unexpected(p);
    skip_blanks(p);
    n->left = parse_body(p);
    return n->left || p->why ? n : unexpected(p);
}

/* rem, or a label inside a block: the rest of the line is no command. */
static const struct cmd_node *parse_remark(struct cmd_parser *p)
{
    struct cmd_node *n = make(p, NODE_COMMAND);
    n->text = "rem";
    skip_blanks(p);
    if (!at_end(p))
        p->p += strcspn(p->p, "\n");
    return n;
}

static const struct cmd_node *parse_primary(struct cmd_parser *p)
{
    skip_blanks(p);
    while (*p->p == '@' || is_delimiter(*p->p))
        p->p++;
    if (++p->depth > WINDOWS_DEPTH) {
        p->why = "The command line has too many blocks in one another.";
        return NULL;
    }
    const char *start = p->p;
    const struct cmd_node *n;
    if (*p->p == '(')
        n = parse_block(p);
    else if (keyword(p, "if"))
        n = parse_if(p);
    else if (keyword(p, "for"))
        n = parse_for(p);
    else if (*p->p == ':' || keyword(p, "rem"))
        n = parse_remark(p);
    else if (p->p = start, at_end(p))
        n = unexpected(p);
    else
        n = parse_command(p);
    p->depth--;
    return p->why ? NULL : n;
}

/* A node with the commands before (`left`) and after (`right`) an operator. */
static const struct cmd_node *join(struct cmd_parser *p, enum cmd_node_kind kind,
                                   const struct cmd_node *left, const struct cmd_node *right)
{
    struct cmd_node *n = make(p, kind);
    n->left = left;
    n->right = right;
    return right ? n : NULL;
}

static const struct cmd_node *parse_pipe(struct cmd_parser *p)
{
    const struct cmd_node *n = parse_primary(p);
    while (n && p->p[0] == '|' && p->p[1] != '|') {
        p->p++;
        n = join(p, NODE_PIPE, n, parse_primary(p));
    }
    return n;
}

static const struct cmd_node *parse_and(struct cmd_parser *p)
{
    const struct cmd_node *n = parse_pipe(p);
    while (n && p->p[0] == '&' && p->p[1] == '&') {
        p->p += 2;
        n = join(p, NODE_AND, n, parse_pipe(p));
    }
    return n;
}

static const struct cmd_node *parse_or(struct cmd_parser *p)
{
    const struct cmd_node *n = parse_and(p);
    while (n && p->p[0] == '|' && p->p[1] == '|') {
        p->p += 2;
        n = join(p, NODE_OR, n, parse_and(p));
    }
    return n;
}

static bool is_separator(const struct cmd_parser *p)
{
    return *p->p == '&' || (*p->p == '\n' && !p->one_line);
}

/* Whether another command follows after an & or a line break. */
static bool goes_on(struct cmd_parser *p)
{
    bool on = is_separator(p);
    while (is_separator(p) || is_blank(*p->p))
        p->p++;
    return on && *p->p && *p->p != '\n' && !(*p->p == ')' && p->blocks > 0);
}

static const struct cmd_node *parse_sequence(struct cmd_parser *p)
{
    skip_lines(p);
    const struct cmd_node *n = parse_or(p);
    while (n && goes_on(p))
        n = join(p, NODE_SEQUENCE, n, parse_or(p));
    return n;
}

int parse(struct arena *a, const char *text, const struct cmd_node **out, const char **why)
{
    struct cmd_parser p = {.arena = a, .p = text};
    skip_lines(&p);
    *out = NULL;
    if (!*p.p)
        return 0;
    *out = parse_sequence(&p);
    if (*out && *p.p)
        unexpected(&p);
    *why = p.why;
    return p.why ? -1 : 0;
}
