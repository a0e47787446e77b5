// SPDX-License-Identifier: MIT

package batchaidtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	startTime = time.Minute
	stopTime  = 30 * time.Second
	elsewhere = "use the container image of batchaid, or build batchaid here and name the program in BATCHAID_PROGRAM"
)

// Ends the daemon $1 and removes the folder $2 if this process is killed: then its input ends without a line.
const guardProgram = `
read -r line && exit 0
kill "$1" 2>/dev/null
turns=0
while kill -0 "$1" 2>/dev/null && [ $turns -lt 100 ]; do sleep 0.1; turns=$((turns + 1)); done
rm -rf -- "$2"
`

// program finds batchaid.
func program() (string, error) {
	if given := os.Getenv("BATCHAID_PROGRAM"); given != "" {
		path, err := exec.LookPath(given)
		if err != nil {
			return "", fmt.Errorf("BATCHAID_PROGRAM names %s, which is not a program: name batchaid, or unset the variable (%w)", given, err)
		}
		return path, nil
	}
	if path, err := exec.LookPath("batchaid"); err == nil {
		return path, nil
	}
	if embedded == nil {
		return "", fmt.Errorf("batchaid is not in the PATH, and these modules have no program for %s/%s: install batchaid, name "+
			"its program in BATCHAID_PROGRAM, or start the container image and set what `batchaid env` prints", runtime.GOOS, runtime.GOARCH)
	}
	return unpacked(embedded)
}

// makeFolder makes one for a state and its log: in memory if there is room, as the daemon would choose it.
func makeFolder() (string, error) {
	for _, above := range []string{memory(), ""} {
		if folder, err := os.MkdirTemp(above, "batchaid-"); err == nil {
			return folder, nil
		} else if above == "" {
			return "", fmt.Errorf("a folder for the state cannot be made: name one that can be written in TMPDIR (%w)", err)
		}
	}
	return "", nil
}

func (c *Cloud) start(options []string) error {
	path, err := program()
	if err != nil {
		return err
	}
	if c.folder, err = makeFolder(); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(c.folder, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	state := filepath.Join(c.folder, "state")
	command := append([]string{"serve", "--ephemeral", "--testing", "--state-dir", state, "--listen", "localhost:0"}, options...)
	daemon := exec.Command(path, command...)
	daemon.Stderr = log
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "BATCHAID_") {
			daemon.Env = append(daemon.Env, pair)
		}
	}
	own(daemon)
	stdout, err := daemon.StdoutPipe()
	if err != nil {
		return err
	}
	if err := daemon.Start(); err != nil {
		return refusedBySystem(path, err)
	}
	c.daemon = daemon
	if err := c.protect(); err != nil {
		return err
	}
	var late atomic.Bool
	timer := time.AfterFunc(startTime, func() { late.Store(true); daemon.Process.Kill() })
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	timer.Stop()
	if !strings.HasPrefix(line, "ready ") {
		daemon.Wait()
		c.daemon = nil
		return c.notStarted(late.Load())
	}
	go io.Copy(io.Discard, stdout)
	return c.readEnvironment(path, state)
}

// protect starts the guard.
func (c *Cloud) protect() error {
	guard := exec.Command("/bin/sh", "-c", guardProgram, "sh", fmt.Sprint(c.daemon.Process.Pid), c.folder)
	own(guard)
	in, err := guard.StdinPipe()
	if err == nil {
		err = guard.Start()
	}
	if err != nil {
		return fmt.Errorf("/bin/sh, which ends the daemon if this test is killed, did not start: %w", err)
	}
	c.guard, c.guardIn = guard, in
	return nil
}

func (c *Cloud) notStarted(late bool) error {
	log, _ := os.ReadFile(filepath.Join(c.folder, "log"))
	if late {
		return fmt.Errorf("batchaid was not ready within %v: %s", startTime, log)
	}
	if why := refusedByLoader(string(log)); why != "" {
		return fmt.Errorf("batchaid did not start: %s", why)
	}
	return fmt.Errorf("batchaid did not start: %s", strings.TrimSpace(string(log)))
}

func (c *Cloud) readEnvironment(path, state string) error {
	said, err := exec.Command(path, "env", "--state-dir", state).Output()
	if err != nil {
		return fmt.Errorf("batchaid env: %w", err)
	}
	for _, found := range regexp.MustCompile(`(?m)^export (\w+)='(.*)'$`).FindAllStringSubmatch(string(said), -1) {
		c.Environment[found[1]] = strings.ReplaceAll(found[2], `'\''`, `'`)
	}
	return nil
}

// refusedBySystem says why an existing program cannot be executed.
func refusedBySystem(path string, err error) error {
	why := err.Error()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		why = "it is for systems with glibc, and this system has another C library: " + elsewhere
	case errors.Is(err, syscall.ENOEXEC):
		why = "it is not for this machine, " + runtime.GOARCH + ": " + elsewhere
	case errors.Is(err, fs.ErrPermission):
		why = "it is not executable: its file system may be mounted with noexec; set XDG_CACHE_HOME to a folder of another"
	}
	return fmt.Errorf("%s cannot be executed here: %s", path, why)
}

var (
	noVersion = regexp.MustCompile("version `GLIBC_([0-9.]+)' not found")
	noLibrary = regexp.MustCompile(`error while loading shared libraries: ([^:\s]+)`)
)

// refusedByLoader says what a message of the dynamic loader means, and what would be right; "" without such a message.
func refusedByLoader(said string) string {
	if found := noVersion.FindStringSubmatch(said); found != nil {
		return "the program needs glibc " + found[1] + " or later, which this system does not have: " + elsewhere
	}
	if found := noLibrary.FindStringSubmatch(said); found != nil {
		return "the library " + found[1] + " is missing: install it, or " + elsewhere
	}
	return ""
}

// Stop ends the daemon, and removes all that it had. It may be called again.
func (c *Cloud) Stop() error {
	c.stop.Do(func() { c.stopped = c.end() })
	return c.stopped
}

func (c *Cloud) end() error {
	var failed error
	if c.daemon != nil {
		c.daemon.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(stopTime, func() { c.daemon.Process.Kill() })
		if err := c.daemon.Wait(); err != nil {
			failed = fmt.Errorf("the daemon ended with %w", err)
		}
		kill.Stop()
	}
	if c.guard != nil {
		io.WriteString(c.guardIn, "over\n")
		c.guardIn.Close()
		c.guard.Wait()
	}
	if c.folder != "" {
		os.RemoveAll(c.folder)
	}
	return failed
}
