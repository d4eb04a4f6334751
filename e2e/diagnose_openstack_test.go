//go:build e2e

package e2e

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/resource"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// cloudFault is what OpenStack refuses of a machine.
type cloudFault struct {
	fault
	// Machine changes the spec of the server, config that of its first configuration; nil changes nothing.
	machine, config func(spec map[string]any)
}

// noHost is a fault whose server OpenStack takes, and then finds no hypervisor for.
func noHost() cloudFault {
	return cloudFault{fault: fault{name: "no-host", Rules: []string{"openstack-no-host"}},
		machine: func(spec map[string]any) { spec["flavor"] = resource.HugeFlavor }}
}

// cloudFaults are refused by different parts of OpenStack: its identity, images, flavors, networks, and its scheduler
// of servers. The address is one of the network that is taken.
func cloudFaults(network, address string) []cloudFault {
	set := func(key string, value any) func(map[string]any) {
		return func(spec map[string]any) { spec[key] = value }
	}
	byName := func(name string) map[string]any { return map[string]any{"filter": map[string]any{"name": name}} }
	identity := func(name string) func(map[string]any) {
		return set("identityRef", map[string]any{"name": "fault-" + name, "cloudName": "fault"})
	}
	var large []any // a file has at most 10 KiB
	for i := range 12 {
		content := make([]byte, 7<<10)
		_, _ = rand.Read(content) // never fails
		large = append(large, map[string]any{"path": fmt.Sprintf("/large-%d", i),
			"content": base64.StdEncoding.EncodeToString(content)})
	}
	return []cloudFault{
		{fault: fault{name: "flavor", Rules: []string{"openstack-flavor"}}, machine: set("flavor", "m1.nope")},
		{fault: fault{name: "image", Rules: []string{"openstack-image"}}, machine: set("image", byName("nope"))},
		{fault: fault{name: "network", Rules: []string{"openstack-port", "openstack-network"}},
			machine: set("ports", []any{map[string]any{"network": byName("nope")}})},
		{fault: fault{name: "address", Rules: []string{"openstack-port"}},
			machine: set("ports", []any{map[string]any{"network": map[string]any{"id": network},
				"fixedIPs": []any{map[string]any{"ipAddress": address}}}})},
		{fault: fault{name: "security-group", Rules: []string{"openstack-security-group"}},
			machine: set("securityGroups", []any{byName("nope")})},
		{fault: fault{name: "key", Rules: []string{"openstack-any"}}, machine: set("sshKeyName", "nope")},
		{fault: fault{name: "credentials", Rules: []string{"openstack-credentials"}}, machine: identity("credentials")},
		{fault: fault{name: "unreachable", Rules: []string{"openstack-unreachable"}}, machine: identity("unreachable")},
		{fault: fault{name: "user-data", Rules: []string{"openstack-user-data"}}, config: set("files", large)},
		{fault: fault{name: "quota", Rules: []string{"openstack-quota"}}},
	}
}

// TestMatrixDiagnoseOpenStack has OpenStack refuse machines in many ways at once, and each explained.
func TestMatrixDiagnoseOpenStack(t *testing.T) {
	l, project := openStackLab(t, openStackName, resource.ServerImage)
	t.Setenv(alarmsVariable, "1")
	l, _, from := l.fromRepository(t)
	if code, _ := l.run(t, append([]string{"up", l.name, "--bundle", l.bundle, "--set", "cluster.worker.replicas=1"},
		from...)...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	c := l.management(t)
	servers := len(project.names(t, openstack.KindServer)) + 1
	c.faultyClouds(t, clusterNamespace, l.name+"-cloud-config")
	c.asksOpenStack(t, l.name, noHost()) // before the quota allows no further server
	eventually(t, "a server without a hypervisor is there", 3*time.Minute,
		func(context.Context) bool { return len(project.names(t, openstack.KindServer)) == servers })
	for quota, limit := range map[string]int{"instances": servers,
		"floatingip": len(project.names(t, openstack.KindFloatingIP))} {
		if err := openStack(t).SetQuota(t.Context(), "e2e-"+l.name, quota, limit); err != nil {
			t.Fatal(err)
		}
	}
	faults := cloudFaults(c.network(t, l.name), c.ofNode(t))
	c.asksOpenStack(t, l.name, faults...)
	refused := []fault{noHost().fault, c.withoutFloatingIP(t, l.name)}
	for _, f := range faults {
		refused = append(refused, f.fault)
	}
	l.explainsAll(t, []string{"diagnose", l.name, "-o", "json"}, refused)
}

// ofNode is the address of a node, which is taken.
func (c cluster) ofNode(t *testing.T) string {
	t.Helper()
	var nodes corev1.NodeList
	if err := c.List(t.Context(), &nodes); err != nil {
		t.Fatal(err)
	}
	for _, a := range nodes.Items[0].Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			return a.Address
		}
	}
	t.Fatal("a node without an address")
	return ""
}

// network is the ID of the network of the machines.
func (c cluster) network(t *testing.T, name string) string {
	t.Helper()
	id, _, _ := unstructured.NestedString(c.ofDefinition(t, "infrastructure.cluster.x-k8s.io/v1beta1",
		"OpenStackCluster", name).Object, "status", "network", "id")
	if id == "" {
		t.Fatal("a cluster without a network")
	}
	return id
}

// clusterNamespace has the cluster definition.
const clusterNamespace = "management"

// ofDefinition is an object of the cluster definition.
func (c cluster) ofDefinition(t *testing.T, apiVersion, kind, name string) *unstructured.Unstructured {
	t.Helper()
	o := object(apiVersion, kind, clusterNamespace, name, nil)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Fatal(err)
	}
	return o
}

