package cli

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// errNotChecked says why a repository was not checked.
type errNotChecked struct{ why string }

// Error is for people.
func (e errNotChecked) Error() string { return "not checked: " + e.why }

// checkRepositories checks the Git repositories of components, with their credentials. The source itself is checked
// elsewhere.
func checkRepositories(ctx context.Context, env *environment.Environment) up.Finding {
	f := up.Finding{Title: "Git repositories of components"}
	ctx, cancel := context.WithTimeout(ctx, onlineBound)
	defer cancel()
	var repositories []*unstructured.Unstructured
	secrets := map[string]map[string]string{}
	for _, phase := range []environment.Phase{environment.Bootstrap, environment.Management} {
		objects, err := env.Render(phase, nil)
		if err != nil {
			f.Problems = fault.Problems(err)
			return f
		}
		for _, object := range objects {
			switch {
			case object.GetKind() == "Secret":
				secrets[object.GetName()], _, _ = unstructured.NestedStringMap(object.Object, "stringData")
			case object.GetKind() == "GitRepository" &&
				!slices.ContainsFunc(repositories, func(o *unstructured.Unstructured) bool {
					return reflect.DeepEqual(o.Object["spec"], object.Object["spec"])
				}):
				repositories = append(repositories, object)
			}
		}
	}
	errs, seen := make([]error, len(repositories)), make([]string, len(repositories))
	var checks errgroup.Group // none of them fails
	checks.SetLimit(imagesAtOnce)
	for i, repository := range repositories {
		checks.Go(func() error {
			seen[i], errs[i] = checkRepository(ctx, env, repository, secrets)
			return nil
		})
	}
	_ = checks.Wait()
	for i, repository := range repositories {
		_, notChecked := errors.AsType[errNotChecked](errs[i])
		switch name := "GitRepository/" + repository.GetName() + ": "; {
		case notChecked:
			f.Warnings = append(f.Warnings, name+errs[i].Error())
		case errs[i] != nil:
			f.Problems = append(f.Problems, fmt.Errorf("%s%w", name, errs[i]))
		default:
			f.Seen = append(f.Seen, name+seen[i])
		}
	}
	if len(repositories) == 0 {
		f.Seen = []string{"no component has one"}
	}
	return f
}

// checkRepository checks a GitRepository and returns what was found.
func checkRepository(ctx context.Context, env *environment.Environment, object *unstructured.Unstructured,
	secrets map[string]map[string]string) (string, error) {
	field := func(path ...string) string {
		text, _, _ := unstructured.NestedString(object.Object, append([]string{"spec"}, path...)...)
		return text
	}
	r := source.Repository{URL: field("url"), Branch: field("ref", "branch"), Tag: field("ref", "tag")}
	if _, overSSH := source.GitAddress(r.URL); overSSH {
		return "", errNotChecked{"it is read over ssh, with a key that only the cluster has"}
	}
	if name := field("secretRef", "name"); name != "" {
		login, known := secrets[name]
		if !known {
			return "", errNotChecked{"its credentials are in the cluster's Secret " + name}
		}
		r.Username, r.Password, r.CA = login["username"], login["password"], []byte(login["ca.crt"])
	}
	if err := r.Verify(ctx, proxies(env)); err != nil {
		return "", err
	}
	has := "it can be read"
	switch {
	case field("ref", "commit") != "" || field("ref", "semver") != "" || field("ref", "name") != "":
		return has + "; not checked: its revision, which is neither a branch nor a tag", nil
	case r.Tag != "":
		has += ", and has tag " + r.Tag
	case r.Branch != "":
		has += ", and has branch " + r.Branch
	}
	return has, nil
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
