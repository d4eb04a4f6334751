//go:build e2e

package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/source"
)

// TestSourceGit has `up` refuse what it cannot read in a real Git server. Clusters that read one to the end are
// TestMatrixSourceGit's and TestUpOpenStack's.
func TestSourceGit(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	known := newLogin()
	r := newRepository(t, localContent(t, l))
	first := r.push(t, "the content")
	address := gitServer(t, newDoor(known), r.root)
	from := []string{"--source", "git", "--source-insecure", "--source-url", "http://" + address + "/" + r.name}
	watchArguments(t, known.password)
	plain := l.environment

	t.Run("a source that cannot be read is reported before anything is made", func(t *testing.T) {
		l := l
		l.environment = append(slices.Clone(plain), "GITLAB_USER="+known.user, "GITLAB_TOKEN=not-"+known.password)
		l.refusedEarly(t, known.password, "401 Unauthorized", append(from, "--source-commit", first)...)
		l.environment = append(slices.Clone(plain), "GITLAB_USER=", "GITLAB_TOKEN=")
		l.refusedEarly(t, known.password, "401 Unauthorized", append(from, "--source-commit", first)...)
		l.environment = append(slices.Clone(plain), "GITLAB_USER="+known.user, "GITLAB_TOKEN="+known.password)
		l.refusedEarly(t, known.password, "404 Not Found", "--source", "git", "--source-insecure", "--source-url",
			"http://"+address+"/other.git")
		l.refusedAs(t, 2, known.password, "would be sent in clear text", "--source", "git", "--source-url",
			"http://"+address+"/"+r.name)
		l.refusedEarly(t, known.password, "The server does not speak TLS", "--source", "git", "--source-url",
			"https://"+address+"/"+r.name)
		l.refusedEarly(t, known.password, "no branch other", append(from, "--source-branch", "other")...)
	})
}

// TestMatrixSourceGit builds a management cluster from a commit in a real Git server, in a bootstrap cluster that
// exists already, and has it go on with later commits. Its machines boot with Ignition.
func TestMatrixSourceGit(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	known := newLogin()
	r := newRepository(t, localContent(t, l))
	first := r.push(t, "the content")
	entry := newDoor(known)
	address := gitServer(t, entry, r.root)
	from := []string{"--source", "git", "--source-insecure", "--source-url", "http://" + address + "/" + r.name}
	watchArguments(t, known.password)
	plain := l.environment

	l.environment = append(slices.Clone(plain), "GITLAB_USER="+known.user, "GITLAB_TOKEN="+known.password)
	existing := existingCluster(t, l)
	from = append(from, "--bootstrap-kubeconfig", existing, "--set", "cluster.bootstrap_format=ignition")
	if o := l.up(t, known.password, nil, append(from, "--source-commit", first)...); o.exitCode != 0 {
		t.Fatalf("up ended with %d:\n%s", o.exitCode, o.all)
	}
	t.Run("the bootstrap cluster that existed outlives it", func(t *testing.T) { outlives(t, existing) })
	management := connect(t, l.kubeconfig(environmentName))
	t.Run("the management cluster manages itself, at the commit", func(t *testing.T) {
		management.managesItself(t)
		management.sourceAt(t, "GitRepository", flux.ReleaseName, first)
		management.appliedAt(t, first)
	})
	t.Run("bootstrap data is what Ignition accepts", func(t *testing.T) { management.ignites(t, 1) })
	t.Run("the token is in the Secret of the source only", func(t *testing.T) {
		management.holdsOnlyIn(t, known.password, flux.ReleaseName+"-source")
		notInFolder(t, l.state, known.password)
		for _, machine := range machines(t) {
			notInLogs(t, machine, known.password)
		}
	})
	t.Run("a later commit is not taken, as the cluster stays at its own", func(t *testing.T) {
		r.announce(t, "second")
		second := r.push(t, "second")
		management.lookAtSource(t)
		management.sourceAt(t, "GitRepository", flux.ReleaseName, first)
		t.Run("until up is asked for it", func(t *testing.T) {
			l := l
			l.environment = append(l.environment, "CURRENT_COMMIT="+second) // as a CI job has it
			if o := l.up(t, known.password, nil, from...); o.exitCode != 0 {
				t.Fatalf("up ended with %d:\n%s", o.exitCode, o.all)
			}
			management.appliedAt(t, second)
			if got := management.announced(t.Context()); got != "second" {
				t.Errorf("the cluster has %q, want what the second commit says", got)
			}
			management.managesItself(t)
		})
	})
	t.Run("a changed machine template whose hash is stale is refused, and changes nothing", func(t *testing.T) {
		before := management.get(t.Context(), "source.toolkit.fluxcd.io/v1", "GitRepository", flux.ReleaseName)
		const workers, old, changed = "kustomize-components/cluster/" + environmentName + "/workers.yaml",
			`"imageGCHighThresholdPercent": 100`, `"imageGCHighThresholdPercent": 99`
		r.replace(t, workers, old, changed)
		stale := r.push(t, "a template")
		o := l.up(t, known.password, nil, append(from, "--source-commit", stale)...)
		if o.exitCode != 11 || !strings.Contains(o.all, stale) || !strings.Contains(o.all, "does not describe") {
			t.Errorf("up ended with %d, want 11 and the commit:\n%s", o.exitCode, o.all)
		}
		after := management.get(t.Context(), "source.toolkit.fluxcd.io/v1", "GitRepository", flux.ReleaseName)
		if before == nil || after == nil || before.GetGeneration() != after.GetGeneration() {
			t.Errorf("the source was changed: %v, now %v", before, after)
		}
		eventually(t, "the candidate is gone", time.Minute, func(ctx context.Context) bool {
			return management.get(ctx, "source.toolkit.fluxcd.io/v1", "GitRepository", source.CandidateName) == nil
		})
		management.holdsOnlyIn(t, known.password, flux.ReleaseName+"-source")
		r.replace(t, workers, changed, old)
		r.push(t, "second again")
	})
	t.Run("a checkout is compared with the cluster, before it is pushed", func(t *testing.T) {
		diff := []string{"diff", environmentName, "--bundle", l.bundle, "--content", r.work, "--exit-code", "--set",
			"cluster.bootstrap_format=ignition"}
		if code, said := l.run(t, diff...); code != 0 {
			t.Errorf("diff of what the cluster has ended with %d:\n%s", code, said)
		}
		r.announce(t, "not yet")
		if code, said := l.run(t, diff...); code != 85 || !strings.Contains(said, announcement) ||
			!strings.Contains(said, "not yet") {
			t.Errorf("diff of what it has not ended with %d:\n%s", code, said)
		}
		r.announce(t, "second")
	})
	t.Run("a new token replaces the old one, and a branch is followed", func(t *testing.T) {
		fresh := newLogin()
		watchArguments(t, fresh.password)
		entry.Store(&fresh)
		l := l
		l.environment = append(slices.Clone(plain), "GITLAB_USER="+fresh.user, "GITLAB_TOKEN="+fresh.password)
		if o := l.up(t, fresh.password, nil, append(from, "--source-branch", "main")...); o.exitCode != 0 {
			t.Fatalf("up ended with %d:\n%s", o.exitCode, o.all)
		}
		r.announce(t, "third")
		third := r.push(t, "third")
		management.lookAtSource(t)
		management.sourceAt(t, "GitRepository", flux.ReleaseName, "main@sha1:"+third)
		eventually(t, "the cluster has what the third commit says", 2*time.Minute, func(ctx context.Context) bool {
			return management.announced(ctx) == "third"
		})
		management.holdsOnlyIn(t, fresh.password, flux.ReleaseName+"-source")
	})
	cleanup(t, l)
}

