/* SPDX-License-Identifier: MIT
 *
 * The exit codes of batchaid's processes; docs/everyday.md has the table for users. `run` and `wait
 * JOB` exit with the exit code of the job.
 */
#ifndef DAEMON_SERVE_EXIT_CODE_H
#define DAEMON_SERVE_EXIT_CODE_H

enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    /* of a seed: it was skipped, because it has crashed the daemon too often (seeding.h) */
    EXIT_LEFT_OUT = 3,
    EXIT_USAGE = 2,          /* the command line is wrong */
    EXIT_CONFIGURATION = 78, /* EX_CONFIG: a restart does not help (see the systemd unit) */
    EXIT_LATE = 124,         /* `wait JOB --timeout`: time is over, as for timeout(1) */
    EXIT_OWN = 125,          /* `run`, `wait JOB`: an error of batchaid itself */
    EXIT_DETACHED = 130      /* Ctrl-C in `run`, `logs -f`, `wait JOB`; the job continues */
};

#endif
