//go:build e2e

package e2e

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/registry"
)

// TestMatrixMirror has the nodes pull the images of one registry through a mirror of the user's own, next to a bundle
// that names itself as the mirror of all registries. Flux's images are of it, and both clusters pull them.
func TestMatrixMirror(t *testing.T) {
	const host = "ghcr.io"
	l := newLab(t)
	cleanBefore(t, l)
	mirror := &readers{next: distribution(t)}
	address := expose(t, mirror)
	images := l.mirrored(t, oci.Target{Prefix: address + "/mirror", Insecure: true}, host)
	mirror.forget() // what was pushed
	url := "http://" + address + "/v2/mirror/" + host
	up := []string{"up", environmentName, "--bundle", l.bundle, "--registry-mirror", host + "=" + url}

	// Each node pulls an image once: before there is a machine it is the bootstrap cluster's, later no new image comes
	// to that one.
	var byBootstrap, byMachine []string
	e := l.signalAt(t, os.Interrupt, func(e event.Event) bool {
		switch {
		case e.Type == event.PhaseStarted && e.Phase == "management-cluster":
			byBootstrap = mirror.pulled()
			mirrorsOf(t, bootstrapNode, host, url)
		case e.Type == event.PhaseStarted && e.Phase == "management-flux":
			mirror.forget()
		case e.Type == event.PhaseFinished && e.Phase == "management-flux":
			byMachine = mirror.pulled()
		}
		return false
	}, up...)
	if e.exitCode != 0 {
		t.Fatalf("up ended with %d: %+v", e.exitCode, e.failure)
	}
	for _, controller := range flux.Controllers() {
		of := func(image string) bool { return strings.HasPrefix(image, "fluxcd/"+controller+":") }
		i := slices.IndexFunc(images, of)
		if i < 0 {
			t.Fatalf("the bundle has no image of %s: %v", controller, images)
		}
		repository, _, _ := strings.Cut(images[i], ":")
		for node, pulled := range map[string][]string{"the bootstrap cluster's node": byBootstrap,
			"the machine": byMachine} {
			if !slices.Contains(pulled, "mirror/"+host+"/"+repository) {
				t.Errorf("%s did not pull %s from the mirror, but %v", node, repository, pulled)
			}
		}
	}
	management := l.management(t)
	l.built(t, management)
	for _, machine := range machines(t) {
		mirrorsOf(t, machine, host, url)
	}
	t.Run("up again changes nothing", func(t *testing.T) { l.idle(t, management, up) })
}

// mirrored pushes the bundle's images of a host to the target, and returns them without the host.
func (l lab) mirrored(t *testing.T, target oci.Target, host string) []string {
	t.Helper()
	b := l.openBundle(t)
	var references, images []string
	for _, reference := range b.References(bundle.LoadRegistry) {
		ref, err := name.ParseReference(reference)
		if err != nil {
			t.Fatal(err)
		}
		if ref.Context().RegistryStr() == host {
			references, images = append(references, reference), append(images, strings.TrimPrefix(reference, host+"/"))
		}
	}
	if len(images) == 0 {
		t.Fatalf("the bundle has no image of %s", host)
	}
	if err := bundle.FillRegistry(t.Context(), target, b, references, nil); err != nil {
		t.Fatal(err)
	}
	return images
}

// mirrorsOf fails the test unless a node pulls images of the host from the user's mirror alone, and all others from the
// bundle's registry.
func mirrorsOf(t *testing.T, node, host, url string) {
	t.Helper()
	read := func(host string) string {
		return docker(t, "exec", node, "cat", "/etc/containerd/certs.d/"+host+"/hosts.toml")
	}
	if hosts := read(host); !strings.Contains(hosts, `server = "`+url+`"`) ||
		strings.Contains(hosts, registry.Host(environmentName)) {
		t.Errorf("%s pulls images of %s as this says, want from %s alone:\n%s", node, host, url, hosts)
	}
	for _, other := range []string{"registry.k8s.io", "_default"} {
		if hosts := read(other); !strings.Contains(hosts, `server = "http://`+registry.Host(environmentName)+"/v2/") {
			t.Errorf("%s pulls images of %s as this says, want from the bundle's registry:\n%s", node, other, hosts)
		}
	}
}

// readers remembers which repositories containerd read from a registry.
type readers struct {
	next http.Handler

	mu    sync.Mutex
	repos []string
}

// ServeHTTP notes what is read.
func (r *readers) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	repo, _, manifest := strings.Cut(strings.TrimPrefix(request.URL.Path, "/v2/"), "/manifests/")
	if manifest && strings.HasPrefix(request.UserAgent(), "containerd/") {
		r.mu.Lock()
		r.repos = append(r.repos, repo)
		r.mu.Unlock()
	}
	r.next.ServeHTTP(w, request)
}

// pulled returns the repositories of which a manifest was read since the last call of forget.
func (r *readers) pulled() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(r.repos)))
}

func (r *readers) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.repos = nil
}
