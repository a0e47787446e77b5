/* SPDX-License-Identifier: MIT
 *
 * Finds the possible next words from the usage line of a command ("JOB [FILE...]") and from the
 * argument of an option ("NAME"). If the daemon does not answer within a second, no names are
 * offered. Prints nothing on standard error, because the user is typing on that terminal.
 */
#include "daemon/cli/complete.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/options.h"
#include "daemon/cli/table.h"
#include "lib/arena.h"

#define LIVE_MS 1000L

struct completing {
    const struct cli_table *t;
    const struct cli_command *c;
    const char *word; /* the word to complete */
    struct options o;
};

/* Prints WORD, or WORD<TAB>HELP, if the word begins with the typed text. Other users may have
 * chosen these texts: leaves out a word with control characters, and cleans the help. */
static void offer(const struct completing *w, const char *word, const char *help)
{
    char *said = xstrdup(help ? help : ""), *plain = xstrdup(word ? word : "");
    table_clean(said);
    table_clean(plain);
    if (word && *plain && strcmp(plain, word) == 0 && strncmp(word, w->word, strlen(w->word)) == 0)
        printf("%s%s%s\n", word, *said ? "\t" : "", said);
    free(plain);
    free(said);
}

/* Offers all names of a list, which blanks or bars separate. */
static void offer_all(const struct completing *w, const char *names)
{
    char *copy = xstrdup(names), *rest = NULL;
    for (char *one = strtok_r(copy, " |", &rest); one; one = strtok_r(NULL, " |", &rest))
        offer(w, one, NULL);
    free(copy);
}

/* --- live names ------------------------------------------------------------------------------- */

/* Offers each name once; of several jobs with one name, with the newest job's help text. */
static void offer_names(const struct completing *w, const json_t *rows, const char *member,
                        const char *help)
{
    json_t *seen = json_object(), *row;
    size_t i;
    json_array_foreach(rows, i, row) {
        const char *one = jobs_text(row, member), *text = help ? jobs_text(row, help) : NULL;
        if (one && !json_object_get(seen, one))
            json_object_set_new(seen, one, json_string(text ? text : ""));
    }
    const char *name;
    json_object_foreach(seen, name, row) {
        const char *text = json_string_value(row);
        offer(w, name, *text ? text : NULL);
    }
    json_decref(seen);
}

static void offer_live(const struct completing *w, const char *path, const char *member,
                       const char *help)
{
    struct daemon_client *c = NULL;
    json_t *reply = NULL;
    struct err e;
    if (jobs_reach(&w->o, &c, &e) < 0)
        return;
    client_quiet(c, true);
    client_limit(c, LIVE_MS); /* set before the login, which it limits, too */
    if (client_enter(c, &e) == 0 && client_call(c, "GET", path, NULL, &reply, &e) == 0)
        offer_names(w, json_object_get(reply, "value"), member, help);
    json_decref(reply);
    client_close(c);
}

/* --- kinds of words --------------------------------------------------------------------------- */

static void offer_jobs(const struct completing *w)
{
    struct strbuf path = STRBUF_INIT;
    strbuf_concat(&path, "/batchaid/jobs?max=200", w->o.subscription ? "&subscription=" : "",
                  w->o.subscription ? w->o.subscription : "");
    offer_live(w, path.s, "name", "state");
    strbuf_free(&path);
    offer(w, JOBS_LAST, "the last one");
}

static void offer_hosts(const struct completing *w)
{
    offer_live(w, "/batchaid/nodes", "name", "state");
}

static void offer_clusters(const struct completing *w)
{
    offer_live(w, "/batchaid/nodes", "cluster", NULL);
}

static void offer_experiments(const struct completing *w)
{
    offer_live(w, "/batchaid/jobs?max=200", "experiment", NULL);
}

static void offer_users(const struct completing *w)
{
    offer_live(w, "/batchaid/users", "name", NULL);
}

static void offer_subscriptions(const struct completing *w)
{
    offer_live(w, "/subscriptions?api-version=2019-11-01", "subscriptionId", "displayName");
}

static void offer_commands(const struct completing *w)
{
    for (size_t i = 0; i < w->t->n; i++)
        offer(w, w->t->commands[i].name, w->t->commands[i].help);
}

static void say_files(const struct completing *w)
{
    (void)w;
    puts(COMPLETE_FILES);
}

static void say_folders(const struct completing *w)
{
    (void)w;
    puts(COMPLETE_FOLDERS);
}

