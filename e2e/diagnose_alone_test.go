//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/diagnose"
	"github.com/cluster-init/cluster-init/pkg/flux"
)

// soleFault is something that a whole cluster, or this machine, suffers from: nothing else is broken.
type soleFault struct {
	name string
	// rules are those of pkg/diagnose of which one must say what is wrong.
	rules []string
	// provoke breaks something, and has that undone when the test ends.
	provoke func(t *testing.T)
}

// alone breaks one thing after the other, and has each explained. Before each, and at the end, all must be well.
func (l lab) alone(t *testing.T, c cluster, look []string) {
	machine := machines(t)[0]
	for _, f := range []soleFault{
		{"a node without a network for pods", []string{"node-no-network"}, func(t *testing.T) {
			// A folder in the place of each file: the plugin writes its configuration again with each change of a node.
			// What comes back where a folder was, containerd did not always take notice of.
			inMachine(t, machine, "mkdir /etc/cni/off && cd /etc/cni/net.d && for f in *; do mv $f ../off/ && mkdir "+
				"$f; done",
				"cd /etc/cni/off && for f in *; do rmdir ../net.d/$f && mv $f ../net.d/; done && cd .. && rmdir off "+
					"&& systemctl restart containerd")
		}},
		{"a node that does not report", []string{"node-silent", "kubelet-silent"},
			func(t *testing.T) { inMachine(t, machine, "systemctl stop kubelet", "systemctl start kubelet") }},
		{"large packets that are lost", []string{"api-handshake"}, func(t *testing.T) { losesLarge(t, l.name+"-lb") }},
		{"a proxy that answers in place of a service", []string{"proxy-artifact"}, c.behindProxy},
	} {
		t.Run(f.name, func(t *testing.T) {
			l.isWell(t, look)
			f.provoke(t)
			l.explains(t, look, f.rules)
		})
	}
	l.isWell(t, look)
}

// isWell waits until diagnose finds nothing.
func (l lab) isWell(t *testing.T, look []string) {
	t.Helper()
	eventually(t, "diagnose finds nothing", 5*time.Minute, func(context.Context) bool {
		code, report := l.diagnose(t, look...)
		return code == 0 && len(report.Findings)+len(report.Waiting) == 0
	})
}

// explains waits until diagnose finds something, and fails the test if it is no cause by one of these rules. What only
// follows may come first: that can heal, and a run continues.
func (l lab) explains(t *testing.T, look, rules []string) {
	t.Helper()
	var said []string
	started := time.Now()
	found := func(context.Context) bool {
		_, report := l.diagnose(t, look...)
		said = nil
		for _, f := range report.Findings {
			said = append(said, fmt.Sprintf("%s %s: %s", f.Rule, f.Object, f.Cause))
			if !slices.Contains(rules, f.Rule) && !f.Transient {
				t.Errorf("a wrong cause: %s %s: %s", f.Rule, f.Object, f.Cause)
			}
		}
		return slices.ContainsFunc(report.Findings,
			func(f diagnose.Finding) bool { return slices.Contains(rules, f.Rule) })
	}
	defer func() { t.Logf("after %s: %s", time.Since(started).Round(time.Second), strings.Join(said, "\n")) }()
	eventually(t, "a cause by one of the rules "+strings.Join(rules, ", "), 4*time.Minute, found)
}

// inMachine runs a command in a machine, and another one, which undoes it, when the test ends.
func inMachine(t *testing.T, machine, command, undo string) {
	t.Helper()
	t.Cleanup(func() { docker(t, "exec", machine, "sh", "-c", undo) })
	docker(t, "exec", machine, "sh", "-c", command)
}

// losesLarge has packets of more than 1,000 bytes from a container to this machine lost, as where an MTU is too large
// for a tunnel in between.
func losesLarge(t *testing.T, container string) {
	t.Helper()
	from := docker(t, "inspect", container, "--format", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}")
	rule := func(verb string) error {
		return exec.Command("iptables", verb, "INPUT", "-s", from, "-p", "tcp", "-m", "length", "--length",
			"1000:65535", "-m", "comment", "--comment", "cluster-init.io/e2e", "-j", "DROP").Run()
	}
	t.Cleanup(func() {
		if err := rule("-D"); err != nil {
			t.Error(err)
		}
	})
	if err := rule("-I"); err != nil {
		t.Fatal(err)
	}
}

// behindProxy has Flux's kustomize-controller ask a proxy for everything, which refuses all of it.
func (c cluster) behindProxy(t *testing.T) {
	refuses := expose(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "this proxy does not go there", http.StatusForbidden)
	}))
	controller := &appsv1.Deployment{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: flux.Namespace, Name: "kustomize-controller"},
		controller); err != nil {
		t.Fatal(err)
	}
	before := controller.DeepCopy()
	t.Cleanup(func() {
		changed := controller.DeepCopy()
		changed.Spec.Template = before.Spec.Template
		if err := c.Patch(context.WithoutCancel(t.Context()), changed, client.MergeFrom(controller)); err != nil {
			t.Error(err)
		}
	})
	container := &controller.Spec.Template.Spec.Containers[0]
	container.Env = append(container.Env, corev1.EnvVar{Name: "HTTP_PROXY", Value: "http://" + refuses})
	if err := c.Patch(t.Context(), controller, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

// withoutInotify has this host give out no more inotify instances, which every machine on it shares, until undo is
// called.
func withoutInotify(t *testing.T) (undo func()) {
	t.Helper()
	const setting = "/proc/sys/fs/inotify/max_user_instances"
	before, err := os.ReadFile(setting)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(setting, []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.WriteFile(setting, before, 0o644); err != nil {
			t.Error(err)
		}
	}
}
