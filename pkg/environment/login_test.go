package environment_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

func TestCheckLogin(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("glpat-abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		user, token string
		want        string // in the message; empty: taken
	}{
		"nothing":                   {},
		"a token":                   {"robot", "glpat-abc_DEF.01", ""},
		"a token that is base64":    {"", "/abc+DEF/w==", ""},
		"a user of an organisation": {"org/robot@example.org", "t", ""},
		"a line feed at the end":    {"robot", "glpat-abc\n", "GITLAB_TOKEN: not a token: it has a line break"},
		"a line feed inside":        {"robot", "a\nb", "GITLAB_TOKEN: not a token: it has a line break"},
		"a carriage return":         {"robot", "glpat-abc\r", "GITLAB_TOKEN: not a token: it has a line break"},
		"a tab":                     {"robot", "\tglpat-abc", "it has a space or a tab"},
		"a no-break space":          {"robot", "glpat-abc\u00a0", "U+00A0"},
		"a byte order mark":         {"robot", "\ufeffglpat-abc", "U+FEFF"},
		"a control character":       {"robot", "glpat\x1babc", "U+001B"},
		"a File variable":           {"robot", "/builds/g/p.tmp/GITLAB_TOKEN", "it is the path of a file"},
		"a file that is there":      {"robot", file, "it is the path of a file"},
		"a masked value":            {"robot", "[MASKED]", "it is what a log shows"},
		"a masked value of GitHub":  {"robot", "***", "it is what a log shows"},
		"an unfilled variable":      {"robot", "$CI_TOKEN", "it is the name of a variable"},
		"another unfilled variable": {"robot", "${CI_TOKEN}", "it is the name of a variable"},
		"a user with a line feed":   {"robot\n", "t", "GITLAB_USER: not a user name: it has a line break"},
		"a user with a password":    {"robot:secret", "t", "GITLAB_USER: not a user name: it has a colon"},
	} {
		t.Run(name, func(t *testing.T) {
			err := environment.CheckLogin("GITLAB_USER", test.user, "GITLAB_TOKEN", test.token)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || fault.HintOf(err) == "" {
				t.Fatalf("error %v (hint %q), want %q", err, fault.HintOf(err), test.want)
			}
			if secret := strings.TrimSpace(test.token); len(secret) > 8 &&
				strings.Contains(err.Error()+fault.HintOf(err), secret) {
				t.Errorf("the message holds the token: %v", err)
			}
		})
	}
}
