package openstack_test

import (
	"slices"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/internal/standin"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

func TestStates(t *testing.T) {
	const (
		portsOf = "GET /network/ports?device_id=1"
		named   = "GET /volume/volumes/detail?name=m-root"
	)
	server := openstack.Server{ID: "1", Name: "m"}
	c := standin.Memory{portsOf: `{"ports":[{"name":"m-0","status":"ACTIVE"},{"name":"m-1","status":"DOWN"}]}`,
		named: `{"volumes":[{"name":"m-root","status":"error"},{"name":"m-root","status":"downloading"}]}`}.Client()
	got, err := c.PortsOf(t.Context(), server)
	if err != nil || len(got) != 1 || got[0].String() != "port m-1 is DOWN" {
		t.Errorf("%v, %v", got, err)
	}
	got, err = c.VolumesNamed(t.Context(), "m-root")
	if err != nil || len(got) != 1 || got[0].String() != "volume m-root is error" {
		t.Errorf("%v, %v", got, err)
	}
	silent := standin.Memory{portsOf: "503 busy", named: "no answer"}.Client()
	if got, err := silent.PortsOf(t.Context(), server); err == nil || got != nil {
		t.Errorf("ports of a service that fails: %v", got)
	}
	if got, err := silent.VolumesNamed(t.Context(), "m-root"); err == nil || got != nil {
		t.Errorf("volumes of a service that is silent: %v", got)
	}
	silent.BlockStorage = nil
	if got, err := silent.VolumesNamed(t.Context(), "m-root"); err != nil || got != nil {
		t.Errorf("volumes of a cloud that has none: %v, %v", got, err)
	}
}

func TestUsedUp(t *testing.T) {
	whole := standin.Memory{
		"GET /compute/limits":                `{"limits":{"absolute":{"maxTotalInstances":3,"totalInstancesUsed":3,"maxTotalCores":-1,"totalCoresUsed":9,"maxTotalRAMSize":10,"totalRAMUsed":9}}}`,
		"GET /network/quotas/p/details.json": `{"quota":{"port":{"limit":5,"used":4,"reserved":1}}}`,
		"GET /volume/limits":                 `{"limits":{"absolute":{"maxTotalVolumes":2,"totalVolumesUsed":0,"maxTotalVolumeGigabytes":10,"totalGigabytesUsed":11}}}`,
	}
	got, err := whole.Client().UsedUp(t.Context())
	if want := []string{"instances: 3 of 3", "ports: 5 of 5", "gigabytes of volumes: 11 of 10"}; err != nil ||
		!slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	for part := range whole {
		without := standin.Memory{}
		for key, answer := range whole {
			if key != part {
				without[key] = answer
			}
		}
		if got, err := without.Client().UsedUp(t.Context()); err == nil || got != nil {
			t.Errorf("without an answer to %s: %q", part, got)
		}
	}
}