/* The functions for words of usage lines, and for options whose argument does not tell the kind of
 * their values. */
static const struct {
    const char *word;
    void (*offer)(const struct completing *);
} kinds[] = {{"JOB", offer_jobs},           {"HOST", offer_hosts},
             {"COMMAND", offer_commands},   {"PROGRAM", say_files},
             {"ARGUMENTS", say_files},      {"FILE", say_files},
             {"DIR", say_folders},          {"ARGS", say_files},
             {"--cluster", offer_clusters}, {"--experiment", offer_experiments},
             {"--user", offer_users},       {"--subscription", offer_subscriptions}};

static bool offer_kind(const struct completing *w, const char *word)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].word, word) == 0) {
            kinds[i].offer(w);
            return true;
        }
    return false;
}

/* --- the place -------------------------------------------------------------------------------- */

static const struct cli_option *option_of(const struct cli_command *c, const char *word)
{
    if (strncmp(word, "--", 2) != 0)
        return NULL;
    for (size_t i = 0; i < N_OPTIONS; i++)
        if ((c->options & known_options[i].bit) && strcmp(known_options[i].name, word + 2) == 0)
            return &known_options[i];
    return NULL;
}

static void offer_options(const struct completing *w)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        struct strbuf b = STRBUF_INIT;
        strbuf_concat(&b, "--", known_options[i].name);
        if (w->c->options & known_options[i].bit)
            offer(w, b.s, known_options[i].help);
        strbuf_free(&b);
    }
}

static void offer_values(const struct completing *w, const struct cli_option *o)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_concat(&b, "--", o->name);
    if (o->values)
        offer_all(w, o->values);
    else if (!offer_kind(w, b.s))
        (void)offer_kind(w, o->argument);
    strbuf_free(&b);
}

/* Offers the n-th word of "[list|check] [HOST...]"; for larger n the last one. */
static void offer_argument(const struct completing *w, int n)
{
    char *copy = xstrdup(w->c->arguments), *rest = NULL, *word = NULL;
    for (char *one = strtok_r(copy, " []", &rest); one; one = strtok_r(NULL, " []", &rest)) {
        if (strcmp(one, "--") == 0)
            continue;
        word = one;
        if (n-- == 0)
            break;
    }
    bool repeats = word && strstr(word, "...");
    if (word && (n < 0 || repeats)) {
        word[strcspn(word, ".")] = '\0';
        if (!offer_kind(w, word) && strchr(word, '|'))
            offer_all(w, word);
    }
    free(copy);
}

static const struct cli_command *command_named(const struct cli_table *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->commands[i].name, name) == 0)
            return &t->commands[i];
    return NULL;
}

/* Whether the text can be in a query without escapes. */
static bool is_word(const char *text)
{
    return text[strspn(text, "0123456789abcdefABCDEF-")] == '\0';
}

/* Reads the `n` words between the command and the word to complete, and then offers words. */
static void complete_within(struct completing *w, int n, char **words)
{
    int arguments = 0;
    bool only_arguments = false;
    const struct cli_option *value_of = NULL;
    for (int i = 0; i < n; i++) {
        const struct cli_option *o = only_arguments ? NULL : option_of(w->c, words[i]);
        if (value_of) {
            if (strcmp(value_of->name, "state-dir") == 0)
                w->o.state_dir = words[i];
            else if (is_word(words[i]) && strcmp(value_of->name, "subscription") == 0)
                w->o.subscription = words[i];
            value_of = NULL;
        } else if (!only_arguments && strcmp(words[i], "--") == 0) {
            only_arguments = true;
        } else if (o) {
            value_of = *o->argument ? o : NULL;
        } else if (*words[i] != '-' || !words[i][1]) {
            arguments++;
            only_arguments = only_arguments || w->c->rest;
        }
    }
    if (value_of)
        offer_values(w, value_of);
    else if (!only_arguments && *w->word == '-' && w->word[1])
        offer_options(w);
    else
        offer_argument(w, arguments);
}

int complete(const struct cli_table *t, int argc, char **argv)
{
    struct completing w = {.t = t, .word = argc > 0 ? argv[argc - 1] : "", .o = {.table = t}};
    if (argc <= 1) {
        offer_commands(&w);
        return EXIT_DONE;
    }
    w.c = command_named(t, argv[0]);
    if (w.c)
        complete_within(&w, argc - 2, argv + 1);
    return EXIT_DONE;
}
