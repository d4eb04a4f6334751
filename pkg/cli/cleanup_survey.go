package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/provider/known"
)

// surveyLine is the output of `cleanup` without an environment.
type surveyLine struct {
	Type string         `json:"type"`
	Left []cleanup.Left `json:"left"`
	// Cloud reports whether a cloud was checked.
	Cloud bool `json:"cloud"`
}

// survey lists the clusters that left something behind.
func (o *cleanupOptions) survey(ctx context.Context) error {
	if _, err := o.output.sink(o.streams); err != nil {
		return err
	}
	cloud, err := known.Cloud(ctx, os.LookupEnv, "", "")
	if err != nil {
		return err
	}
	all, err := cleanup.Survey(ctx, &docker.Client{}, cloud)
	if err != nil {
		return err
	}
	return o.show(surveyLine{"cleanup-survey", append([]cleanup.Left{}, all...), cloud != nil})
}

// Print writes the list for a person.
func (s surveyLine) Print(out io.Writer) error {
	var b strings.Builder
	if len(s.Left) == 0 {
		fmt.Fprintln(&b, "nothing found")
	}
	for _, l := range s.Left {
		called := "of cluster"
		if l.Where != cleanup.InDocker {
			called = "of <namespace>-<cluster>"
		}
		oneline.Fprintf(&b, "%-10s %14s %s %s\n", l.Where, oneline.Count(l.Things, "resource"), called, l.Cluster)
	}
	if len(s.Left) > 0 {
		fmt.Fprintln(&b, "cluster-init cleanup ENVIRONMENT shows them; so does cluster-init cleanup --cluster "+
			"NAMESPACE/NAME.")
	}
	if !s.Cloud {
		fmt.Fprintln(&b, "No cloud was checked: no credentials are set.")
	}
	_, err := io.WriteString(out, b.String())
	return err
}
