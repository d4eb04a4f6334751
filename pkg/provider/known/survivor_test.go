package known_test

import (
	"context"
	"io"
	"os"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/known"
)

type silentShell struct{}

func (silentShell) String() string { return "root@192.0.2.7" }

func (silentShell) Run(context.Context, io.Reader, ...string) (string, error) { return "", nil }

// A cluster is looked for where its backup says that it is, and only with the access that is for this place.
func TestControlPlanesOfALostCluster(t *testing.T) {
	const dockerDelete, cloudDelete = "docker rm --force --volumes NAME", "openstack server delete --wait NAME"
	for kind, want := range map[string]struct {
		with, without fault.Code
		command       string
	}{
		"DevCluster":           {fault.Usage, "", dockerDelete},
		"DockerCluster":        {fault.Usage, "", dockerDelete},
		"OpenStackCluster":     {"", fault.Usage, cloudDelete},
		"AWSCluster":           {fault.RestoreRefused, fault.RestoreRefused, ""},
		"OpenStackClusterFake": {fault.RestoreRefused, fault.RestoreRefused, ""},
		"":                     {fault.RestoreRefused, fault.RestoreRefused, ""},
	} {
		for code, shell := range map[*fault.Code]provider.Shell{&want.with: silentShell{}, &want.without: nil} {
			got, err := known.ControlPlanes(known.Lost{Namespace: "ns", Cluster: "mgmt", Infrastructure: kind},
				known.Access{Engine: &docker.Client{}, Shell: shell, Lookup: os.LookupEnv})
			if fault.CodeOf(err) != *code || err != nil && fault.HintOf(err) == "" {
				t.Errorf("%s, shell %v: %v, hint %q", kind, shell, err, fault.HintOf(err))
			}
			if err == nil && got.Commands().Delete != want.command {
				t.Errorf("%s has the commands %+v", kind, got.Commands())
			}
		}
	}
}
