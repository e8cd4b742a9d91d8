// Package storetest gives tests a real PostgreSQL: one throw-away cluster for a test binary, and a fresh database of
// the current schema for each test. It works as root too. Only tests may import it.
//
// The cluster is made at the first use. Main ends it with the binary; a test binary that is killed, or has no Main, is
// noticed by a watchdog process, which ends the server and removes its files.
package storetest

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

// limit is how long a step on the way to a database may take, on a machine that is busy with other tests.
const limit = time.Minute

// template is the migrated database that the databases of tests are copies of.
const template = "hitchpost_template"

// shared is the cluster of this test binary. It is a variable of the package because the tests that share it have
// nothing else in common.
var shared struct {
	once    sync.Once
	cluster *Cluster
	err     error

	mu   sync.Mutex // PostgreSQL copies a template for one at a time
	next int
}

// Main runs the tests and then ends the cluster, so that nothing of it is left when the test binary exits:
//
//	func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }
func Main(m *testing.M) int {
	code := m.Run()
	shared.once.Do(func() { shared.err = errors.New("the tests are over") })
	if shared.cluster == nil {
		return code
	}
	if err := shared.cluster.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "storetest:", err)
		return max(code, 1)
	}
	return code
}

// URL is the URL of a fresh database with the current schema, which goes when the test ends.
func URL(tb testing.TB) string {
	tb.Helper()
	return fresh(tb, template)
}

// Empty is the URL of a fresh database without any schema, which goes when the test ends.
func Empty(tb testing.TB) string {
	tb.Helper()
	return fresh(tb, "template1")
}

func fresh(tb testing.TB, from string) string {
	tb.Helper()
	shared.once.Do(func() { shared.cluster, shared.err = begin() })
	if shared.err != nil {
		tb.Fatalf("no PostgreSQL for tests: %v", shared.err)
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.next++
	name := fmt.Sprintf("test_%d", shared.next)
	if err := shared.cluster.exec(fmt.Sprintf("create database %s template %s", name, from)); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := shared.cluster.exec("drop database " + name + " with (force)"); err != nil {
			tb.Error(err)
		}
	})
	return shared.cluster.url(name)
}

// begin starts the shared cluster and migrates its template.
func begin() (*Cluster, error) {
	c, err := newCluster()
	if err != nil {
		return nil, err
	}
	if err := c.template(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}
