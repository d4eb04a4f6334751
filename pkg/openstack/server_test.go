package openstack_test

import (
	"slices"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/internal/standin"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

func TestServersNamed(t *testing.T) {
	const (
		list   = "GET /compute/servers/detail?name=%5Ea%5C.b%24"
		server = "GET /compute/servers/1"
	)
	for name, tc := range map[string]struct {
		cloud standin.Memory
		want  []openstack.Server
		fails bool
	}{
		"none":                     {cloud: standin.Memory{list: `{"servers":[]}`}},
		"another name":             {cloud: standin.Memory{list: `{"servers":[{"id":"1","name":"a.b.c","status":"ERROR"}]}`}},
		"well":                     {cloud: standin.Memory{list: `{"servers":[{"id":"1","name":"a.b","status":"ACTIVE"}]}`}, want: []openstack.Server{{ID: "1", Name: "a.b", Status: "ACTIVE"}}},
		"a fault in the list":      {cloud: standin.Memory{list: `{"servers":[{"id":"1","name":"a.b","status":"ERROR","fault":{"message":"no"}}]}`}, want: []openstack.Server{{ID: "1", Name: "a.b", Status: "ERROR", Fault: "no"}}},
		"a fault out of the list":  {cloud: standin.Memory{list: `{"servers":[{"id":"1","name":"a.b","status":"ERROR"}]}`, server: `{"server":{"id":"1","name":"a.b","status":"ERROR","fault":{"message":"No valid host was found. "}}}`}, want: []openstack.Server{{ID: "1", Name: "a.b", Status: "ERROR", Fault: "No valid host was found. "}}},
		"a fault that is not told": {cloud: standin.Memory{list: `{"servers":[{"id":"1","name":"a.b","status":"ERROR"}]}`, server: "no answer"}, fails: true},
		"a list that is not told":  {cloud: standin.Memory{list: "503 busy"}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.cloud.Client().ServersNamed(t.Context(), "a.b")
			if !slices.Equal(got, tc.want) || (err != nil) != tc.fails {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}
