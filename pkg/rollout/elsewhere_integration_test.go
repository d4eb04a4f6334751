//go:build integration

package rollout

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// The management cluster waits for what the bootstrap cluster installs in it. Where that says why it cannot, it is
// named first, whatever is followed, and not what only waits there, nor what is a user's own.
func TestAwaitNamesFirstWhatFailsBeside(t *testing.T) {
	management, err := kube.Connect("management", shared.Kubeconfig(), shared.Client.Scheme())
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		follower func(namespace string, o Options) Follower
		goal     Key
	}{
		"dependency-release": {func(_ string, o Options) Follower { return NewFollower(management, o) },
			Key{Kind: "Kustomization", Name: "absent"}},
		"dependency-deployments": {func(namespace string, o Options) Follower {
			return NewDeployments(management, namespace,
				o)
		}, Key{Kind: "Deployment", Name: "helm-controller"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, name)
			for _, component := range []string{"cloud-provider", "cni", "own"} {
				s.create(component)
				t.Cleanup(func() {
					shared.Remove(context.WithoutCancel(s.ctx), t,
						&kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: component}})
				})
			}
			for _, component := range []string{"cloud-provider", "cni"} {
				k := s.get(component)
				k.Labels = map[string]string{owned.ComponentLabel: component}
				shared.Update(s.ctx, t, k)
			}
			const why = "DaemonSet/kube-system/ccm dry-run failed: cannot unmarshal number into string"
			s.tell("cloud-provider", metav1.ConditionFalse, "ReconciliationFailed", why)
			s.tell("cni", metav1.ConditionFalse, "DependencyNotReady", "dependency 'cloud-provider' is not ready")
			s.tell("own", metav1.ConditionFalse, "ReconciliationFailed", "a user's own")

			ctx := deadline{s.ctx, make(chan struct{})}
			tc.goal.Namespace = name
			f := tc.follower(name, Options{Heartbeat: 50 * time.Millisecond, Now: time.Now, Beside: shared.Client})
			go func() {
				s.done <- f.Await(ctx, Goal{What: "Flux's controllers in the management cluster",
					Ready: []Key{tc.goal}}, s.ear)
			}()
			named := func() string {
				s.ear.mu.Lock()
				defer s.ear.mu.Unlock()
				if len(s.ear.waits) == 0 {
					return ""
				}
				var names []string
				for _, o := range s.ear.waits[len(s.ear.waits)-1] {
					names = append(names, fmt.Sprintf("%s/%s: %s", o.Cluster, o.Name, o.Message))
				}
				return strings.Join(names, "; ")
			}
			waits := "management/" + tc.goal.Name + ": does not exist yet"
			s.eventually("a heartbeat names the component first, and then what is waited for",
				func() bool { return named() == "bootstrap/cloud-provider: "+why+"; "+waits })
			s.ready("cloud-provider")
			s.eventually("a heartbeat no longer names what was mended", func() bool { return named() == waits })
			s.tell("cloud-provider", metav1.ConditionFalse, "BuildFailed", why)
			s.eventually("a heartbeat names it again", func() bool {
				return named() == "bootstrap/cloud-provider: "+why+
					"; "+waits
			})
			close(ctx.passed)
			want := "deadline exceeded; not ready: Kustomization/cloud-provider in the bootstrap cluster is " +
				"Progressing: " + why + "; " + tc.goal.String() + " is Missing"
			if err := s.end(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v\ndoes not say %q", err, want)
			}
		})
	}
	var left kustomizev1.KustomizationList
	if err := shared.Client.List(t.Context(), &left, client.HasLabels{owned.ComponentLabel}); err != nil ||
		len(left.Items) > 0 {
		t.Errorf("other tests would hear of %d components (%v)", len(left.Items), err)
	}
}
