package host

import (
	"strings"
	"testing"
)

func TestTheErrorOfACommandHasWhatItSaidFirstAndLast(t *testing.T) {
	_, err := Run(t.Context(), Command{Name: "sh", Args: []string{"-c", `echo "what is wrong" >&2; seq 1 100; exit 3`}})
	if err == nil {
		t.Fatal("no error")
	}
	got := err.Error()
	for _, part := range []string{"exit status 3", "| what is wrong\n", "| 9\n", "... 76 lines left out", "| 100"} {
		if !strings.Contains(got, part) {
			t.Errorf("without %q:\n%s", part, got)
		}
	}
	if strings.Contains(got, "| 50\n") {
		t.Errorf("with the middle:\n%s", got)
	}
}

func TestExcerptOfLittle(t *testing.T) {
	for output, want := range map[string]string{"": "", "\n": "", "one\n": "\n  | one", "a\nb": "\n  | a\n  | b"} {
		if got := excerpt(output); got != want {
			t.Errorf("%q becomes %q, want %q", output, got, want)
		}
	}
	if got := excerpt(strings.Repeat("x\n", headLines+tailLines+1)); strings.Contains(got, "left out") {
		t.Error("a line is left out to say that a line is left out")
	}
}
