package source

import (
	"testing"

	"github.com/cluster-init/cluster-init/pkg/internal/prerequisite"
)

func TestVerifyRepository(t *testing.T) {
	prerequisite.Program(t, "git")
	server := gitServer(t)
	for name, tc := range map[string]struct {
		branch, tag, password string
		want                  string // empty: all is there
	}{
		"whatever it has":  {"", "", "token", ""},
		"a branch":         {"main", "", "token", ""},
		"no such branch":   {"mai", "", "token", "no branch mai"},
		"a tag":            {"", "v1", "token", ""},
		"no such tag":      {"", "v2", "token", "no tag v2"},
		"a tag, no branch": {"v1", "", "token", "no branch v1"},
		"another password": {"main", "", "wrong", "401"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Repository{URL: server.URL + "/repo.git", Username: "me", Password: tc.password, Branch: tc.branch,
				Tag: tc.tag}
			err := r.asSource().verify(t.Context(), server.Client().Transport)
			if tc.want == "" && err != nil {
				t.Error(err)
			}
			if tc.want != "" {
				checkUnreadable(t, err, tc.want, "")
			}
		})
	}
}
