package oci

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Mirror says where containerd gets the images of a registry host from.
type Mirror struct {
	Host string // the registry in image references, e.g. "registry.k8s.io"
	URL  string // of the mirror
	// OverridePath says that URL is the whole API root, /v2/... included.
	OverridePath bool
	// SkipVerify says that its certificate is not checked.
	SkipVerify bool
	// CA are certificates (PEM) of who signed the mirror's. Empty means one that is trusted anyway.
	CA string
	// Only keeps containerd from asking the original host when the mirror lacks an image.
	Only bool
}

const hintMirror = "give --registry-mirror host=url, e.g. registry.k8s.io=https://mirror.example/v2/k8s"

// HostsTOML is the content of /etc/containerd/certs.d/<host>/hosts.toml for the mirror.
func (m Mirror) HostsTOML() string {
	override := ""
	if m.OverridePath {
		override = "override_path = true\n"
	}
	if m.SkipVerify {
		override += "skip_verify = true\n"
	}
	const capabilities = "capabilities = [\"pull\", \"resolve\"]\n"
	if m.Only { // the server itself is replaced, so that nothing is left to fall back to
		return fmt.Sprintf("server = %q\n", m.URL) + capabilities + override
	}
	return fmt.Sprintf("[host.%q]\n", m.URL) + capabilities + override
}

// allOthers is where containerd looks for the mirror of a host that has none of its own.
const allOthers = "_default"

// BundleMirrors are the mirrors for images that bundle.FillRegistry puts into the environment's registry at
// registryHost: one for each host in the references, and one for all other hosts. No host is asked itself, so that an
// image that the bundle lacks is missed rather than fetched from outside.
func BundleMirrors(registryHost string, references []string) ([]Mirror, error) {
	hosts := map[string]bool{allOthers: true}
	for _, reference := range references {
		ref, err := name.ParseReference(reference)
		if err != nil {
			return nil, fault.Wrap(fmt.Errorf("image reference: %w", err), fault.BundleInvalid, "")
		}
		hosts[originalHost(ref)] = true
	}
	var mirrors []Mirror
	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		mirrors = append(mirrors, Mirror{
			Host: host, URL: "http://" + registryHost + "/v2/" + hostPath(host), OverridePath: true, Only: true,
		})
	}
	return mirrors, nil
}

// ParseMirrors reads `--registry-mirror host=url` flags.
func ParseMirrors(flags []string) ([]Mirror, error) {
	var mirrors []Mirror
	seen := map[string]bool{}
	for _, flag := range flags {
		m, err := parseMirror(flag)
		if err == nil && seen[m.Host] {
			err = fmt.Errorf("host %s is given twice", m.Host)
		}
		if err != nil {
			return nil, fault.Wrap(fmt.Errorf("registry mirror %q: %w", redactMirror(flag), err), fault.Usage,
				hintMirror)
		}
		seen[m.Host] = true
		mirrors = append(mirrors, m)
	}
	return mirrors, nil
}

func parseMirror(flag string) (Mirror, error) {
	host, address, ok := strings.Cut(flag, "=")
	if !ok {
		return Mirror{}, fmt.Errorf("no '=' in it")
	}
	if _, err := name.NewRegistry(host, name.StrictValidation); err != nil || strings.ContainsAny(host, "/ \t\"") {
		return Mirror{}, fmt.Errorf("%q is no registry host", host)
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return Mirror{}, fmt.Errorf("the URL does not parse")
	case u.Scheme != "http" && u.Scheme != "https":
		return Mirror{}, fmt.Errorf("the URL must begin with http:// or https://")
	case u.Host == "":
		return Mirror{}, fmt.Errorf("the URL has no host")
	case u.User != nil:
		return Mirror{}, fmt.Errorf("credentials do not belong into the URL")
	case u.RawQuery != "" || u.Fragment != "":
		return Mirror{}, fmt.Errorf("the URL has a query or a fragment")
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	// containerd appends /v2 itself unless the path is told to be whole; a bare /v2 means the same either way.
	if u.Path == "/v2" {
		u.Path = ""
	}
	return Mirror{Host: host, URL: u.String(), OverridePath: strings.Contains(u.Path+"/", "/v2/")}, nil
}

// redactMirror keeps a password out of the message about a flag.
func redactMirror(flag string) string {
	host, address, ok := strings.Cut(flag, "=")
	if !ok {
		return Redacted(flag)
	}
	return host + "=" + Redacted(address)
}

// MirrorPath is where the mirrors of BundleMirrors find an image: <its host>/<its repository>.
func MirrorPath(image name.Reference) string {
	return hostPath(originalHost(image)) + "/" + image.Context().RepositoryStr()
}

// originalHost is the registry in a reference as people and containerd write it: docker.io for the Docker Hub.
func originalHost(ref name.Reference) string {
	host := ref.Context().RegistryStr()
	if host == name.DefaultRegistry {
		return "docker.io"
	}
	return host
}

// hostPath is a host as the first part of a repository path, where no colon may stand.
func hostPath(host string) string { return strings.ReplaceAll(host, ":", "-") }
