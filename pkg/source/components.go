package source

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oci"
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

// componentSource is a source of Flux's, and what a component reads from it.
type componentSource struct {
	object *unstructured.Unstructured
	chart  chart             // of a HelmRepository
	login  map[string]string // data of the Secrets that it refers to
	ca     []byte
}

// CheckComponents checks the GitRepositories, HelmRepositories and OCIRepositories among objects, each spec once, with
// the credentials of the Secrets among them. The error of one does not keep the others from being checked.
func CheckComponents(ctx context.Context, objects []*unstructured.Unstructured, via content.Proxies) []Checked {
	var sources []componentSource
	for _, object := range objects {
		if slices.Contains([]string{"GitRepository", "HelmRepository", "OCIRepository"}, object.GetKind()) {
			next := componentSource{object: object, chart: chartFrom(object, objects)}
			if !slices.ContainsFunc(sources, next.same) {
				sources = append(sources, next)
			}
		}
	}
	results := make([]Checked, len(sources))
	var checks errgroup.Group // none of them fails
	checks.SetLimit(repositoriesAtOnce)
	for i, s := range sources {
		checks.Go(func() error {
			results[i] = Checked{Kind: s.object.GetKind(), Name: s.object.GetName()}
			if results[i].NotChecked = s.findSecrets(objects); results[i].NotChecked == "" {
				results[i].Seen, results[i].Err = s.check(ctx, via)
			}
			return nil
		})
	}
	_ = checks.Wait()
	return results
}

// same reports whether a check of the other source finds the same.
func (s componentSource) same(other componentSource) bool {
	return s.chart == other.chart && s.object.GetKind() == other.object.GetKind() &&
		reflect.DeepEqual(s.object.Object["spec"], other.object.Object["spec"])
}

// field returns a text in the spec of the source.
func (s componentSource) field(path ...string) string {
	text, _, _ := unstructured.NestedString(s.object.Object, append([]string{"spec"}, path...)...)
	return text
}

// findSecrets reads the Secrets of the source from objects. notChecked is why the source cannot be checked from here.
func (s *componentSource) findSecrets(objects []*unstructured.Unstructured) (notChecked string) {
	if _, overSSH := GitAddress(s.field("url")); overSSH {
		return "it is read over ssh"
	}
	for _, ref := range []string{"secretRef", "certSecretRef"} {
		name := s.field(ref, "name")
		if name == "" {
			continue
		}
		at := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool {
			return o.GetKind() == "Secret" && o.GetName() == name
		})
		if at < 0 {
			return "its credentials are in the cluster's Secret " + name
		}
		data, _, _ := unstructured.NestedStringMap(objects[at].Object, "stringData")
		if ref == "secretRef" {
			s.login = data
		}
		s.ca = append(s.ca, data[caKey]...)
	}
	return ""
}

// check returns what is there. Its errors are faults SourceUnreadable.
func (s componentSource) check(ctx context.Context, via content.Proxies) (seen string, err error) {
	ofChart := "components." + strings.TrimPrefix(s.object.GetName(), "chart-") + ".chart."
	switch s.object.GetKind() {
	case "HelmRepository":
		seen, err = s.checkHelm(ctx, via)
	case "OCIRepository":
		seen, err = s.checkOCI(ctx, via)
	default:
		seen, err = s.checkGit(ctx, via)
		return seen, withKeys(err, "`auth` of its entry in git_repo_templates, or GITLAB_USER and GITLAB_TOKEN",
			"`ca` of its entry in git_repo_templates")
	}
	return seen, withKeys(err, ofChart+"auth", ofChart+"ca")
}

func (s componentSource) checkGit(ctx context.Context, via content.Proxies) (string, error) {
	r := Repository{URL: s.field("url"), Branch: s.field("ref", "branch"), Tag: s.field("ref", "tag"),
		Username: s.login["username"], Password: s.login["password"], CA: s.ca}
	if err := r.Verify(ctx, via); err != nil {
		return "", err
	}
	switch {
	case s.field("ref", "commit") != "" || s.field("ref", "semver") != "" || s.field("ref", "name") != "":
		return "it can be read; not checked: its revision, which is neither a branch nor a tag", nil
	case r.Tag != "":
		return "it can be read, and has tag " + r.Tag, nil
	case r.Branch != "":
		return "it can be read, and has branch " + r.Branch, nil
	}
	return "it can be read", nil
}

// withKeys names the keys of the values in the hints that would name flags of the source.
func withKeys(err error, login, ca string) error {
	switch code := oci.StatusOf(err); {
	case noTLS(err):
		return fault.Wrap(err, fault.SourceUnreadable, "The server does not speak TLS there: use another address, or "+
			"accept http with `allow_http`.")
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return fault.Wrap(err, fault.SourceUnreadable, "Check the credentials: "+login+".")
	case oci.IsTLS(err):
		return fault.Wrap(err, fault.SourceUnreadable, "Set the CA of the server's certificate as "+ca+
			", or add it to the system's trust store (or SSL_CERT_FILE), and check that no proxy replaces it.")
	}
	return err
}
