package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cluster-init/cluster-init/pkg/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"cluster-init": func() {
			os.Exit(cli.Main(context.Background(), os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout,
				Err: os.Stderr}))
		},
		// the same, which blocks at the first text for stdout
		"cluster-init-blocked": func() {
			os.Exit(cli.Main(context.Background(), os.Args[1:], cli.Streams{In: os.Stdin, Out: blocked{},
				Err: os.Stderr}))
		},
	})
}

// blocked is an output whose reader has stopped. It reports this on stderr.
type blocked struct{}

func (blocked) Write([]byte) (int, error) {
	fmt.Fprintln(os.Stderr, "blocked")
	<-make(chan struct{})
	return 0, nil
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/script",
		Setup: setup(t),
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// exits CODE COMMAND...: runs the command and holds its exit code against CODE
			"exits": func(ts *testscript.TestScript, _ bool, args []string) {
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				err = ts.Exec(args[1], args[2:]...)
				got := 0
				if exit, ok := errors.AsType[*exec.ExitError](err); ok {
					got = exit.ExitCode()
				} else {
					ts.Check(err)
				}
				if got != want {
					ts.Fatalf("exit code %d, want %d", got, want)
				}
			},
		},
	})
}