// withoutFloatingIP asks for another cluster like this one, for which the quota leaves no floating IP.
func (c cluster) withoutFloatingIP(t *testing.T, name string) fault {
	t.Helper()
	f := fault{name: "floating-ip", Rules: []string{"openstack-floating-ip", "openstack-quota"}}
	const apiVersion, kind = "infrastructure.cluster.x-k8s.io/v1beta1", "OpenStackCluster"
	spec, _, err := unstructured.NestedMap(c.ofDefinition(t, apiVersion, kind, name).Object, "spec")
	if err != nil {
		t.Fatal(err)
	}
	delete(spec, "apiServerFloatingIP")
	delete(spec, "controlPlaneEndpoint")
	for _, o := range []client.Object{
		object(apiVersion, kind, clusterNamespace, "fault-"+f.name, spec),
		object("cluster.x-k8s.io/v1beta2", "Cluster", clusterNamespace, "fault-"+f.name, map[string]any{
			"infrastructureRef": map[string]any{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": kind,
				"name": "fault-" + f.name}}),
	} {
		if err := c.ApplyAll(t.Context(), o); err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
	}
	t.Cleanup(func() { c.takesDown(t, clusterNamespace, "fault-"+f.name) })
	return f
}

// takesDown deletes a cluster and waits until it is gone, with all that its provider made for it: no cleanup of another
// cluster does.
func (c cluster) takesDown(t *testing.T, namespace, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 3*time.Minute)
	defer cancel()
	o := object("cluster.x-k8s.io/v1beta2", "Cluster", namespace, name, nil)
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		err := c.Delete(ctx, o)
		if apierrors.IsNotFound(err) {
			return
		}
		select {
		case <-ctx.Done():
			t.Errorf("cluster %s is not deleted: %v", name, err)
			return
		case <-tick.C:
		}
	}
}

// asksOpenStack asks for a worker for each fault, which is as the cluster's own workers but for the fault.
func (c cluster) asksOpenStack(t *testing.T, name string, faults ...cloudFault) {
	t.Helper()
	text := func(o *unstructured.Unstructured, path ...string) string {
		s, _, _ := unstructured.NestedString(o.Object, path...)
		return s
	}
	workers := c.ofDefinition(t, "cluster.x-k8s.io/v1beta2", "MachineDeployment", name+"-workers")
	machine := c.ofDefinition(t, "infrastructure.cluster.x-k8s.io/v1beta1", "OpenStackMachineTemplate",
		text(workers, "spec", "template", "spec", "infrastructureRef", "name"))
	config := c.ofDefinition(t, "bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfigTemplate",
		text(workers, "spec", "template", "spec", "bootstrap", "configRef", "name"))
	for _, f := range faults {
		for _, o := range []*unstructured.Unstructured{changed(t, machine, f.name, f.machine),
			changed(t, config, f.name, f.config), deploymentOf(t, workers, f.name)} {
			if err := c.ApplyAll(t.Context(), o); err != nil {
				t.Fatalf("%s: %v", f.name, err)
			}
		}
	}
}

// changed is a template of another name, in which something is changed.
func changed(t *testing.T, template *unstructured.Unstructured, name string,
	change func(map[string]any)) *unstructured.Unstructured {
	t.Helper()
	spec, _, err := unstructured.NestedMap(template.Object, "spec", "template", "spec")
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(spec)
	}
	return object(template.GetAPIVersion(), template.GetKind(), template.GetNamespace(), "fault-"+name,
		map[string]any{"template": map[string]any{"spec": spec}})
}

// deploymentOf is a MachineDeployment of one machine of the templates of a fault.
func deploymentOf(t *testing.T, workers *unstructured.Unstructured, name string) *unstructured.Unstructured {
	t.Helper()
	spec, _, err := unstructured.NestedMap(workers.Object, "spec")
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]any{"cluster.x-k8s.io/deployment-name": "fault-" + name}
	spec["replicas"], spec["selector"] = int64(1), map[string]any{"matchLabels": labels}
	template, _ := spec["template"].(map[string]any)
	template["metadata"] = map[string]any{"labels": labels}
	for _, path := range [][]string{{"template", "spec", "infrastructureRef", "name"},
		{"template", "spec", "bootstrap", "configRef", "name"}} {
		if err := unstructured.SetNestedField(spec, "fault-"+name, path...); err != nil {
			t.Fatal(err)
		}
	}
	return object(workers.GetAPIVersion(), workers.GetKind(), workers.GetNamespace(), "fault-"+name, spec)
}

// faultyClouds are Secrets like the cluster's own, whose clouds.yaml has the wrong secret, or an address where nothing
// listens.
func (c cluster) faultyClouds(t *testing.T, namespace, own string) {
	t.Helper()
	given := &corev1.Secret{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: own}, given); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(auth map[string]any){
		"credentials": func(auth map[string]any) { auth["application_credential_secret"] = "wrong" },
		"unreachable": func(auth map[string]any) {
			auth["auth_url"] = fmt.Sprintf("http://%s:9/identity/v3",
				gateway(t))
		},
	} {
		var file struct {
			Clouds map[string]map[string]any `json:"clouds"`
		}
		if err := yaml.Unmarshal(given.Data["clouds.yaml"], &file); err != nil || len(file.Clouds) != 1 {
			t.Fatalf("%d clouds: %v", len(file.Clouds), err)
		}
		for _, cloud := range file.Clouds {
			auth, _ := cloud["auth"].(map[string]any)
			change(auth)
			content, err := yaml.Marshal(map[string]any{"clouds": map[string]any{"fault": cloud}})
			if err != nil {
				t.Fatal(err)
			}
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "fault-" + name},
				Data: map[string][]byte{"clouds.yaml": content}}
			if err := c.ApplyAll(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
		}
	}
}
