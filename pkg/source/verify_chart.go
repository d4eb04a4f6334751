package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-containerregistry/pkg/authn"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/redirect"
	"github.com/cluster-init/cluster-init/pkg/source/content"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// maxIndex is the maximum size of a Helm repository's index, as source-controller has it by default.
const maxIndex = 50 << 20

// chart is a Helm chart in a repository.
type chart struct{ name, version string }

// chartFrom returns the chart that a component installs from a HelmRepository. It is in a patch of the component's
// Kustomization among objects: the HelmRelease itself is made in the cluster.
func chartFrom(repository *unstructured.Unstructured, objects []*unstructured.Unstructured) chart {
	var found chart
	for _, object := range objects {
		patches, _, _ := unstructured.NestedSlice(object.Object, "spec", "patches")
		for _, patch := range patches {
			fields, _ := patch.(map[string]any)
			text, _ := fields["patch"].(string)
			var operations []struct {
				Path  string
				Value json.RawMessage
			}
			if object.GetKind() != "Kustomization" || json.Unmarshal([]byte(text), &operations) != nil {
				continue // a user's patch may be YAML
			}
			for _, operation := range operations {
				var value struct {
					Spec struct {
						Chart, Version string
						SourceRef      struct{ Kind, Name string }
					}
				}
				if operation.Path == "/spec/chart" && json.Unmarshal(operation.Value, &value) == nil &&
					value.Spec.SourceRef.Kind == repository.GetKind() &&
					value.Spec.SourceRef.Name == repository.GetName() {
					found = chart{value.Spec.Chart, value.Spec.Version}
				}
			}
		}
	}
	return found
}

// checkHelm looks for the chart in the index of a Helm repository.
func (s componentSource) checkHelm(ctx context.Context, via content.Proxies) (string, error) {
	address := s.field("url")
	proxied := throughProxies(via, s.ca)
	defer proxied.CloseIdleConnections()
	seen := fmt.Sprintf("it can be read, and has chart %s %s", s.chart.name, s.chart.version)
	err := ask(ctx, "Helm repository", address, func(ctx context.Context) error {
		text, err := s.index(ctx, address, proxied)
		if err == nil {
			err = s.chart.in(text)
		}
		if errors.Is(err, unpack.ErrTooLarge) {
			seen, err = "it can be read; not checked: its charts, as its index is too large", nil
		}
		return err
	})
	return seen, err
}

// index requests the list of a repository's charts. A redirect to another host gets no login, and none leads to http.
func (s componentSource) index(ctx context.Context, address string, via http.RoundTripper) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("its address does not parse")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.JoinPath("index.yaml").String(), nil)
	if err != nil {
		return nil, err
	}
	if s.login["password"] != "" {
		req.SetBasicAuth(s.login["username"], s.login["password"])
	}
	resp, err := (&http.Client{Transport: via, CheckRedirect: redirect.WithoutCredentials}).Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, &oci.StatusError{Code: resp.StatusCode}
	}
	return oci.ReadAnswer(resp.Body, maxIndex)
}

// in returns an error if an index lacks the chart. source-controller takes an entry of exactly this version, else one
// that equals it, as v1.2.3 equals 1.2.3.
func (c chart) in(index []byte) error {
	var repository struct {
		Entries map[string][]struct{ Version string }
	}
	err := unpack.Unmarshal(index, &repository)
	if errors.Is(err, unpack.ErrTooLarge) {
		return err
	}
	if err != nil || repository.Entries == nil {
		return errors.New("the answer is not the index of a Helm repository") // what it is may be a secret
	}
	versions, known := repository.Entries[c.name]
	if !known {
		return fmt.Errorf("it has no chart %s", c.name)
	}
	wanted, err := semver.NewConstraint(c.version)
	if err != nil {
		return err
	}
	for _, entry := range versions {
		if version, err := semver.NewVersion(entry.Version); entry.Version == c.version ||
			err == nil && wanted.Check(version) {
			return nil
		}
	}
	return fmt.Errorf("it has no version %s of chart %s", c.version, c.name)
}

// checkOCI requests the manifest of a chart in a registry, with the login that the cluster gets, and no other.
func (s componentSource) checkOCI(ctx context.Context, via content.Proxies) (string, error) {
	artifact := flux.OCIArtifact{URL: s.field("url"), Tag: s.field("ref", "tag")}
	artifact.Insecure, _, _ = unstructured.NestedBool(s.object.Object, "spec", "insecure")
	var config struct{ Auths map[string]authn.AuthConfig }
	if text := s.login[".dockerconfigjson"]; text != "" {
		if err := json.Unmarshal([]byte(text), &config); err != nil {
			return "", err
		}
	}
	login := authn.Anonymous
	for _, only := range config.Auths { // the chart makes it for the one registry of the address
		login = authn.FromConfig(only)
	}
	proxied := throughProxies(via, s.ca)
	defer proxied.CloseIdleConnections()
	err := ask(ctx, "registry", artifact.URL, func(ctx context.Context) error {
		return verifyOCI(ctx, artifact, proxied, onlyLogin{login})
	})
	return "it can be read, and has tag " + artifact.Tag, err
}

// onlyLogin is a keychain with one login.
type onlyLogin struct{ login authn.Authenticator }

// Resolve returns the login.
func (k onlyLogin) Resolve(authn.Resource) (authn.Authenticator, error) { return k.login, nil }
