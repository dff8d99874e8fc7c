package objstoretest

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"testing"
)

// MainWith is [Main] for packages whose tests need a server: start starts it, and
// stop ends it. Racers start none, they find it by the store's URL and the environment.
func MainWith(m *testing.M, start func(context.Context) (stop func(), err error)) int {
	if os.Getenv(racerEnv) != "" {
		return Main(m)
	}
	stop, err := start(context.Background())
	if stop != nil {
		defer stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return Main(m)
}

// Prefix gives every run of every test its own part of a bucket.
func Prefix(t *testing.T) string {
	t.Helper()
	return strings.ReplaceAll(t.Name(), "/", "-") + "-" + rand.Text()
}

// WantRefused checks that opening a store failed, and that the error does not quote
// what the test calls secret.
func WantRefused(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("it was accepted")
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the error quotes a secret: %v", err)
	}
}
