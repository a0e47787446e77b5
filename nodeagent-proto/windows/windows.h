/* SPDX-License-Identifier: MIT
 *
 * Command lines of Windows on Linux nodes, as far as walkthroughs and samples use them: a program
 * with its arguments, or cmd /c with what cmd understands. The program is batchai-cmd (main.c).
 *
 * All paths are converted to paths of Linux: values of variables are such paths, backslashes become
 * slashes, names that are not found are searched for without regard to case, and D:\batch\tasks
 * becomes AZ_BATCH_NODE_ROOT_DIR. ".exe" may be left out. Programs for Windows itself are not run.
 *
 * Some programs of walkthroughs are stubs (stubs.c). An executable of the same name, in lower case
 * and without ".exe", in the folder BATCHAI_WINDOWS_PROGRAMS is run before a stub, and before all
 * others.
 */
#ifndef NODEAGENT_PROTO_WINDOWS_WINDOWS_H
#define NODEAGENT_PROTO_WINDOWS_WINDOWS_H

/* Runs a command line. Returns the exit code for the process: the code of the command line, or 255
 * for a code whose low 8 bits are 0, because Linux would take it for success. */
int windows_run(const char *line);

#endif
