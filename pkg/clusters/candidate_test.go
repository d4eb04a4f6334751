package clusters

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/kubeconfig"
)

// place is a world without a bootstrap cluster, whose management cluster is a stand-in.
func place(t *testing.T) (*machine, *standIn) {
	t.Helper()
	m := newMachine(t)
	s := m.world.Scope
	return m, newStandIn(t, s.Namespace+"/"+s.Cluster)
}

// save puts a kubeconfig at a path.
func saveAt(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A client certificate expires after a year. What Cluster API renews in the cluster is saved, unless the user has
// another way to log in, or the run only observes.
func TestTheSavedKubeconfigFollowsTheCluster(t *testing.T) {
	m, s := place(t)
	saved, given := filepath.Join(m.world.StateFolder, "kubeconfig"), filepath.Join(m.folder, "given")
	m.world.KubeconfigPath = given
	own := kubeconfig.Of(t, "ours", s.address, func(_ *api.Cluster, u *api.AuthInfo) {
		*u = api.AuthInfo{Exec: &api.ExecConfig{Command: "/bin/true", APIVersion: "client.authentication.k8s.io/v1",
			InteractiveMode: api.NeverExecInteractiveMode}}
	})
	fresh := s.with(t, "fresh")
	elsewhere := kubeconfig.Of(t, "ours", "https://172.18.0.3:6443",
		func(_ *api.Cluster, u *api.AuthInfo) { *u = api.AuthInfo{Token: "fresh"} })
	cases := map[string]struct {
		given, kept []byte
		accepts     string
		want        string // of the file in the state folder
		wantGiven   string
	}{
		"it was renewed": {nil, elsewhere, "", string(fresh), string(fresh)},
		"it was not": {nil, s.with(t, "old"), "",
			string(s.with(t, "old")), string(s.with(t, "old"))},
		"the new one does not work": {nil, elsewhere, "old", string(s.with(t, "old")),
			string(s.with(t, "old"))},
		"the file of --kubeconfig has another one": {s.with(t, "other"), elsewhere, "", string(fresh),
			string(fresh)},
		"the user's own login is left": {own, elsewhere, "", string(own), string(own)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s.kept, s.token = tc.kept, tc.accepts
			saveAt(t, saved, s.with(t, "old"))
			if err := os.Remove(given); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if tc.given != nil {
				saveAt(t, given, tc.given)
			}
			o := m.world.Observe(t.Context())
			if o.Management.State != ManagementActive {
				t.Fatalf("%s: %v", o.Management.State, o.Management.Err)
			}
			m.world.Use(o)
			if got, err := os.ReadFile(saved); err != nil || string(got) != string(s.with(t, "old")) {
				t.Errorf("who only looks has written it: %v", err)
			}
			if err := m.world.UseAndSave(o); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(saved); tc.given == nil && string(got) != tc.want || err != nil {
				t.Errorf("%v\n%s\nwant\n%s", err, got, tc.want)
			}
			if got, err := os.ReadFile(given); string(got) != tc.wantGiven || err != nil {
				t.Errorf("the file of --kubeconfig: %v\n%s\nwant\n%s", err, got, tc.wantGiven)
			}
			if info, err := os.Stat(saved); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info, err)
			}
		})
	}
}

// A kubeconfig without an authority may still be this cluster's: the cluster itself reports which one it is.
func TestWhatCannotBeComparedIsAsked(t *testing.T) {
	m, s := place(t)
	m.world.KubeconfigPath = filepath.Join(m.folder, "given")
	two := kubeconfig.Of(t, "ours", s.address, func(c *api.Cluster, u *api.AuthInfo) {
		*u = api.AuthInfo{Token: "t"}
		c.CertificateAuthorityData = append(c.CertificateAuthorityData, kubeconfig.Authority(t, "next")...)
	})
	for name, tc := range map[string]struct {
		kept  []byte
		holds bool
		saved string // authority of the file in the state folder
		state ManagementState
		code  fault.Code
	}{
		"its own":                    {s.with(t, "t"), true, "ours", ManagementActive, ""},
		"and nothing is saved":       {s.with(t, "t"), true, "", ManagementActive, ""},
		"another than the saved one": {s.with(t, "t"), true, "next", ManagementForeign, fault.Usage},
		"one that does not prove itself": {kubeconfig.Of(t, "theirs", s.address), true, "", ManagementForeign,
			fault.ClusterForeign},
		"it says nothing of itself": {nil, false, "ours", ManagementForeign, fault.Usage},
		"a refused kubeconfig in it": {kubeconfig.Of(t, "ours", s.address,
			func(c *api.Cluster, _ *api.AuthInfo) { c.ProxyURL = "http://evil" }), true, "ours", ManagementForeign,
			fault.KubeconfigRefused},
	} {
		t.Run(name, func(t *testing.T) {
			s.kept, s.holds = tc.kept, tc.holds
			saveAt(t, m.world.KubeconfigPath, two)
			saved := filepath.Join(m.world.StateFolder, "kubeconfig")
			if err := os.RemoveAll(saved); err != nil {
				t.Fatal(err)
			}
			if tc.saved != "" {
				saveAt(t, saved, kubeconfig.Of(t, tc.saved, "https://127.0.0.1:1"))
			}
			o := m.world.Observe(t.Context())
			if o.Management.State != tc.state || fault.CodeOf(o.Management.Err) != tc.code {
				t.Errorf("%s, %v (%s), want %s (%s)", o.Management.State, o.Management.Err,
					fault.CodeOf(o.Management.Err), tc.state, tc.code)
			}
			if tc.code == fault.Usage && !strings.Contains(o.Management.Err.Error(), "cannot be compared") {
				t.Errorf("%v", o.Management.Err)
			}
		})
	}
}

