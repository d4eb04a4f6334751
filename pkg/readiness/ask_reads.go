package readiness

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
)

// readQuestions read what controllers read: the versions of a definition that a webhook converts, and the artifacts of
// Git and OCI sources.
func (o *observing) readQuestions(v *view) []question {
	var questions []question
	for _, crd := range v.list("apiextensions.k8s.io", "CustomResourceDefinition") {
		if text(crd, "spec", "conversion", "strategy") == "Webhook" {
			questions = append(questions, func(ctx context.Context) { o.readVersions(ctx, crd) })
		}
	}
	for _, u := range v.artifacts() {
		questions = append(questions, func(ctx context.Context) {
			o.readArtifact(ctx, health.RefOf(u), text(u, "status", "artifact", "url"))
		})
	}
	return questions
}

// artifacts returns the sources whose artifact is read: those in namespaces of components, and one for each other
// content. Each workload cluster has a copy of the management cluster's source.
func (v *view) artifacts() []*unstructured.Unstructured {
	var sources []*unstructured.Unstructured
	seen := map[string]bool{}
	for _, kind := range []string{"GitRepository", "OCIRepository"} {
		for _, u := range v.list("source.toolkit.fluxcd.io", kind) {
			digest := text(u, "status", "artifact", "digest")
			isCopy := !v.installed[u.GetNamespace()] && digest != "" && seen[digest]
			if text(u, "status", "artifact", "url") == "" || isCopy {
				continue
			}
			seen[digest] = true
			sources = append(sources, u)
		}
	}
	return sources
}

// readVersions reads one object of a kind in each version that is served and not stored: a webhook converts it.
func (o *observing) readVersions(ctx context.Context, crd *unstructured.Unstructured) {
	for _, version := range maps(crd, "spec", "versions") {
		name, _ := version["name"].(string)
		if version["served"] != true || version["storage"] == true {
			continue
		}
		resource := schema.GroupVersionResource{Group: text(crd, "spec", "group"), Version: name,
			Resource: text(crd, "spec", "names", "plural")}
		_, err := o.Dynamic.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
		p := Probe{Kind: ServedRead, Object: health.RefOf(crd), OK: err == nil}
		switch {
		case apierrors.IsNotFound(err): // it was served a moment ago, or will be soon
			continue
		case err != nil && unanswered(err):
			o.notChecked("%s of version %s in the %s cluster: %v", crd.GetName(), name, o.Name, err)
			continue
		case err != nil:
			p.Message = fmt.Sprintf("version %s: %v", name, err)
		}
		o.probed(p)
	}
}

// readArtifact fetches the start of an artifact through the API server. Flux's other controllers fetch it from the
// Service.
func (o *observing) readArtifact(ctx context.Context, source health.Ref, address string) {
	path, err := flux.ArtifactPath(address)
	if err != nil {
		o.notChecked("the artifact of %s: %v", source, err)
		return
	}
	if path == "" {
		return // no Service's address
	}
	answer, _, err := o.Raw(ctx, path, mostAnswer)
	p := Probe{Kind: ArtifactRead, Object: source}
	switch {
	case err != nil:
		o.notChecked("the artifact of %s in the %s cluster: %v", source, o.Name, err)
		return
	case answer.StatusCode == http.StatusOK:
		p.OK = true
	case slices.Contains([]int{http.StatusNotFound, http.StatusGone, http.StatusServiceUnavailable}, answer.StatusCode):
		p.Message = answer.Status
	default:
		o.notChecked("the artifact of %s in the %s cluster: %s", source, o.Name, answer.Status)
		return
	}
	o.probed(p)
}
