//go:build integration

package lease_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
)

// server is the API server that all tests of this package share.
var server *apiserver.Server

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if server, err = apiserver.Start(); err != nil {
		return 1, err
	}
	defer func() { _ = server.Stop() }()
	return m.Run(), nil
}
