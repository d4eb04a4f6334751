package openstack

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/openstack/credentials"
	"github.com/cluster-init/cluster-init/pkg/openstack/preflight"
)

func shell(change ...string) func(string) (string, bool) {
	variables := map[string]string{
		"OS_AUTH_URL": "https://k/v3", "OS_USERNAME": "ada", "OS_PASSWORD": "s3cret", "OS_PROJECT_NAME": "telco",
		"OPENSTACK_IMAGE_NAME": "kube", "OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR": "m1.medium",
		"OPENSTACK_NODE_MACHINE_FLAVOR": "m1.small",
		"OPENSTACK_EXTERNAL_NETWORK":    "public", "OPENSTACK_SSH_KEY_NAME": "ada",
	}
	for i := 0; i < len(change); i += 2 {
		variables[change[i]] = change[i+1]
	}
	return func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	}
}

func capo(t *testing.T, lookup func(string) (string, bool), sets ...string) *environment.Environment {
	t.Helper()
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capo", Content: clusterinit.Content(),
		Variables: lookup, Sets: sets,
		Derive: func(_ context.Context, name string) (string, bool, error) { return Derive(lookup, name) }})
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// What the cluster gets is what preflight logs in with, wherever it comes from.
func TestCloudOfTheEnvironment(t *testing.T) {
	found, err := credentials.Find(shell())
	if err != nil {
		t.Fatal(err)
	}
	given := base64.StdEncoding.EncodeToString(
		[]byte("clouds: {mine: {auth: {auth_url: 'https://k', user_id: u, password: given-s3cret, project_id: p}}}"))
	for name, test := range map[string]struct {
		lookup  func(string) (string, bool)
		sets    []string
		name    string
		content string
	}{
		"derived": {shell(), nil, "openstack", string(found.Config)},
		"of the variable": {shell("OPENSTACK_CLOUD_YAML_B64", given, "OPENSTACK_CLOUD", "mine", "OS_AUTH_URL", "",
			"OS_USERNAME", "", "OS_PASSWORD", "", "OS_PROJECT_NAME", ""), nil, "mine", "given-s3cret"},
		"its only entry": {shell("OPENSTACK_CLOUD_YAML_B64", given, "OS_AUTH_URL", "", "OS_USERNAME", "",
			"OS_PASSWORD", "", "OS_PROJECT_NAME", ""), nil, "mine", "given-s3cret"},
	} {
		t.Run(name, func(t *testing.T) {
			of, err := Cloud(capo(t, test.lookup, test.sets...))
			if err != nil || of.Name != test.name || !strings.Contains(string(of.Config), test.content) ||
				len(of.CACert) > 0 {
				t.Errorf("%v, cloud %q, or other credentials than wanted", err, of.Name)
			}
		})
	}
}

// A file of this machine is on no other machine: controllers and machines would trust no certificate.
func TestACertificateThatOnlyThisMachineHasIsRefused(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	yaml := fmt.Sprintf("clouds: {mine: {auth: {auth_url: %q, user_id: u, password: given-s3cret, project_id: p}, "+
		"cacert: %q}}", server.URL, file)
	given := "cluster.openstack.clouds_yaml_b64=" + base64.StdEncoding.EncodeToString([]byte(yaml))
	err := New(capo(t, shell(), given, "cluster.openstack.cloud_name=mine")).Preflight(t.Context(), nil)
	if fault.CodeOf(err) != fault.CredentialsMissing ||
		!strings.Contains(fault.HintOf(err), "cluster.openstack.cacert_b64") {
		t.Errorf("the file alone: %v", err)
	}
	with := "cluster.openstack.cacert_b64=" + base64.StdEncoding.EncodeToString(certificate)
	err = New(capo(t, shell(), given, "cluster.openstack.cloud_name=mine", with)).Preflight(t.Context(), nil)
	if err == nil || strings.Contains(err.Error(), "only this machine") {
		t.Errorf("with the certificate itself: %v", err)
	}
}

