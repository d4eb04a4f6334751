package restore

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/redact"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// Suspended is a release of a workload cluster that is suspended on the target. Flux runs what its sources serve, as an
// administrator: a person reads where from, before the release is resumed.
type Suspended struct {
	Release capi.Object
	Sources []Source
	Resume  string // the command that resumes the suspended sources, then the release
}

// Source is a source of a release.
type Source struct {
	Object capi.Object
	URL    string // without a password; it comes from the backup
}

// suspended returns the releases that are suspended on the target, and what a person reads first. It reads the target
// again: a person may have changed a source.
func (r *restoration) suspended(ctx context.Context) ([]Suspended, error) {
	var all []Suspended
	for _, o := range r.releases {
		if o.existing == nil || o.saved.GroupVersionKind().Group != releaseGroup || !isSuspended(o.existing) {
			continue
		}
		inputs, err := rollout.InputsOf(ctx, r.input.Target.Client, client.ObjectKeyFromObject(o.existing))
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("read the sources of %s on the target: %w", capi.ObjectOf(o.saved), err)
		}
		s := Suspended{Release: capi.ObjectOf(o.existing)}
		var commands []string
		for _, u := range inputs {
			group := u.GroupVersionKind().Group
			if group == "" || group == releaseGroup {
				continue
			}
			url, _, _ := unstructured.NestedString(u.Object, "spec", "url")
			s.Sources = append(s.Sources, Source{capi.ObjectOf(u), redact.New().Text(url)})
			if isSuspended(u) {
				kind := strings.TrimSuffix(strings.ToLower(u.GetKind()), "repository")
				commands = append(commands, r.resume("source "+kind, u))
			}
		}
		s.Resume = strings.Join(append(commands, r.resume("helmrelease", o.existing)), " && ")
		all = append(all, s)
	}
	return all, nil
}

// resume returns the command that resumes an object of Flux on the target.
func (r *restoration) resume(kind string, u *unstructured.Unstructured) string {
	return fmt.Sprintf("flux resume %s -n %s %s --kubeconfig %s", kind, oneline.Shell(u.GetNamespace()),
		oneline.Shell(u.GetName()), oneline.Shell(r.input.Target.Kubeconfig))
}

func isSuspended(u *unstructured.Unstructured) bool {
	suspended, _, _ := unstructured.NestedBool(u.Object, "spec", "suspend")
	return suspended
}
