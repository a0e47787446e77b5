// SPDX-License-Identifier: MIT

package batchaidtest

import (
	"os"
	"os/exec"
	"syscall"
)

const (
	leastMemory = 1 << 30
	noexec      = 8 // ST_NOEXEC of statvfs(3)
)

// memory is the folder in memory, if it has room and programs may be executed there; else "", the folder of temporary files.
func memory() string {
	var there syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs("/dev/shm", &there) != nil {
		return ""
	}
	if there.Flags&noexec != 0 || there.Bavail*uint64(there.Bsize) < leastMemory {
		return ""
	}
	return "/dev/shm"
}

// own gives a process a session of its own: Ctrl-C ends the tests, which then end the daemon.
func own(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
