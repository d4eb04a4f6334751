package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pseudoTerminal returns both ends of a terminal of Linux.
func pseudoTerminal(t *testing.T) (user, program *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = user.Close() })
	number, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(user.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err == nil {
		program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return user, program
}

// On a terminal what is under way is painted; not where the terminal cannot, where its user wants no colours without
// them, and never in a file or a CI job.
func TestOnATerminal(t *testing.T) {
	const colours, up = "\x1b[1m●", "\x1b[5A\x1b[J"
	for name, tc := range map[string]struct {
		environment []string
		args        []string
		has, hasNot []string
	}{
		"a terminal": {[]string{"TERM=xterm"}, nil, []string{colours, up}, nil},
		"without colours": {[]string{"TERM=xterm", "NO_COLOR=1"}, nil, []string{up},
			[]string{"\x1b[1m", "\x1b[0m"}},
		"one that cannot":       {[]string{"TERM=dumb"}, nil, []string{"● check this machine"}, []string{"\x1b"}},
		"an unknown terminal":   {[]string{"TERM="}, nil, nil, []string{"\x1b"}},
		"a CI job":              {[]string{"TERM=xterm", "CI=true"}, nil, nil, []string{"\x1b"}},
		"CI=false is no CI job": {[]string{"TERM=xterm", "CI=false"}, nil, []string{colours, up}, nil},
		"CI=0 is no CI job":     {[]string{"TERM=xterm", "CI=0"}, nil, []string{colours, up}, nil},
		"a job of GitHub": {[]string{"TERM=xterm", "GITHUB_ACTIONS=true"}, nil, []string{"::group::"},
			[]string{"\x1b"}},
		"events for programs": {[]string{"TERM=xterm"}, []string{"-o", "json"}, nil, []string{"\x1b"}},
		"a command without runs": {[]string{"TERM=xterm"}, []string{"--nothing"}, []string{"error: "},
			[]string{"\x1b"}},
	} {
		t.Run(name, func(t *testing.T) {
			user, program := pseudoTerminal(t)
			binary, err := exec.LookPath("cluster-init") // testscript has put it there
			if err != nil {
				t.Fatal(err)
			}
			c := exec.Command(binary, append([]string{"up", "kubeadm-capd"}, tc.args...)...)
			c.Env = append(os.Environ(),
				append([]string{"DOCKER_HOST=tcp://127.0.0.1:1", "CI=", "GITHUB_ACTIONS=", "GITLAB_CI=", "NO_COLOR=",
					"HOME=" + t.TempDir(), "XDG_STATE_HOME=" + t.TempDir()}, tc.environment...)...)
			c.Stdout, c.Stderr, c.Dir = io.Discard, program, t.TempDir() // a CI job's artifacts go where it runs
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			_ = program.Close()
			said := readAll(t, user)
			if err := c.Wait(); err == nil {
				t.Error("it ended with 0, without an engine")
			}
			for _, want := range tc.has {
				if !strings.Contains(said, want) {
					t.Errorf("it does not say %q: %q", want, said)
				}
			}
			for _, never := range tc.hasNot {
				if strings.Contains(said, never) {
					t.Errorf("it says %q: %q", never, said)
				}
			}
		})
	}
}

// readAll reads until the program's end of a terminal is closed, which Linux answers with EIO.
func readAll(t *testing.T, user *os.File) string {
	t.Helper()
	if err := user.SetReadDeadline(time.Now().Add(time.Minute)); err != nil &&
		!strings.Contains(err.Error(), "deadline") {
		t.Fatal(err)
	}
	var said bytes.Buffer
	_, _ = io.Copy(&said, user)
	return said.String()
}
