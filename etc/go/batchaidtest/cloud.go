// SPDX-License-Identifier: MIT

// Package batchaidtest starts a cloud for tests: the daemon batchaid, which keeps nothing.
//
//	func TestMine(t *testing.T) {
//		cloud := batchaidtest.Start(t)
//		cloud.Setenv(t)
//		...
//	}
//
// The program is BATCHAID_PROGRAM, else batchaid in the PATH, else that of the module for this platform, which is unpacked
// in the user's cache. If BATCHAID_ENDPOINT is set, its daemon is used and none is started. docs/testing.md of batchaid
// describes the requests of tests.
package batchaidtest

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// Cloud is a running daemon.
type Cloud struct {
	Endpoint    string            // https://localhost:PORT
	CAFile      string            // the certificate of its authority
	Environment map[string]string // the variables of clients, as `batchaid env` prints them
	client      *http.Client
	daemon      *exec.Cmd
	guard       *exec.Cmd
	guardIn     io.WriteCloser
	folder      string // the state directory and the log; removed in the end
	stop        sync.Once
	stopped     error
}

// Start starts a daemon, and stops it when the test and its subtests are over. The arguments are options of `batchaid
// serve`, such as "--fake-nodes" or "--config=FILE". The test fails if the daemon does not start.
func Start(t testing.TB, options ...string) *Cloud {
	t.Helper()
	cloud, err := Open(options...)
	if err != nil {
		t.Fatalf("batchaid: %v", err)
	}
	t.Cleanup(func() {
		if err := cloud.Stop(); err != nil {
			t.Errorf("batchaid: %v", err)
		}
	})
	return cloud
}

// Open starts a daemon for more than one test, from TestMain; call Stop in the end. If this process is killed, the daemon
// ends too.
func Open(options ...string) (*Cloud, error) {
	cloud := &Cloud{Environment: map[string]string{}}
	if os.Getenv("BATCHAID_ENDPOINT") != "" {
		for _, pair := range os.Environ() {
			if name, value, _ := strings.Cut(pair, "="); ofClients(name) {
				cloud.Environment[name] = value
			}
		}
		return cloud, cloud.read("the variables of BATCHAID_ENDPOINT's daemon")
	}
	err := cloud.start(options)
	if err == nil {
		err = cloud.read("the output of `batchaid env`")
	}
	if err != nil {
		cloud.Stop()
		return nil, err
	}
	return cloud, nil
}

// ofClients tells the variables that say where a cloud is.
func ofClients(name string) bool {
	return strings.HasPrefix(name, "BATCHAID_") || strings.HasPrefix(name, "AZURE_") || name == "REQUESTS_CA_BUNDLE" ||
		name == "NODE_EXTRA_CA_CERTS" || name == "SSL_CERT_FILE"
}

// read takes what the environment says; `source` is named in errors.
func (c *Cloud) read(source string) error {
	for _, name := range []string{"BATCHAID_ENDPOINT", "SSL_CERT_FILE", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"} {
		if c.Environment[name] == "" {
			return fmt.Errorf("%s is missing in %s: set all that `batchaid env` prints", name, source)
		}
	}
	c.Endpoint = strings.TrimRight(c.Environment["BATCHAID_ENDPOINT"], "/")
	c.CAFile = c.Environment["SSL_CERT_FILE"]
	authority, err := os.ReadFile(c.CAFile)
	if err != nil {
		return fmt.Errorf("SSL_CERT_FILE cannot be read: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return fmt.Errorf("SSL_CERT_FILE names %s, which has no certificate in PEM", c.CAFile)
	}
	// Without a proxy: the daemon is on this machine.
	c.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	return nil
}

// Client returns an HTTP client that trusts the daemon, and nobody else.
func (c *Cloud) Client() *http.Client { return c.client }

// Setenv sets the variables of clients until the end of the test, which cannot run in parallel then. Go reads
// SSL_CERT_FILE once, before its first connection by TLS: later, and for a second daemon, use Client.
func (c *Cloud) Setenv(t testing.TB) {
	t.Helper()
	for name, value := range c.Environment {
		t.Setenv(name, value)
	}
}

// Testing sends a request of tests, such as POST, "/faults". The body is encoded as JSON unless it is nil; the reply is
// decoded into the last argument unless that is nil. A reply in lines of JSON, such as that of "/events", is decoded into a
// slice.
func (c *Cloud) Testing(method, path string, body, reply any) error {
	var text io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("the body of %s %s: %w", method, path, err)
		}
		text = bytes.NewReader(encoded)
	}
	request, err := http.NewRequest(method, c.Endpoint+"/batchaid/testing"+path, text)
	if err != nil {
		return err
	}
	request.Header.Set("X-Batchaid-Testing-Key", c.Environment["BATCHAID_TESTING_KEY"])
	request.Header.Set("Content-Type", "application/json")
	answer, err := c.client.Do(request)
	if err != nil {
		return fmt.Errorf("no daemon answers at %s (BATCHAID_ENDPOINT): %w", c.Endpoint, err)
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Errorf("the reply to %s %s: %w", method, path, err)
	}
	if answer.StatusCode >= 300 {
		return refusal(answer.Status, said)
	}
	if reply == nil {
		return nil
	}
	if answer.Header.Get("Content-Type") == "application/x-ndjson" {
		lines := bytes.Split(bytes.TrimSpace(said), []byte("\n"))
		said = append(append([]byte("["), bytes.Join(lines, []byte(","))...), ']')
	}
	return json.Unmarshal(said, reply)
}

// refusal is the error of a reply: its status, code and message.
func refusal(status string, said []byte) error {
	var reply struct {
		Error struct{ Code, Message string }
	}
	if json.Unmarshal(said, &reply) != nil || reply.Error.Code == "" {
		return fmt.Errorf("%s: %s", status, said)
	}
	return fmt.Errorf("%s %s: %s", status, reply.Error.Code, reply.Error.Message)
}

// Reset empties all subscriptions, and removes faults, rules and the like.
func (c *Cloud) Reset() error { return c.Testing("POST", "/reset", nil, nil) }