// announcement is a part of a component that does nothing.
const announcement = "e2e-announcement"

// announce changes a component, in the working copy.
func (r repository) announce(t *testing.T, text string) {
	t.Helper()
	const folder = "kustomize-components/lab-cni/"
	r.write(t, folder+"announcement.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: "+announcement+
		"\n  namespace: kube-system\ndata:\n  text: "+text+"\n")
	r.write(t, folder+"kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"+
		"resources:\n  - lab-cni.yaml\n  - announcement.yaml\n")
}

func (c cluster) announced(ctx context.Context) string {
	found := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: announcement}}
	if c.Get(ctx, client.ObjectKeyFromObject(found), found) != nil {
		return ""
	}
	return found.Data["text"]
}

// lookAtSource has Flux look at the repository now, as `flux reconcile source git` does, and waits until it has.
func (c cluster) lookAtSource(t *testing.T) {
	t.Helper()
	now := time.Now()
	const version, kind = "source.toolkit.fluxcd.io/v1", "GitRepository"
	if err := flux.RequestReconcile(t.Context(), c.Cluster, object(version, kind, flux.Namespace, flux.ReleaseName,
		nil), now); err != nil {
		t.Fatal(err)
	}
	eventually(t, "Flux has looked at the repository", time.Minute, func(ctx context.Context) bool {
		o := c.get(ctx, version, kind, flux.ReleaseName)
		if o == nil {
			return false
		}
		handled, _, _ := unstructured.NestedString(o.Object, "status", "lastHandledReconcileAt")
		return handled == now.Format(time.RFC3339Nano)
	})
}

// machines returns the containers of the management cluster's nodes.
func machines(t *testing.T) []string {
	t.Helper()
	var nodes []string
	for _, name := range containers(t, "io.x-k8s.kind.cluster="+environmentName) {
		if !strings.HasSuffix(name, "-lb") {
			nodes = append(nodes, name)
		}
	}
	return nodes
}
