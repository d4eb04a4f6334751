package openstack

import (
	"encoding/base64"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/standin"
)

// nothingSaid is a reporter.
type nothingSaid struct{}

func (nothingSaid) Progress(string, ...any) {}
func (nothingSaid) Warn(string, ...any)     {}

// withVirtualAddress is the provider of an environment in mode vip, in a cloud with the machines' network.
func withVirtualAddress(t *testing.T) (Provider, *standin.Cloud) {
	t.Helper()
	cloud := standin.New(t, httptest.NewServer)
	of := cloud.Credentials(t)
	cloud.Answers["GET /network/v2.0/subnets"] = standin.OK(standin.Object{"subnets": []standin.Object{{"id": "s1",
		"network_id": standin.NetworkID, "cidr": "10.0.0.0/24", "gateway_ip": "10.0.0.1"}}})
	return New(capo(t, shell(), "cluster.openstack.clouds_yaml_b64="+base64.StdEncoding.EncodeToString(of.Config),
		"cluster.openstack.cloud_name="+of.Name, "cluster.openstack.network=public",
		"cluster.openstack.api_server.mode=vip", "cluster.openstack.api_server.fixed_ip=10.0.0.9",
		"cluster.openstack.api_server.keepalived_image=k")), cloud
}

// In mode vip the address is a port. The machines themselves move it.
func TestAVirtualAddressIsAPort(t *testing.T) {
	p, cloud := withVirtualAddress(t)
	env := p.environment
	if found, err := p.FindAddress(t.Context(), env); err != nil || found.Address != "" {
		t.Errorf("before: %+v, %v", found, err)
	}
	reserved := standin.Object{"id": "vip", "network_id": standin.NetworkID, "project_id": "p1",
		"description": "Created by cluster-init for the API server of cluster management-kubeadm-capo",
		"fixed_ips":   []standin.Object{{"subnet_id": "s1", "ip_address": "10.0.0.9"}}}
	cloud.Lock()
	cloud.Answers["POST /network/v2.0/ports"] = standin.Reply{Status: 409, Body: standin.Object{
		"NeutronError": standin.Object{"message": "already allocated"}}}
	cloud.Unlock()
	if _, err := p.MakeAddress(t.Context(), env); fault.CodeOf(err) != fault.CloudLacks ||
		!strings.Contains(err.Error(), "already allocated") {
		t.Errorf("a hidden port has it: %v", err)
	}
	cloud.Lock()
	cloud.Answers["GET /network/v2.0/ports"] = standin.OK(standin.Object{"ports": []standin.Object{reserved}})
	cloud.Answers["PUT /network/v2.0/ports/vip/tags"] = standin.OK(standin.Object{})
	cloud.Answers["DELETE /network/v2.0/ports/vip"] = standin.Reply{Status: 204}
	cloud.Asked = nil
	cloud.Unlock()
	if made, err := p.MakeAddress(t.Context(), env); err != nil || made.Address != "10.0.0.9" || !made.Marked {
		t.Errorf("%+v, %v", made, err)
	}
	if machine, err := p.MoveAddress(t.Context(), env, []string{"cp-0"}); err != nil || machine != "" {
		t.Errorf("moved to %q, %v", machine, err)
	}
	if deleted, err := p.DeleteAddress(t.Context()); err != nil || !slices.Equal(deleted, []string{"10.0.0.9"}) {
		t.Errorf("deleted %v, %v", deleted, err)
	}
	for _, asked := range cloud.Asked {
		if strings.Contains(asked, "floatingips") || strings.Contains(asked, "servers") {
			t.Errorf("asked for %s", asked)
		}
	}
}

// Preflight refuses an address that is in use together with what else the cloud lacks.
func TestPreflightChecksTheVirtualAddress(t *testing.T) {
	p, cloud := withVirtualAddress(t)
	cloud.Answers["GET /network/v2.0/ports"] = standin.OK(standin.Object{"ports": []standin.Object{{"id": "web",
		"network_id": standin.NetworkID, "project_id": "p1", "device_id": "server-7", "device_owner": "compute:nova",
		"fixed_ips": []standin.Object{{"subnet_id": "s1", "ip_address": "10.0.0.9"}}}}})
	cloud.Answers["GET /compute/v2.1/os-keypairs"] = standin.OK(standin.Object{"keypairs": []standin.Object{}})
	delete(cloud.Answers, "GET /compute/v2.1/os-keypairs/ada")
	err := p.Preflight(t.Context(), nothingSaid{})
	if fault.CodeOf(err) != fault.CloudLacks || !strings.Contains(err.Error(), `port web of device "server-7"`) ||
		!strings.Contains(err.Error(), "key pair") {
		t.Errorf("%v", err)
	}
}
