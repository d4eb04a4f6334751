//go:build e2e

package e2e

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/kind"
)

// restoreInstants are moments of `restore`: the n-th event that says so. clusterctl creates what is missing in each
// run.
var restoreInstants = []struct {
	says string
	nth  int
}{
	{"^creating [0-9]+ of [0-9]+ objects", 1},
	{"^Restoring objects into the target", 1},
	{"^Restoring [A-Z][A-Za-z]+=", 1},
	{"^Restoring [A-Z][A-Za-z]+=", 2},
	{"^Restoring [A-Z][A-Za-z]+=", 2},
	{"^Restoring [A-Z][A-Za-z]+=", 3},
	{"^Restoring [A-Z][A-Za-z]+=", 3},
	{"^Restoring [A-Z][A-Za-z]+=", 4},
	{"objects are on the target as they were", 1},
	{"^resuming [0-9]+ ", 1},
}

// restoredWorkload is the workload cluster, in a namespace of its own, that goes through the backup.
const restoredWorkload = "shop"

// TestPivotRestore has a management cluster lose its definition and that of its workload cluster, and another one
// adopt the machines of both from a signed backup, by `restore` that is killed with SIGKILL at ten instants. No
// machine and no node is recreated, also not by the release of the workload cluster. The authorities and the keys for
// Secrets of the lost cluster go along. Then `down` deletes all.
func TestPivotRestore(t *testing.T) {
	const rescue = "rescue"
	l := newLab(t)
	cleanBefore(t, l)
	elsewhere := []string{"--set", "cluster.name=" + rescue}
	t.Cleanup(func() {
		l.run(t, append([]string{"cleanup", environmentName, "--yes", "--force", rescue}, elsewhere...)...)
	})
	begun := time.Now()
	own := newAuthority(t)
	if code, _ := l.run(t, "up", environmentName, "--bundle", l.bundle, "--values",
		valuesFile(t, ownKeys(own))); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	up := time.Since(begun)
	if code, _ := l.run(t, "workload", "apply", environmentName, "--in", l.name, "--name", restoredWorkload,
		"--namespace", workloadName, "--bundle", l.bundle); code != 0 {
		t.Fatalf("workload apply ended with %d", code)
	}
	dir, key := t.TempDir(), signingKey(t)
	if code, _ := l.run(t, "backup", environmentName, "--output-dir", dir, "--sign-key", key); code != 0 {
		t.Fatalf("backup ended with %d", code)
	}
	made, workload, lost := first{}, first{}, l.management(t)
	own.isIn(t, lost, l.name)
	own.verifiesFile(t, l.kubeconfig(l.name))
	made.unchanged(t, l.name)
	workload.unchanged(t, restoredWorkload)
	nodes := lost.nodes(t)
	begun = time.Now()
	if code, _ := l.run(t, append([]string{"up", environmentName, "--bundle", l.bundle}, elsewhere...)...); code != 0 {
		t.Fatalf("up elsewhere ended with %d", code)
	}
	rescued := time.Since(begun)
	backups, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(backups) != 1 {
		t.Fatalf("%v, %v", backups, err)
	}
	restore := []string{"restore", backups[0], "--kubeconfig", l.kubeconfig(rescue), "--verify-key", key + ".pub"}
	if code, _ := l.run(t, restore...); code != 64 {
		t.Errorf("restore next to the living cluster ended with %d, want 64", code)
	}
	lost.loseDefinition(t)
	for _, at := range restoreInstants {
		pattern, seen := regexp.MustCompile(at.says), 0
		killed, code := l.killAt(t, func(e event.Event) bool {
			if pattern.MatchString(e.Message) {
				seen++
			}
			return seen == at.nth
		}, restore...)
		if !killed {
			t.Fatalf("restore ended with %d before %q was said %d times", code, at.says, at.nth)
		}
		made.unchanged(t, l.name)
		workload.unchanged(t, restoredWorkload)
	}
	begun = time.Now()
	if code, _ := l.run(t, restore...); code != 0 {
		t.Fatalf("the last run ended with %d", code)
	}
	rescued += time.Since(begun)
	t.Logf("up %s; up elsewhere and restore %s, %.2f times as long", up.Round(time.Second), rescued.Round(time.Second),
		rescued.Seconds()/up.Seconds())
	if rescued > up*3/2 {
		t.Error("to build another cluster and restore into it takes more than 1.5 times as long as to build the first")
	}
	made.unchanged(t, l.name)
	sameNodes(t, nodes, lost.nodes(t))
	own.isIn(t, connect(t, l.kubeconfig(rescue)), l.name)
	// Its release is there, was applied, and has changed nothing.
	soonWithout(t, func(t *testing.T) []string {
		code, out := l.run(t, "workload", "status", workloadName+"/"+restoredWorkload, "--in", environmentName,
			"--in-name", rescue)
		if code != 0 || !strings.Contains(out, workloadName+"/"+restoredWorkload+": Ready") {
			return []string{fmt.Sprintf("workload status ended with %d: %s", code, out)}
		}
		return nil
	})
	workload.unchanged(t, restoredWorkload)
	if code, _ := l.run(t, append([]string{"down", environmentName, "--bundle", l.bundle, "--yes"},
		elsewhere...)...); code != 72 {
		t.Errorf("down of a cluster that manages another ended with %d, want 72", code)
	}
	if code, _ := l.run(t, append([]string{"down", environmentName, "--bundle", l.bundle, "--yes",
		"--with-workload-clusters"}, elsewhere...)...); code != 0 {
		t.Errorf("down of both ended with %d", code)
	}
	for _, name := range []string{l.name, rescue, restoredWorkload} {
		if left := containers(t, kind.ClusterLabel+"="+name); len(left) > 0 {
			t.Errorf("containers of %s are left: %v", name, left)
		}
	}
	if _, err := os.Stat(l.kubeconfig(rescue)); err == nil {
		t.Error("its kubeconfig is left")
	}
}

