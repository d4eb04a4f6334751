//go:build integration

package cleanup_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
)

// The API servers of all integration tests of this package.
var bootstrapServer, managementServer *apiserver.Server

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	for _, server := range []**apiserver.Server{&bootstrapServer, &managementServer} {
		if *server, err = apiserver.Start(); err != nil {
			return 1, err
		}
		defer func() { err = errors.Join(err, (*server).Stop()) }()
	}
	return m.Run(), nil
}
