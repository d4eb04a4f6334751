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

// Mirror specifies from where containerd gets the images of a registry host.
type Mirror struct {
	Host string // the registry in image references, e.g. "registry.k8s.io"
	URL  string // of the mirror
	// OverridePath reports that URL is the whole API root, including /v2/....
	OverridePath bool
	// SkipVerify disables the check of its certificate.
	SkipVerify bool
	// CA are certificates (PEM) that may sign the mirror's. Empty means the usual ones.
	CA string
	// Only keeps containerd from using the original host if the mirror lacks an image.
	Only bool
}

const hintMirror = "Set it as --registry-mirror HOST=URL, for example registry.k8s.io=https://mirror.example/v2/k8s"

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
	if m.Only { // the server itself is replaced, so that there is no fallback
		return fmt.Sprintf("server = %q\n", m.URL) + capabilities + override
	}
	return fmt.Sprintf("[host.%q]\n", m.URL) + capabilities + override
}

// allOthers is where containerd looks for the mirror of a host without its own one.
const allOthers = "_default"

// BundleMirrors are the mirrors for images that bundle.FillRegistry puts into the environment's registry at
// registryHost: one for each host in the references, and one for all other hosts. The original hosts are never used, so
// that an image missing from the bundle fails instead of being fetched from outside.
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
		return Mirror{}, fmt.Errorf("%q is not a registry host", host)
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
		return Mirror{}, fmt.Errorf("credentials do not belong in the URL")
	case u.RawQuery != "" || u.Fragment != "":
		return Mirror{}, fmt.Errorf("the URL has a query or a fragment")
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	// containerd appends /v2 itself unless override_path is set; a bare /v2 means the same either way.
	if u.Path == "/v2" {
		u.Path = ""
	}
	return Mirror{Host: host, URL: u.String(), OverridePath: strings.Contains(u.Path+"/", "/v2/")}, nil
}

// redactMirror hides a password in the message about a flag.
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

// originalHost is the registry in a reference as people and containerd write it: docker.io for Docker Hub.
func originalHost(ref name.Reference) string {
	host := ref.Context().RegistryStr()
	if host == name.DefaultRegistry {
		return "docker.io"
	}
	return host
}

// hostPath is a host as the first part of a repository path, which must not contain a colon.
func hostPath(host string) string { return strings.ReplaceAll(host, ":", "-") }
