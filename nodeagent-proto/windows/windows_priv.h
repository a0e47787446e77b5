/* SPDX-License-Identifier: MIT
 *
 * Declarations shared by the files of this directory. The stages of a command line: words.c finds
 * "cmd /c" in it, expand.c replaces the %VARIABLES%, parse.c makes a tree, run.c executes the tree,
 * with builtins*.c for commands inside cmd and programs.c for all others.
 *
 * Memory is in an arena of the command line. But each line of a batch file and each pass of a loop
 * has a separate arena, because both may repeat without end.
 */
#ifndef NODEAGENT_PROTO_WINDOWS_WINDOWS_PRIV_H
#define NODEAGENT_PROTO_WINDOWS_WINDOWS_PRIV_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/arena.h"
#include "lib/strbuf.h"

enum {
    /* characters of a command line (the limit of Windows); also after expansion */
    WINDOWS_LONGEST = 32768,
    WINDOWS_DEPTH = 64,   /* nesting of blocks, conditions and calls */
    WINDOWS_WORDS = 4096, /* arguments of a program */
};

/* --- variables: names without regard to case --- */

struct cmd_variable {
    const char *name, *value;
};
struct variables {
    struct arena *arena; /* the command line's; borrowed */
    struct cmd_variable *all;
    size_t count, room;
};
void variables_init(struct variables *v, struct arena *a, char *const *environment);
const char *variables_get(const struct variables *v, const char *name);       /* NULL: none */
void variables_set(struct variables *v, const char *name, const char *value); /* NULL: removes it */
/* The environment for execve(), with this PATH. */
char **variables_environment(const struct variables *v, const char *path);
int same_name(const char *a, const char *b); /* as strcasecmp(), in ASCII */

/* --- a shell --- */

struct shell;
/* Callbacks that run further commands: run_text() a text for `call`, run_line() a whole command
 * line for another cmd. */
struct shell_ways {
    int (*run_text)(struct shell *sh, const char *text);
    int (*run_line)(struct shell *sh, const char *line);
};

/* The effect of a command on the rest of its line. */
enum leaving {
    LEAVES_NOTHING,
    LEAVES_LINE,  /* goto: the batch file continues at a label */
    LEAVES_BATCH, /* exit /b */
    LEAVES_ALL,   /* exit */
};

/* A running batch file, or a part of it that was called. */
struct batch_file {
    char **lines;    /* NULL-terminated */
    size_t at;       /* the index of the next line */
    char **given;    /* %0, %1 and so on, with their quotes; NULL-terminated */
    const char *all; /* %* */
    const char *path;
};

struct shell {
    const struct shell_ways *ways;
    struct arena *arena; /* of the line, or of the loop's pass, that runs now */
    struct variables variables;
    struct batch_file *batch; /* NULL: none runs */
    int level;                /* ERRORLEVEL */
    enum leaving leaving;
    bool delayed; /* !VARIABLES! are expanded when a command runs: /v:on */
    int depth;
    const char *line;                  /* CMDCMDLINE */
    const struct loop_variable *loops; /* variables of for, the innermost first */
};

struct loop_variable {
    char letter;
    const char *value;
    const struct loop_variable *outer;
};

/* --- text --- */

/* The words of a command line by the rules of Windows programs, NULL-terminated; at most
 * WINDOWS_WORDS. */
char **words_split(struct arena *a, const char *text);
/* The first word of a command line; *rest is what follows it. */
char *words_first(struct arena *a, const char *text, const char **rest);

/* The command of a command line "cmd [switches] /c COMMAND". */
struct cmd_line {
    const char *command; /* NULL: no /c or /k */
    bool delayed;
};
/* True: the command line starts cmd. False: it starts another program. */
bool cmd_line_read(struct arena *a, const char *line, struct cmd_line *out);

/* The value of a variable, including computed variables of cmd; NULL: none. */
const char *shell_value(struct shell *sh, const char *name);
/* Expands %NAME%, %NAME:~1,2%, %NAME:a=b%; a variable without a value stays as text. NULL: too
 * long. */
char *expand(struct shell *sh, const char *text);
/* Like expand(), for !NAME! and the %a of for, right before a command runs. */
char *expand_late(struct shell *sh, const char *text);

/* --- trees --- */

enum cmd_node_kind {
    NODE_COMMAND,
    NODE_BLOCK,    /* ( left ) */
    NODE_SEQUENCE, /* left & right */
    NODE_AND,      /* left && right */
    NODE_OR,       /* left || right */
    NODE_PIPE,     /* left | right */
    NODE_IF,       /* left, else right */
    NODE_FOR,      /* left for each */
};

struct redirection {
    int fd;
    char how;           /* '<', '>', 'a' for >>, '&' for a copy of descriptor `from` */
    int from;           /* of '&' */
    const char *target; /* the file as written, with quotes */
    struct redirection *next;
};

enum condition { IF_EQUAL, IF_EXIST, IF_DEFINED, IF_ERRORLEVEL, IF_COMPARE };

struct cmd_node {
    enum cmd_node_kind kind;
    const char *text; /* of a command: its text without redirections; of for: the text in ( ) */
    const struct cmd_node *left, *right; /* right may be NULL */
    struct redirection *redirections;
    enum condition condition;
    bool no_case, negated;
    const char *a, *op, *b; /* of a condition */
    char letter, option;    /* of for: its variable, and its option 'l', 'd' or none */
};

/* Returns 0 and the tree (NULL: nothing to do), or -1 and cmd's message. */
int parse(struct arena *a, const char *text, const struct cmd_node **out, const char **why);

/* --- running --- */

/* Runs a program (not a builtin) with the rest of its command line. */
int run_program(struct shell *sh, const char *name, const char *rest);
/* run_batch() runs a batch file with the rest of its command line. batch_call() runs a part of the
 * current batch file, from a label on. */
int run_batch(struct shell *sh, const char *path, const char *rest);
int batch_call(struct shell *sh, const char *label, const char *rest);
/* goto LABEL, in the current batch file. */
int batch_goto(struct shell *sh, const char *rest);
/* Waits for a child. Returns its exit code, or 128 and the signal that ended it. */
int wait_for(int pid);

/* Prints a message of cmd on stderr, with a line break. Returns 1, the usual exit code after a
 * failure. */
int complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

typedef int (*builtin_fn)(struct shell *sh, const char *rest);
/* Return the builtin of that name; NULL: there is none. */
builtin_fn builtin_named(const char *name);
builtin_fn builtin_file_named(const char *name);
/* A stub for a program of Windows; NULL: none. */
builtin_fn stub_named(const char *name);

/* --- paths --- */

/* Converts a path of Windows to a path of Linux; matches names without regard to case if necessary.
 * NULL: a drive that does not exist, after a message on stderr. */
char *path_of(struct shell *sh, const char *windows);
/* Like path_of(), for an argument of a program. An argument that is no path is returned as it
 * is. */
char *path_argument(struct shell *sh, const char *text);
/* The files that match a path with * and ? in its last part, NULL-terminated and sorted; without *
 * and ?, the path itself. */
char **path_glob(struct shell *sh, const char *windows);
/* The folders of PATH, NULL-terminated; folders of Windows in it are separated by ;. */
char **path_folders(struct shell *sh);
bool path_is_device(const char *windows, const char **device); /* nul, con */
bool is_directory(const char *path);

/* Takes quotes away. */
char *unquote(struct arena *a, const char *text);

#endif
