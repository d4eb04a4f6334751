package ssh

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/internal/prerequisite"
)

// hostile are arguments that a shell, sudo or env would interpret if they were not quoted.
var hostile = []string{"", " ", "a b", "'", "''", `'\''`, `"`, "`id`", "$(id)", "${HOME}", "$1", "\n", "a\nb\n",
	"\\", `\\`, `\n`, "-rf", "--", "-", "A=b", "*", "~", "#", "!x", ";id", "|id", "&", ">file", "<file", "a\tb", "\r",
	"\x1b[2J", "\x80", "ü", "\u202e", "%s", "$'a'", "'; id; '", "\\\n", "''\\''", "sh", "exit 3", "\x7f"}

// commandLine leaves each argument as it is, for each shell that is installed.
func TestCommandLineKeepsArguments(t *testing.T) {
	line, err := commandLine(append([]string{"printf", `[%s]`}, hostile...))
	if err != nil {
		t.Fatal(err)
	}
	want := "[" + strings.Join(hostile, "][") + "]"
	for _, shell := range []string{"sh", "bash", "dash"} {
		t.Run(shell, func(t *testing.T) {
			path := prerequisite.Program(t, shell)
			cmd := exec.Command(path, "-c", line)
			cmd.Env = []string{"PATH=" + asRootUser(t)}
			got, err := cmd.Output()
			if err != nil || string(got) != want {
				t.Errorf("it prints %q, %v\nwant      %q", got, err, want)
			}
		})
	}
}

func FuzzCommandLine(f *testing.F) {
	for _, word := range hostile {
		f.Add(word)
	}
	path, err := exec.LookPath("sh")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, word string) {
		line, err := commandLine([]string{"printf", "%s", word})
		if strings.Contains(word, "\x00") {
			if err == nil {
				t.Error("a NUL character is accepted")
			}
			return
		}
		cmd := exec.Command(path, "-c", line)
		cmd.Env = []string{"PATH=" + asRootUser(t)}
		if got, err := cmd.Output(); err != nil || string(got) != word {
			t.Errorf("%q arrives as %q, %v", word, got, err)
		}
	})
}

// What sudo or env would take for an option or a variable is no program.
func TestCommandLineRefuses(t *testing.T) {
	for _, args := range [][]string{nil, {""}, {"-u", "id"}, {"--"}, {"A=b", "id"}, {"PATH=/tmp"}, {"cat", "a\x00b"}} {
		if line, err := commandLine(args); err == nil {
			t.Errorf("%q becomes %s", args, line)
		}
	}
}
