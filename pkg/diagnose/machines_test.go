package diagnose

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// cloud is a provider that says of a machine what answer does.
type cloud struct {
	provider.Provider
	answer func(machine string) ([]provider.Said, error)
	asked  atomic.Int32
}

func (*cloud) Place() string { return "the cloud" }

func (c *cloud) Inspect(_ context.Context, machine string) ([]provider.Said, error) {
	c.asked.Add(1)
	return c.answer(machine)
}

// machineOf is a Machine that is not ready, and what stands for it in OpenStack.
func machineOf(t *testing.T, name string) []*unstructured.Unstructured {
	return decode(t, strings.ReplaceAll(`
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata: {namespace: management, name: NAME}
spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: OpenStackMachine, name: NAME}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: OpenStackMachine
metadata: {namespace: management, name: NAME}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: OpenStackServer
metadata:
  namespace: management
  name: NAME
  ownerReferences: [{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachine, name: NAME, uid: u}]
status: {conditions: [{type: Ready, status: "False", reason: InstanceStateError}]}
`, "NAME", name))
}

// What the cloud says of a server explains it better than the state ERROR of the object that stands for it.
func TestFaultOfServer(t *testing.T) {
	s := NewSnapshot(readiness.Observation{Cluster: "management", Objects: machineOf(t, "m")})
	notChecked := s.inspectMachines(t.Context(), &cloud{answer: func(string) ([]provider.Said, error) {
		return []provider.Said{{From: "fault", Text: "No valid host was found. \n"}}, errors.New("it has no console")
	}})
	if len(notChecked) != 1 || !strings.Contains(notChecked[0], "it has no console") {
		t.Errorf("not asked: %v", notChecked)
	}
	findings, _ := s.examine([]health.Ref{{Group: "cluster.x-k8s.io", Kind: "Machine", Namespace: "management",
		Name: "m"}}, readRules(t))
	if len(findings) != 1 || findings[0].Rule != "openstack-no-host" ||
		findings[0].Object != "OpenStackServer/management/m" {
		t.Errorf("%+v", findings)
	}
}

// What was not looked into is named, and a machine that nothing was asked of is not counted.
func TestInspectsManyMachines(t *testing.T) {
	var objects []*unstructured.Unstructured
	for i := range maxMachines + 2 {
		objects = append(objects, machineOf(t, fmt.Sprintf("m-%02d", i))...)
	}
	objects = append(objects, decode(t, "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, metadata: {namespace: "+
		"management, name: a}}")...)
	of := &cloud{answer: func(machine string) ([]provider.Said, error) {
		return []provider.Said{{From: "console", Text: machine}}, nil
	}}
	s := NewSnapshot(readiness.Observation{Cluster: "management", Objects: objects})
	notChecked := s.inspectMachines(t.Context(), of)
	if len(notChecked) != 1 || !strings.HasPrefix(notChecked[0], "2 more machines") ||
		of.asked.Load() != maxMachines {
		t.Errorf("%d were asked, not asked: %v", of.asked.Load(), notChecked)
	}
	for r, said := range s.machineSignals {
		if r.Kind != "Machine" || len(said) != 1 || said[0].Message != r.Name {
			t.Errorf("%s says %+v", r, said)
		}
	}
}