// signingKey returns the file of a private ssh key. Its public key is in the file with the suffix .pub.
func signingKey(t *testing.T) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	authorized, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key")
	for name, text := range map[string][]byte{file: pem.EncodeToMemory(block),
		file + ".pub": ssh.MarshalAuthorizedKey(authorized)} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

// loseDefinition takes the definition of a management cluster away, as one whose etcd was lost and came back empty has
// lost it: Flux and the providers do nothing, and no finalizer is asked.
func (c cluster) loseDefinition(t *testing.T) {
	t.Helper()
	patch := func(u *unstructured.Unstructured, text string) {
		if err := c.Patch(t.Context(), u, client.RawPatch("application/merge-patch+json",
			[]byte(text))); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
	}
	for _, u := range append(c.list(t, "helm.toolkit.fluxcd.io", "v2", "HelmRelease"),
		c.list(t, "kustomize.toolkit.fluxcd.io", "v1", "Kustomization")...) {
		patch(&u, `{"spec":{"suspend":true}}`)
	}
	for _, u := range c.list(t, "apps", "v1", "Deployment") {
		if strings.HasPrefix(u.GetNamespace(), "cap") {
			patch(&u, `{"spec":{"replicas":0}}`)
		}
	}
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		for _, u := range c.list(t, "admissionregistration.k8s.io", "v1", kind) {
			if strings.HasPrefix(u.GetName(), "cap") {
				if err := c.Delete(t.Context(), &u); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for group, kinds := range map[string][]string{
		"cluster.x-k8s.io":                {"Cluster", "MachineDeployment", "MachineSet", "Machine"},
		"controlplane.cluster.x-k8s.io":   {"KubeadmControlPlane"},
		"bootstrap.cluster.x-k8s.io":      {"KubeadmConfig", "KubeadmConfigTemplate"},
		"infrastructure.cluster.x-k8s.io": {"DevCluster", "DevMachine", "DevMachineTemplate"},
	} {
		for _, kind := range kinds {
			for _, u := range c.list(t, group, "v1beta2", kind) {
				patch(&u, `{"metadata":{"finalizers":[]}}`)
				if err := c.Delete(t.Context(), &u); client.IgnoreNotFound(err) != nil {
					t.Fatal(err)
				}
				patch(&u, `{"metadata":{"finalizers":[]}}`)
			}
		}
	}
}
