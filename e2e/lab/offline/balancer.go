package offline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/cluster-init/cluster-init/e2e/lab/golang"
	"github.com/cluster-init/cluster-init/e2e/lab/image"
	"github.com/cluster-init/cluster-init/e2e/lab/node"
	"github.com/cluster-init/cluster-init/e2e/lab/store"
	"github.com/cluster-init/cluster-init/pkg/bundle"
)

// balancerWrapper stands before haproxy in the PATH, as CAPD gives its own command line. A host without
// CAP_SYS_RESOURCE cannot raise the limit of open files that CAPD's configuration asks for; -n comes before it.
const balancerWrapper = "#!/bin/sh\nexec /usr/sbin/haproxy -n 4000 \"$@\"\n"

// balancerConfig lets haproxy run until CAPD has written its configuration and told haproxy to read it.
const balancerConfig = `defaults
  mode tcp
  timeout connect 5s
  timeout client 50s
  timeout server 50s

frontend waiting
  bind *:8404
`

// balancerTag finds the tag of the load balancer image in CAPD's source.
var balancerTag = regexp.MustCompile(`DefaultImageTag = "([^"]+)"`)

// balancerPackages are what the load balancer needs of Debian.
var balancerPackages = []string{"haproxy"}

// loadBalancer makes the image of the load balancer under the reference that CAPD starts.
func (b *builder) loadBalancer(ctx context.Context) (part, error) {
	source, err := golang.Source(ctx, b.moduleDir("cluster-api-docker"), "sigs.k8s.io/cluster-api/test")
	if err != nil {
		return part{}, err
	}
	constants := filepath.Join(source, "infrastructure", "docker", "internal", "loadbalancer", "const.go")
	content, err := os.ReadFile(constants)
	if err != nil {
		return part{}, fmt.Errorf("read the load balancer's reference: %w", err)
	}
	tag := balancerTag.FindSubmatch(content)
	if tag == nil || !strings.Contains(string(content), `DefaultImageRepository = "kindest"`) {
		return part{}, fmt.Errorf("CAPD has changed: %s does not name the load balancer's image", constants)
	}
	rootfs, err := baseSystem().Build(ctx, b.Store, b.Say)
	if err != nil {
		return part{}, err
	}
	entry := bundle.Image{Reference: "kindest/haproxy:" + string(tag[1]), Load: bundle.LoadDocker, DebianBased: true}
	key := store.Key(recipe, rootfs.Key, entry.Reference, balancerWrapper, balancerConfig)
	return b.makeImage("haproxy", key, entry, func(work string) (v1.Image, error) {
		base, err := image.WriteRootLayer(work, rootfs.Archive, node.Unwanted)
		if err != nil {
			return nil, err
		}
		wrapper, err := image.WriteLayer(work, []image.Entry{
			{Path: "usr/local/sbin/haproxy", Mode: 0o755, Content: []byte(balancerWrapper)},
			{Path: "usr/local/etc/haproxy/haproxy.cfg", Content: []byte(balancerConfig)},
		})
		if err != nil {
			return nil, err
		}
		return image.Assemble(v1.Config{
			Env: []string{path}, Entrypoint: []string{"haproxy", "-W", "-db", "-f",
				"/usr/local/etc/haproxy/haproxy.cfg"},
			StopSignal: "SIGUSR1",
		}, base, wrapper)
	})
}
