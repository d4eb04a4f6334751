package cli

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// checkRepositories checks the Git repositories and the Helm charts of components, with the credentials that the
// clusters get. The source itself is checked elsewhere.
func checkRepositories(ctx context.Context, env *environment.Environment) up.Finding {
	f := up.Finding{Title: "repositories and charts of components"}
	ctx, cancel := context.WithTimeout(ctx, onlineBound)
	defer cancel()
	var all []*unstructured.Unstructured
	for _, phase := range []environment.Phase{environment.Bootstrap, environment.Management} {
		objects, err := env.Render(phase, nil)
		if err != nil {
			f.Problems = fault.Problems(err)
			return f
		}
		all = append(all, objects...)
	}
	checked := source.CheckComponents(ctx, all, proxies(env))
	for _, c := range checked {
		switch name := c.Kind + "/" + c.Name + ": "; {
		case c.NotChecked != "":
			f.Warnings = append(f.Warnings, name+"not checked: "+c.NotChecked)
		case c.Err != nil:
			f.Problems = append(f.Problems, fmt.Errorf("%s%w", name, c.Err))
		default:
			f.Seen = append(f.Seen, name+c.Seen)
		}
	}
	if len(checked) == 0 {
		f.Seen = []string{"no component has one"}
	}
	return f
}

// sourceSeen says what was checked of a readable source.
func (o *sourceOptions) sourceSeen(s source.Source) []string {
	switch {
	case s.Kind == source.OCI:
		return []string{"the registry of the source has the content and the chart with these tags or digests"}
	case s.Kind == source.Git && s.Git.Tag != "":
		return []string{"the Git repository of the source can be read, and has tag " + s.Git.Tag}
	case s.Kind == source.Git && s.Git.SemVer != "":
		return []string{"the Git repository of the source can be read, and has a tag in " + s.Git.SemVer}
	case s.Kind == source.Git && s.Git.Commit != "":
		return []string{"the Git repository of the source can be read; not checked: whether it has the commit"}
	case s.Kind == source.Git && o.branch == "":
		return []string{"the Git repository of the source can be read; not checked: whether it has branch " +
			s.Git.Branch}
	case s.Kind == source.Git:
		return []string{"the Git repository of the source can be read, and has branch " + o.branch}
	}
	return nil
}
