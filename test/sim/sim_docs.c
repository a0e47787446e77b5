/* SPDX-License-Identifier: MIT
 *
 * The documents of jobs: one command, or a toolkit's processes on all of the job's nodes. The fake
 * nodes read from a command how long it runs and how it ends; job_of() reads whose it is, behind
 * all else.
 */
#include "lib/arena.h"
#include "test/sim/sim_steps.h"

#define FOR_EVER_MS 100000000

/* A script stands before these, as its arguments. */
static const char *words(struct sim *m, const struct thing *t, int run_ms, const char *more)
{
    return arena_printf(&m->a, "fake run=%d%s job=%s", run_ms, more, t->name);
}

static const char *any_toolkit(struct sim *m, struct thing *t, int run_ms, const char *more)
{
    const char *doing = words(m, t, run_ms, more);
    t->processes = 0;
    t->by_all = t->last_fails = false;
    if (chance(m, 60))
        return arena_printf(&m->a,
                            "\"toolType\": \"custom\", "
                            "\"customToolkitSettings\": {\"commandLine\": \"%s\"}",
                            doing);
    if (chance(m, 50)) {
        t->by_all = true;
        t->last_fails = chance(m, 20);
        t->processes = 1 + any(m, 2 * t->nodes);
        return arena_printf(&m->a,
                            "\"toolType\": \"pytorch\", \"pyTorchSettings\": "
                            "{\"pythonScriptFilePath\": \"x\", \"processCount\": %d, "
                            "\"commandLineArgs\": \"%s\"}",
                            t->processes,
                            t->last_fails ? words(m, t, run_ms, " last-fails") : doing);
    }
    t->processes = t->nodes + 1;
    return arena_printf(&m->a,
                        "\"toolType\": \"tensorflow\", \"tensorFlowSettings\": "
                        "{\"pythonScriptFilePath\": \"x\", \"workerCount\": %d, "
                        "\"parameterServerCount\": 1, \"masterCommandLineArgs\": \"%s\", "
                        "\"workerCommandLineArgs\": \"%s\", "
                        "\"parameterServerCommandLineArgs\": \"%s\"}",
                        t->nodes, doing, words(m, t, any(m, 2) ? run_ms : FOR_EVER_MS, ""),
                        words(m, t, FOR_EVER_MS, more));
}

const char *sim_job_doc(struct sim *m, struct thing *t, int wall_s)
{
    static const int runs_ms[] = {0, 5, 400, 3000, 20000, 90000};
    const char *prep =
        chance(m, 15) ? "\"jobPreparation\": {\"commandLine\": \"fake run=30\"}," : "";
    const char *exit = chance(m, 15) ? " exit=3" : "", *stubborn = chance(m, 15) ? " stubborn" : "";
    const char *tries = chance(m, 20)
                            ? "\"environmentVariables\": [{\"name\": \"BATCHAID_JOB_RETRIES\", "
                              "\"value\": \"2\"}],"
                            : "";
    int run_ms = runs_ms[any(m, 6)];
    return arena_printf(&m->a,
                        "{\"properties\": {%s%s \"nodeCount\": %d, %s, "
                        "\"stdOutErrPathPrefix\": \"/logs\", "
                        "\"constraints\": {\"maxWallClockTime\": \"PT%dS\"}}}",
                        tries, prep, t->nodes,
                        any_toolkit(m, t, run_ms, arena_concat(&m->a, exit, stubborn)), wall_s);
}
