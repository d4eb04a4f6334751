package source

import (
	"context"
	"reflect"
	"slices"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// repositoriesAtOnce is how many repositories CheckComponents checks at the same time.
const repositoriesAtOnce = 6

// Checked is what was found of a GitRepository, or of the source of a Helm chart: one of Seen, NotChecked and Err is
// set.
type Checked struct {
	Kind, Name string
	Seen       string // what is there
	NotChecked string // why it cannot be checked from here
	Err        error
}

// CheckComponents checks the GitRepositories among objects, each spec once, with the credentials of the Secrets among
// them. The error of one does not keep the others from being checked. It names the HelmRepositories and OCIRepositories
// without a check.
func CheckComponents(ctx context.Context, objects []*unstructured.Unstructured, via content.Proxies) []Checked {
	var repositories []*unstructured.Unstructured
	secrets := map[string]map[string]string{}
	for _, object := range objects {
		switch {
		case object.GetKind() == "Secret":
			secrets[object.GetName()], _, _ = unstructured.NestedStringMap(object.Object, "stringData")
		case slices.Contains([]string{"GitRepository", "HelmRepository", "OCIRepository"}, object.GetKind()) &&
			!slices.ContainsFunc(repositories, func(o *unstructured.Unstructured) bool {
				return reflect.DeepEqual(o.Object["spec"], object.Object["spec"])
			}):
			repositories = append(repositories, object)
		}
	}
	results := make([]Checked, len(repositories))
	var checks errgroup.Group // none of them fails
	checks.SetLimit(repositoriesAtOnce)
	for i, repository := range repositories {
		checks.Go(func() error {
			results[i] = checkComponent(ctx, repository, secrets, via)
			return nil
		})
	}
	_ = checks.Wait()
	return results
}

func checkComponent(ctx context.Context, object *unstructured.Unstructured, secrets map[string]map[string]string,
	via content.Proxies) Checked {
	result := Checked{Kind: object.GetKind(), Name: object.GetName()}
	if result.Kind != "GitRepository" {
		result.NotChecked = "only Git repositories can be checked from here"
		return result
	}
	field := func(path ...string) string {
		text, _, _ := unstructured.NestedString(object.Object, append([]string{"spec"}, path...)...)
		return text
	}
	r := Repository{URL: field("url"), Branch: field("ref", "branch"), Tag: field("ref", "tag")}
	if _, overSSH := GitAddress(r.URL); overSSH {
		result.NotChecked = "it is read over ssh"
		return result
	}
	if name := field("secretRef", "name"); name != "" {
		login, known := secrets[name]
		if !known {
			result.NotChecked = "its credentials are in the cluster's Secret " + name
			return result
		}
		r.Username, r.Password, r.CA = login["username"], login["password"], []byte(login["ca.crt"])
	}
	if result.Err = r.Verify(ctx, via); result.Err != nil {
		return result
	}
	result.Seen = "it can be read"
	switch {
	case field("ref", "commit") != "" || field("ref", "semver") != "" || field("ref", "name") != "":
		result.Seen += "; not checked: its revision, which is neither a branch nor a tag"
	case r.Tag != "":
		result.Seen += ", and has tag " + r.Tag
	case r.Branch != "":
		result.Seen += ", and has branch " + r.Branch
	}
	return result
}
