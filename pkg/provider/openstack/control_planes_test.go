package openstack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
	cloud "github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/openstack/leftovers"
)

// remote is a machine that says its host name.
type remote struct {
	host string
	err  error
}

func (remote) String() string { return "root@192.0.2.7" }

func (s remote) Run(_ context.Context, _ io.Reader, args ...string) (string, error) {
	if args[len(args)-1] == hostnameFile {
		return s.host + "\n", s.err
	}
	return "ran " + args[0], s.err
}

func TestControlPlanesOfAProject(t *testing.T) {
	server := func(name, status string, minute int) cloud.Resource {
		return cloud.Resource{Ref: cloud.Ref{Kind: cloud.KindServer, ID: name}, Name: name, Status: status,
			Created: time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC), Tags: []string{"cluster-init:cluster=ns-demo"}}
	}
	silent := errors.New("the service does not answer")
	all := []cloud.Resource{server("demo-b", "ACTIVE", 2), server("demo-a", "SHUTOFF", 1),
		server("demo-md", "ACTIVE", 3)}
	for name, tc := range map[string]struct {
		shell   remote
		has     []cloud.Resource
		unknown cloud.Kind
		err     error
		want    string // name, state and what Run says, of each
		code    fault.Code
		says    string
	}{
		"one is reached": {shell: remote{host: "demo-b"}, has: all,
			want: "demo-a stopped not reached, demo-b runs reached"},
		"its host name has a domain": {shell: remote{host: "demo-b.novalocal"}, has: all[:1], want: "demo-b runs reached"},
		"a worker is reached": {shell: remote{host: "demo-md"}, has: all, code: fault.RestoreRefused,
			says: `root@192.0.2.7 is machine "demo-md", and not a control-plane machine of ns/demo`},
		"another machine is reached": {shell: remote{host: "web"}, has: all, code: fault.RestoreRefused,
			says: "The project has: demo-a, demo-b"},
		"a machine without a name": {shell: remote{}, has: append([]cloud.Resource{server("", "ACTIVE", 0)}, all...),
			code: fault.RestoreRefused, says: `machine ""`},
		"another project": {shell: remote{host: "demo-b"}, code: fault.RestoreRefused, says: "The project has: none"},
		"two have its name": {shell: remote{host: "demo-b"}, has: append([]cloud.Resource{server("demo-b", "ACTIVE", 0)},
			all[0]), want: "demo-b runs reached, demo-b runs reached"},
		"ssh fails": {shell: remote{err: fault.New(fault.MachineUnreachable, "refused", "")}, has: all,
			code: fault.MachineUnreachable, says: "refused"},
		"a login that says only which user to take": {shell: remote{err: errors.New("exit status 142")}, has: all,
			code: fault.MachineUnreachable, says: "exit status 142"},
		"the cloud does not answer": {err: silent, code: fault.CloudUnreachable, says: "does not answer"},
		"no servers are listed":     {unknown: cloud.KindServer, has: all, code: fault.CloudUnreachable, says: "server"},
		"no ports are listed":       {unknown: cloud.KindPort, has: all, code: fault.CloudUnreachable, says: "port"},
		"no networks are listed":    {unknown: cloud.KindNetwork, has: all, code: fault.CloudUnreachable, says: "network"},
	} {
		t.Run(name, func(t *testing.T) {
			inventory := cloud.Inventory{Resources: tc.has, Unknown: map[cloud.Kind]error{}}
			if tc.unknown != "" {
				inventory.Unknown[tc.unknown] = silent
			}
			c := controlPlanes{cluster: leftovers.Cluster{Namespace: "ns", Name: "demo"}, shell: tc.shell,
				known: provider.Roles{Workers: []string{"demo-md"}}, connect: connected(&neutron{has: inventory,
					fails: map[string]error{"inventory": tc.err}})}
			found, err := c.ControlPlanes(t.Context())
			if fault.CodeOf(err) != tc.code || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Fatalf("%v, want %s with %q", err, tc.code, tc.says)
			}
			var got []string
			for _, m := range found {
				got = append(got, describe(t, m))
			}
			if text := strings.Join(got, ", "); text != tc.want {
				t.Errorf("%s\nwant %s", text, tc.want)
			}
		})
	}
}

func describe(t *testing.T, m provider.ControlPlane) string {
	t.Helper()
	state, access := "runs", "reached"
	if m.Stopped() {
		state = "stopped"
	}
	said, err := m.Run(t.Context(), nil, "true")
	if errors.Is(err, provider.ErrNotReached) {
		access = "not reached"
	} else if err != nil || said != "ran true" {
		t.Errorf("%s: %q, %v", m.Name(), said, err)
	}
	return fmt.Sprintf("%s %s %s", m.Name(), state, access)
}

// Missing credentials are an error, and not an empty project.
func TestControlPlanesWithoutCredentials(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	c := ControlPlanesIn(func(string) (string, bool) { return "", false }, "ns", "demo", "",
		provider.Roles{}, remote{host: "demo-a"})
	if found, err := c.ControlPlanes(t.Context()); fault.CodeOf(err) != fault.CredentialsMissing || found != nil {
		t.Errorf("%v, %v", found, err)
	}
}
