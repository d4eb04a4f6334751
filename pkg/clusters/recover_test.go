package clusters

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/kubeconfig"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// readable is a machine's provider that can read in machines.
type readable struct {
	*machine
	found []provider.Administrator
	err   error
}

func (r readable) Administrators(context.Context) ([]provider.Administrator, error) {
	return r.found, r.err
}

// A kubeconfig that was lost is read in a machine, and is saved only when it is proven whose it is.
func TestRecover(t *testing.T) {
	m, s := place(t)
	own, stranger := s.with(t, "t"), kubeconfig.Of(t, "theirs", s.address)
	program := kubeconfig.Of(t, "ours", s.address,
		func(_ *api.Cluster, u *api.AuthInfo) { u.Exec = &api.ExecConfig{Command: "id"} })
	for name, tc := range map[string]struct {
		found  [][]byte
		unread error
		saved  []byte
		kept   []byte // by the cluster of itself
		holds  bool
		code   fault.Code
		says   string
	}{
		"it was lost": {found: [][]byte{own}, kept: own, holds: true},
		"the saved one has ended": {found: [][]byte{own}, saved: s.with(t, "ended"), kept: own,
			holds: true},
		"the saved one is broken":             {found: [][]byte{own}, saved: []byte("{"), kept: own, holds: true},
		"before the pivot":                    {found: [][]byte{own}, saved: s.with(t, "ended")},
		"the first machine is not to be used": {found: [][]byte{program, own}, kept: own, holds: true},
		"it runs a program":                   {found: [][]byte{program}, code: fault.KubeconfigRefused, says: "exec"},
		"another cluster than the saved one": {found: [][]byte{own}, saved: stranger, kept: own, holds: true,
			code: fault.ClusterForeign, says: "another cluster"},
		"the cluster holds nothing of itself": {found: [][]byte{own}, code: fault.ClusterForeign,
			says: "is not the management cluster"},
		"it holds another of that name": {found: [][]byte{own}, kept: stranger, holds: true,
			code: fault.ClusterForeign, says: "is not the management cluster"},
		"nobody answers": {found: [][]byte{kubeconfig.Of(t, "ours", "https://127.0.0.1:1")},
			code: fault.ClusterUnreachable, says: "refused"},
		"no machine is here": {code: fault.ClusterUnreachable,
			says: "no control-plane machine of demo"},
		"no machine can be read": {unread: fault.New(fault.DockerUnreachable, "the engine is down", ""),
			code: fault.DockerUnreachable, says: "the engine is down"},
		"one machine of two cannot be read": {found: [][]byte{own}, unread: errors.New("it does not run"), kept: own,
			holds: true},
	} {
		t.Run(name, func(t *testing.T) {
			s.kept, s.holds, s.token = tc.kept, tc.holds, ""
			r := readable{machine: m, err: tc.unread}
			for _, k := range tc.found {
				r.found = append(r.found, provider.Administrator{Machine: "demo-cp-0", Kubeconfig: k})
			}
			m.world.Provider = r
			m.world.KubeconfigPath = m.world.savedPath()
			if err := os.RemoveAll(m.world.savedPath()); err != nil {
				t.Fatal(err)
			}
			if tc.saved != nil {
				saveAt(t, m.world.savedPath(), tc.saved)
			}
			c, files, err := m.world.Recover(t.Context())
			if tc.code != "" {
				if fault.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.says) || fault.HintOf(err) == "" {
					t.Errorf("%v (%s, %s), want %s with %q", err, fault.CodeOf(err), fault.HintOf(err), tc.code,
						tc.says)
				}
				if got, _ := os.ReadFile(m.world.savedPath()); string(got) != string(tc.saved) {
					t.Error("something was saved that is not proven")
				}
				return
			}
			if err != nil || c == nil || len(files) != 1 {
				t.Fatalf("%v, %v, %v", c, files, err)
			}
			if got, err := os.ReadFile(files[0]); err != nil || string(got) != string(own) {
				t.Errorf("%v\n%s", err, got)
			}
			if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v %v", info, err)
			}
		})
	}
}

// RKE2 writes the address at which the machine itself reaches its API server.
func TestRecoverReachesWhatListensInTheMachine(t *testing.T) {
	m, s := place(t)
	s.kept = s.with(t, "t")
	host, port, _ := strings.Cut(strings.TrimPrefix(s.address, "https://"), ":")
	m.write(
		"demo-lb",
		`[{"Name":"/demo-lb","State":{"Status":"running","Running":true},"NetworkSettings":{"Ports":{"6443/tcp":[{"HostIp":"`+host+`","HostPort":"`+port+`"}]}}}]`)
	rke2 := kubeconfig.Of(t, "ours", "https://127.0.0.1:6443",
		func(_ *api.Cluster, u *api.AuthInfo) { *u = api.AuthInfo{Token: "t"} })
	m.world.Provider = readable{machine: m,
		found: []provider.Administrator{{Machine: "demo-cp-0", Kubeconfig: rke2, Address: "192.0.2.1"}}}
	m.world.KubeconfigPath = filepath.Join(m.world.StateFolder, "kubeconfig")
	c, _, err := m.world.Recover(t.Context())
	if err != nil || c.Config.Host != s.address {
		t.Fatalf("%v, %v", c, err)
	}
	if got, err := os.ReadFile(m.world.savedPath()); err != nil ||
		!strings.Contains(string(got), "tls-server-name: 127.0.0.1") {
		t.Errorf("%v\n%s", err, got)
	}
}

// If nothing can be read from here, the error says how a person recovers the kubeconfig.
func TestRecoverByHand(t *testing.T) {
	m := newMachine(t)
	_, _, err := m.world.Recover(t.Context())
	for _, want := range []string{"/etc/kubernetes/admin.conf", "/etc/rancher/rke2/rke2.yaml", "SSH",
		m.world.savedPath()} {
		if !strings.Contains(fault.HintOf(err), want) {
			t.Errorf("%v: %s, want %s", err, fault.HintOf(err), want)
		}
	}
	if fault.CodeOf(err) != fault.ClusterUnreachable {
		t.Errorf("%v", err)
	}
}