// Nothing that is published holds credentials, and none need be there.
func TestNoCloudIsOneThatLoads(t *testing.T) {
	lookup := shell("OS_AUTH_URL", "", "OS_USERNAME", "", "OS_PASSWORD", "", "OS_PROJECT_NAME", "")
	for _, name := range []string{"kubeadm-capo", "rke2-capo"} {
		if _, err := environment.Load(t.Context(), environment.Options{Name: name, Content: clusterinit.Content(),
			Variables: lookup, Derive: func(_ context.Context, name string) (string, bool, error) {
				value, found := NoCloud(name)
				return value, found, nil
			}}); err != nil {
			t.Error(err)
		}
	}
}

func TestNeedsOfTheEnvironment(t *testing.T) {
	few := preflight.Needs{
		Tag: "cluster-init:cluster=management-kubeadm-capo", ControlPlane: preflight.Machines{Count: 1,
			Flavor: "m1.medium"}, Workers: preflight.Machines{Flavor: "m1.small"},
		Image: "kube", KeyPair: "ada", ExternalNetwork: "public",
		AddressDescription: "Created by cluster-init for the API server of cluster management-kubeadm-capo",
		Resources: preflight.Resources{Servers: 1, Ports: 2, Networks: 1, Subnets: 1, Routers: 1, SecurityGroups: 2,
			FloatingIPs: 1},
	}
	many := preflight.Needs{
		Tag:                "cluster-init:cluster=ns-mine",
		AddressDescription: "Created by cluster-init for the API server of cluster ns-mine",
		ControlPlane: preflight.Machines{Count: 3, Flavor: "m1.medium",
			Zones: []string{"a", "b"}}, Workers: preflight.Machines{Count: 2, Flavor: "m1.small", Zones: []string{"c"}},
		Image: "kube", KeyPair: "ada", ExternalNetwork: "public", Network: "net", Subnet: "sub", Router: "rtr",
		FloatingIP: "192.0.2.7",
		RootVolume: preflight.RootVolume{GiB: 30, Type: "ssd", Zone: "nova"}, LoadBalancers: true, Volumes: true,
		ServerGroups: []string{"ns-mine-control-plane", "ns-mine-workers"},
		Resources: preflight.Resources{Servers: 5, ServerGroups: 2, Ports: 6, SecurityGroups: 2, Volumes: 5,
			Gigabytes: 150},
	}
	pools := few
	pools.Pools = []preflight.Machines{{Count: 1, Flavor: "m1.small"},
		{Count: 2, Flavor: "m1.gpu", Value: "cluster.workers.gpu.flavor"}}
	pools.Resources.Servers, pools.Resources.Ports = 4, 5
	virtual := few
	virtual.Network = "net"
	virtual.Resources = preflight.Resources{Servers: 1, Ports: 2, SecurityGroups: 2}
	for name, test := range map[string]struct {
		want preflight.Needs
		sets []string
	}{
		"pools": {pools, []string{"cluster.workers.gpu.replicas=2,cluster.workers.gpu.flavor=m1.gpu",
			"cluster.workers.burst.replicas=null"}},
		"as few as possible": {few, nil},
		"a virtual address": {virtual, []string{"cluster.openstack.api_server.mode=vip,cluster.openstack.network=net",
			"cluster.openstack.api_server.fixed_ip=10.0.0.9,cluster.openstack.api_server.keepalived_image=k"}},
		"as many": {many,
			[]string{"cluster.name=mine,cluster.namespace=ns,cluster.control_plane.replicas=3,cluster.worker.replicas=2,cluster.openstack.network=net,cluster.openstack.subnet=sub,cluster.openstack.router=rtr",
				"cluster.openstack.api_server.mode=octavia,cluster.openstack.api_server.floating_ip=192.0.2.7,cluster.openstack.root_volume.size=30,cluster.openstack.root_volume.type=ssd,cluster.openstack.root_volume.availability_zone=nova",
				"cluster.openstack.control_plane_availability_zones={a,b},cluster.openstack.worker_availability_zone=c,cluster.openstack.server_groups.control_plane=anti-affinity,cluster.openstack.server_groups.worker=soft-anti-affinity"}},
	} {
		if diff := cmp.Diff(test.want, needs(capo(t, shell(), test.sets...))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
