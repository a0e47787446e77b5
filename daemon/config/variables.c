/* SPDX-License-Identifier: MIT */
#include "daemon/config/variables.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/config/config.h"
#include "lib/arena.h"
#include "lib/nearest.h"
#include "lib/strbuf.h"

#define PREFIX "BATCHAID_"

/* Known variables that are no settings, without the prefix BATCHAID_; a name that ends with _
 * stands for all names that begin with it. */
static const char *const others[] = {
    "CONFIG", "STATE_DIR", "TESTING", /* `serve` reads them, or refuses them with an explanation */
    "ENDPOINT", "TESTING_KEY",        /* `batchaid env` prints them */
    "PROGRAM",                        /* the packages for npm and Go read it */
    "TOKEN", "STORAGE_TOKEN",         /* commands of jobs read them */
    "JOB_", "ARRAY_",                 /* the environment of jobs contains them */
    "TEST_", "TESTING_FAULT", "FAULT_", "SPEC_DIR", "CLOUD_SPEC_DIR", "BATCH_SPEC_DIR",
    "RECIPES_DIR", "STORAGE_DIR", "JUDGES", "UML", "DEEP", "DIST", "SLOW_TOOL", "SIM", "SIM_AGENTS",
    "UNIT_TEST_PROGRAM", /* the project's tests and benches */
    /* Kubernetes and docker set these in a container for a service called "batchaid". */
    "SERVICE_", "PORT", "PORT_", "NAME", "ENV_"};
#define N_OTHERS (sizeof others / sizeof others[0])

const char *variable_of_switch(const char *name, char out[VARIABLE_SIZE])
{
    snprintf(out, VARIABLE_SIZE, PREFIX "%s", name);
    for (char *c = out; *c; c++)
        *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
    return out;
}

static bool fits(const char *known, const char *name)
{
    size_t n = strlen(known);
    return known[n - 1] == '_' ? strncmp(known, name, n) == 0 : strcmp(known, name) == 0;
}

static bool is_of_others(const char *name)
{
    for (size_t i = 0; i < N_OTHERS; i++)
        if (fits(others[i], name + strlen(PREFIX)))
            return true;
    return false;
}

/* Whether the variable is a setting or a switch. Offers all known names to `near`; the names are in
 * `a`. */
static bool is_ours(const char *name, const char *const *switches, size_t n, struct nearest *near,
                    struct arena *a)
{
    char text[VARIABLE_SIZE];
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < n; i++)
        nearest_offer(near, arena_strdup(a, variable_of_switch(switches[i], text)));
    for (size_t i = 0; config_variable(i, &b); i++)
        nearest_offer(near, arena_strdup(a, b.s));
    strbuf_free(&b);
    return near->name && strcmp(near->name, name) == 0;
}

static int check_one(const char *name, const char *const *switches, size_t n, struct err *e)
{
    int rc = 0;
    char words[NEAREST_SIZE];
    struct arena a;
    struct nearest near = nearest_to(name);
    arena_init(&a);
    if (!is_of_others(name) && !is_ours(name, switches, n, &near, &a))
        rc = err_set(e, ERR_CONFIG, NULL,
                     "$%s is not a variable that the daemon reads%s; `batchaid help config` lists "
                     "the settings, in variables with BATCHAID_ in front and _ for each dot",
                     name, nearest_words(&near, "", words));
    arena_free(&a);
    return rc;
}

int variables_check(const char *const *switches, size_t n, struct err *e)
{
    int rc = 0;
    for (char **at = environ; rc == 0 && *at; at++) {
        if (strncmp(*at, PREFIX, strlen(PREFIX)) != 0)
            continue;
        struct strbuf name = STRBUF_INIT;
        strbuf_add(&name, *at, strcspn(*at, "="));
        rc = check_one(name.s, switches, n, e);
        strbuf_free(&name);
    }
    return rc;
}
