package cli

import (
	"os"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/render"
)

// inCI reports whether CI is set, as most CI systems do for their jobs.
func inCI() bool {
	switch strings.ToLower(os.Getenv("CI")) {
	case "", "0", "false":
		return false
	}
	return true
}

// folding returns how the CI system that runs this job folds lines. Nil means not known.
func folding() render.Folding {
	switch {
	case os.Getenv("GITHUB_ACTIONS") == "true":
		return render.GitHub{}
	case os.Getenv("GITLAB_CI") == "true":
		return render.GitLab{}
	}
	return nil
}
