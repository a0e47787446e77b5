// SPDX-License-Identifier: MIT

package batchaidtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func status(t *testing.T, client *http.Client, url string) int {
	t.Helper()
	reply, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	return reply.StatusCode
}

func TestACloudIsStartedAskedEmptiedAndGone(t *testing.T) {
	cloud := Start(t, "--fake-nodes")
	cloud.Setenv(t)
	url := os.Getenv("BATCHAID_ENDPOINT") + "/metadata/endpoints?api-version=2019-10-01"
	fault := map[string]any{"match": map[string]any{"path": "/metadata/endpoints"}, "times": 9, "reply": map[string]any{"status": 429}}
	var made struct{ ID int }
	if err := cloud.Testing("POST", "/faults", fault, &made); err != nil || made.ID != 1 {
		t.Fatal(made, err)
	}
	if got := status(t, http.DefaultClient, url); got != 429 {
		t.Errorf("%d, not 429", got)
	}
	if err := cloud.Reset(); err != nil {
		t.Fatal(err)
	}
	if got := status(t, cloud.Client(), url); got != 200 {
		t.Errorf("%d after a reset, not 200", got)
	}
	err := cloud.Testing("POST", "/faults", map[string]any{"hold": "yes"}, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "400 Bad Request InvalidParameter: ") {
		t.Errorf("a wrong fault is answered %v", err)
	}
	other, err := Open() // BATCHAID_ENDPOINT is set: the same
	if err != nil || other.Endpoint != cloud.Endpoint || other.Stop() != nil {
		t.Fatal(other, err)
	}
	if err := cloud.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(cloud.folder); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", cloud.folder, err)
	}
	if _, err := cloud.Client().Get(url); err == nil {
		t.Error("the daemon still answers")
	}
}

func TestEventsAreASliceOfHoweverManyLines(t *testing.T) {
	cloud := Start(t, "--fake-nodes")
	var events []struct{ Name, Change string }
	if err := cloud.Testing("GET", "/events?after=0", nil, &events); err != nil || len(events) != 0 {
		t.Fatal(events, err)
	}
	group := map[string]any{"location": "eastus"}
	seed := map[string]any{"groups": map[string]any{"one": group, "two": group}}
	if err := cloud.Testing("POST", "/seed", seed, nil); err != nil {
		t.Fatal(err)
	}
	if err := cloud.Testing("GET", "/events?after=0&max=2", nil, &events); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(events); got != "[{one created} {two created}]" {
		t.Error(got)
	}
}

func TestErrorsSayWhatIsWrong(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		if err := os.WriteFile(folder+"/"+name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return folder + "/" + name
	}
	for _, one := range []struct{ program, option, want string }{
		{"/nowhere/batchaid", "", "BATCHAID_PROGRAM names /nowhere/batchaid, which is not a program"},
		{os.Getenv("BATCHAID_PROGRAM"), "--fake-nods", "--fake-nods"},
		{write("foreign", "\x7fELF"), "", "it is not for this machine"},
		{write("musl", "#!/lib/ld-none.so\n"), "", "another C library: use the container image"},
		{write("old", "#!/bin/sh\necho \"batchaid: /lib/libc.so.6: version \\`GLIBC_2.99' not found (required by batchaid)\" >&2\nexit 1\n"), "",
			"the program needs glibc 2.99 or later"},
		{write("bare", "#!/bin/sh\necho 'error while loading shared libraries: libuv.so.1: cannot open' >&2\nexit 127\n"), "",
			"the library libuv.so.1 is missing"},
	} {
		t.Setenv("BATCHAID_PROGRAM", one.program)
		var options []string
		if one.option != "" {
			options = append(options, one.option)
		}
		cloud, err := Open(options...)
		if err == nil {
			cloud.Stop()
		}
		if err == nil || !strings.Contains(err.Error(), one.want) {
			t.Errorf("%s: %v, not %q", one.program, err, one.want)
		}
	}
	t.Setenv("BATCHAID_ENDPOINT", "https://localhost:1")
	t.Setenv("SSL_CERT_FILE", "")
	if _, err := Open(); err == nil || !strings.Contains(err.Error(), "SSL_CERT_FILE is missing") {
		t.Errorf("an environment without its file: %v", err)
	}
}

// archive makes one of two files.
func archive(t *testing.T) []byte {
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	files := tar.NewWriter(zipped)
	for _, name := range []string{"bin/batchaid", "lib/a.so"} {
		if err := files.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: 1}); err != nil {
			t.Fatal(err)
		}
		files.Write([]byte("x"))
	}
	if err := errors.Join(files.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func TestAProgramThatWasCleanedAwayIsUnpackedAgain(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path, err := unpacked(archive(t))
	if err != nil {
		t.Fatal(err)
	}
	library := filepath.Join(filepath.Dir(path), "..", "lib", "a.so")
	for _, gone := range []string{path, library, filepath.Dir(filepath.Dir(path))} {
		if err := os.RemoveAll(gone); err != nil {
			t.Fatal(err)
		}
		if again, err := unpacked(archive(t)); err != nil || again != path {
			t.Fatal(again, err)
		}
		for _, there := range []string{path, library} {
			if _, err := os.Stat(there); err != nil {
				t.Errorf("without %s: %v", gone, err)
			}
		}
	}
	left, err := os.ReadDir(filepath.Join(filepath.Dir(path), "..", ".."))
	if err != nil || len(left) != 1 {
		t.Error(left, err)
	}
}

// Waits to be killed, for the test of clients: it prints where the state lies.
func TestHangs(t *testing.T) {
	if os.Getenv("HANG") == "" {
		t.Skip("HANG is not set")
	}
	cloud := Start(t)
	os.Stdout.WriteString("\nfolder " + cloud.folder + "\n")
	io.Copy(io.Discard, os.Stdin)
	select {}
}