// A file that is broken is bad input, and no cluster that does not answer.
func TestABrokenKubeconfigIsBadInput(t *testing.T) {
	m := newMachine(t)
	m.world.KubeconfigPath = filepath.Join(m.folder, "given")
	for name, path := range map[string]string{"--kubeconfig": m.world.KubeconfigPath,
		"saved": filepath.Join(m.world.StateFolder, "kubeconfig")} {
		saveAt(t, path, []byte("<html>please log in</html>"))
		side := m.world.Observe(t.Context()).Management
		if side.State != ManagementForeign || fault.CodeOf(side.Err) != fault.Usage ||
			!strings.Contains(side.Err.Error(), path) {
			t.Errorf("%s: %s, %v", name, side.State, side.Err)
		}
		if name == "saved" && !strings.Contains(fault.HintOf(side.Err), "--recover") {
			t.Errorf("%s", fault.HintOf(side.Err))
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	m.world.BootstrapKubeconfig = m.world.KubeconfigPath
	for _, content := range []string{"<html>please log in</html>", "", "apiVersion: v1\nkind: Config\nclusters: []"} {
		saveAt(t, m.world.BootstrapKubeconfig, []byte(content))
		if side := m.world.Observe(t.Context()).Bootstrap; side.State != BootstrapSilent ||
			fault.CodeOf(side.Err) != fault.Usage {
			t.Errorf("--bootstrap-kubeconfig %q: %s, %v", content, side.State, side.Err)
		}
	}
}

func TestOneClusterIsNotBoth(t *testing.T) {
	m, s := place(t)
	s.kept = s.with(t, "t")
	m.world.BootstrapKubeconfig, m.world.KubeconfigPath = filepath.Join(m.folder, "bootstrap"),
		filepath.Join(m.folder, "given")
	for _, path := range []string{m.world.BootstrapKubeconfig, m.world.KubeconfigPath} {
		saveAt(t, path, s.with(t, "t"))
	}
	o := m.world.Observe(t.Context())
	if o.Bootstrap.Cluster == nil || o.Management.State != ManagementForeign ||
		fault.CodeOf(o.Management.Err) != fault.Usage {
		t.Errorf("%s, %s: %v", o.Bootstrap.State, o.Management.State, o.Management.Err)
	}
}

// Where packets to the engine's networks are dropped in silence, as on macOS, the published address answers; who waits
// asks for a second at a time.
func TestThePublishedAddressIsTriedAtOnce(t *testing.T) {
	m, s := place(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it accepts connections and sends nothing
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	host, port, err := net.SplitHostPort(strings.TrimPrefix(s.address, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	published := fmt.Sprintf(
		`[{"Name":"/demo-lb","State":{"Status":"running","Running":true},"NetworkSettings":{"Ports":{"6443/tcp":[{"HostIp":%q,"HostPort":%q}]}}}]`, host, port)
	swallowed := kubeconfig.Of(t, "ours", "https://"+silent.Addr().String())
	for name, tc := range map[string]struct {
		direct    []byte
		published bool
		at        string // where it answers; empty: nowhere
	}{
		"the direct one swallows packets": {swallowed, true, s.address},
		"nobody is at the direct one":     {kubeconfig.Of(t, "ours", "https://127.0.0.1:1"), true, s.address},
		"only the direct one is there":    {s.with(t, "t"), false, s.address},
		"neither answers":                 {swallowed, false, ""},
		"another cluster is at the published one": {kubeconfig.Of(t, "theirs", "https://"+silent.Addr().String()), true,
			""},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.RemoveAll(filepath.Join(m.folder, "demo-lb")); err != nil {
				t.Fatal(err)
			}
			if tc.published {
				m.write("demo-lb", published)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			c, err := m.world.reach(ctx, tc.direct)
			if (err == nil) != (tc.at != "") || c != nil && c.Config.Host != tc.at {
				t.Errorf("%v, %v", c, err)
			}
		})
	}
}

// A cluster that answered to this run and then falls silent is still a known cluster.
func TestWhatAnsweredBeforeIsRemembered(t *testing.T) {
	m, s := place(t)
	s.kept = s.with(t, "t")
	saveAt(t, m.world.savedPath(), s.kept)
	o := m.world.Observe(t.Context())
	if o.Management.State != ManagementActive || o.Management.Answered {
		t.Fatalf("%s, %t: %v", o.Management.State, o.Management.Answered, o.Management.Err)
	}
	m.world.Use(o)
	if o := m.world.ObserveClusters(t.Context()); o.Management.State != ManagementActive || o.Management.Answered {
		t.Errorf("%s, %t", o.Management.State, o.Management.Answered)
	}
	s.token = "nobody's"
	if o := m.world.ObserveClusters(t.Context()); o.Management.State != ManagementSilent || !o.Management.Answered {
		t.Errorf("%s, %t", o.Management.State, o.Management.Answered)
	}
}
