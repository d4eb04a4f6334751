package prerequisite_test

import (
	"testing"

	"github.com/cluster-init/cluster-init/pkg/internal/prerequisite"
)

// recorder takes the place of a test that lacks something. Fatal and Skip end its goroutine, as a test's do.
type recorder struct {
	testing.TB
	ended string
}

func (r *recorder) Helper()      {}
func (r *recorder) Fatal(...any) { r.ended = "failed"; panic(r) }
func (r *recorder) Skip(...any)  { r.ended = "skipped"; panic(r) }

func TestProgram(t *testing.T) {
	for _, tc := range []struct{ name, ci, program, want string }{
		{"a developer without the program", "", "no-such-program", "skipped"},
		{"CI without the program", "true", "no-such-program", "failed"},
		{"CI with the program", "true", "go", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("CI", tc.ci)
			r := &recorder{}
			func() {
				defer func() { _ = recover() }()
				if prerequisite.Program(r, tc.program) == "" {
					t.Error("no path of a program that is installed")
				}
			}()
			if r.ended != tc.want {
				t.Errorf("the test ended as %q, want %q", r.ended, tc.want)
			}
		})
	}
}
