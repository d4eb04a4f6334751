//go:build integration

package down

import (
	"context"
	"strings"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fluxserver"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/workload"
)

// reporting runs work as a phase, and returns its reports and its error.
func reporting(ctx context.Context, work func(context.Context, pipeline.Reporter) error) (string, error) {
	var heard event.Recorder
	err := pipeline.Runner{Sink: &heard, Now: time.Now}.Run(
		ctx, []pipeline.Phase{{Name: "test", Title: "test", Timeout: time.Minute, Run: work}})
	var said []string
	for _, e := range heard.Events() {
		said = append(said, e.Message)
	}
	return strings.Join(said, "\n"), err
}

// holding returns a Cluster with a finalizer, which its controller would have to remove.
func holding(namespace, name string) *unstructured.Unstructured {
	c := fluxserver.NewCluster(namespace, name)
	c.SetFinalizers([]string{"cluster.cluster.x-k8s.io"})
	return c
}

// TestFarewell acts as the controller of a Cluster that is being deleted.
func TestFarewell(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shared.DefineCluster(ctx, t)
	shared.Namespaces(ctx, t, "ns", "tenants")
	scope := clusters.Scope{Namespace: "ns", Cluster: "demo"}
	bye := clusters.Deletion{Cluster: shared.Client, Heartbeat: time.Minute, Now: time.Now}
	goes := func(c client.Object) {
		shared.Patch(ctx, t, c, `{"metadata":{"finalizers":[]}}`)
	}

	t.Run("the plan of other clusters", func(t *testing.T) { planOfOtherClusters(ctx, t) })
	t.Run("what is gone is gone", func(t *testing.T) {
		if said, err := reporting(ctx, func(ctx context.Context, r pipeline.Reporter) error {
			return bye.Delete(
				ctx, scope, r)
		}); err != nil || !strings.Contains(said, "is gone") {
			t.Errorf("%v: %s", err, said)
		}
	})
	t.Run("who does not agree is named", func(t *testing.T) {
		c := holding("ns", "demo")
		shared.Create(ctx, t, c)
		ended, end := context.WithTimeout(ctx, 3*time.Second)
		defer end()
		_, err := reporting(ended, func(ctx context.Context, r pipeline.Reporter) error {
			return bye.Delete(ctx, scope,
				r)
		})
		if err == nil || !strings.Contains(err.Error(), "finalizer cluster.cluster.x-k8s.io") {
			t.Errorf("%v", err)
		}
		goes(c)
	})
	t.Run("it waits for the end", func(t *testing.T) {
		c := holding("ns", "demo")
		shared.Create(ctx, t, c)
		_, err := reporting(ctx, func(ctx context.Context, r pipeline.Reporter) error {
			return bye.Delete(ctx, scope, taking{r, func() { goes(c) }})
		})
		if err != nil {
			t.Error(err)
		}
		if err := shared.Client.Get(ctx, client.ObjectKeyFromObject(c), c); client.IgnoreNotFound(err) != nil ||
			err == nil {
			t.Errorf("it is there: %v", err)
		}
	})
	t.Run("workload clusters", func(t *testing.T) { deletesWorkload(ctx, t, scope, bye, goes) })
}

// taking calls agree when a run reports that it waits for an object.
type taking struct {
	pipeline.Reporter
	agree func()
}

func (r taking) Waiting(what string, objects []event.Object) {
	r.Reporter.Waiting(what, objects)
	if strings.Contains(what, "finalizer") {
		r.agree()
	}
}

// seenWorld is a fake world: the management cluster holds its definition.
type seenWorld struct{ world }

func (seenWorld) observe(context.Context) (clusters.Observation, verdict, error) {
	return clusters.Observation{Management: clusters.ManagementSide{State: clusters.ManagementActive,
			Cluster: shared.Client}},
		verdict{decision: moveBack}, nil
}

func (seenWorld) Connected(string) (*kube.Cluster, error) { return shared.Client, nil }

func (seenWorld) Side(c *kube.Cluster) clusters.Side { return clusters.Side{Client: c} }

func deletesWorkload(ctx context.Context, t *testing.T, scope clusters.Scope, bye clusters.Deletion,
	goes func(client.Object)) {
	own, tenant := fluxserver.NewCluster("ns", "demo"), holding("tenants", "one")
	applied := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: "tenants", Name: "apps"},
		Spec: kustomizev1.KustomizationSpec{
			Interval:  metav1.Duration{Duration: time.Minute},
			SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: "GitRepository", Name: "apps"}}}
	tenant.SetLabels(map[string]string{"kustomize.toolkit.fluxcd.io/name": "apps",
		"kustomize.toolkit.fluxcd.io/namespace": "tenants"})
	shared.Create(ctx, t, own, applied)
	unfit := fault.New(fault.PivotRefused, "the versions differ", "")
	fits := func(err error) func(context.Context, clusters.Side, clusters.Side, clusters.Scope) error {
		return func(context.Context, clusters.Side, clusters.Side, clusters.Scope) error { return err }
	}
	w := workloadClusters{world: seenWorld{}, others: otherClusters{scope: scope, environment: "env"},
		deletion: func(*kube.Cluster) clusters.Deletion { return bye }, checkMove: fits(unfit)}
	if said, err := reporting(ctx, w.run); err != nil || !strings.Contains(said, "none") {
		t.Errorf("without others: %v: %s", err, said)
	}
	shared.Create(ctx, t, tenant)
	_, err := reporting(ctx, w.run)
	if fault.CodeOf(err) != fault.CleanupRefused || !strings.Contains(err.Error(), "tenants/one") ||
		!strings.Contains(fault.HintOf(err), "--with-workload-clusters") {
		t.Errorf("with another: %v", err)
	}
	w.others.delete = true
	if _, err := reporting(ctx, w.run); fault.CodeOf(err) != fault.ConfirmationRequired &&
		fault.CodeOf(err) != fault.CleanupRefused {
		t.Errorf("one that was not shown: %v", err)
	}
	w.others.confirmed = []string{"tenants/one"}
	shared.Patch(ctx, t, tenant, `{"spec":{"paused":true}}`)
	if _, err := reporting(ctx, w.run); fault.CodeOf(err) != fault.CleanupRefused ||
		!strings.Contains(err.Error(), "paused") {
		t.Errorf("a paused one: %v", err)
	}
	shared.Patch(ctx, t, tenant, `{"spec":{"paused":null}}`)
	if _, err := reporting(ctx, w.run); fault.CodeOf(err) != fault.PivotRefused {
		t.Errorf("the definition cannot be moved back: %v", err)
	}
	if err := shared.Client.Get(ctx, client.ObjectKeyFromObject(tenant), tenant); err != nil ||
		tenant.GetDeletionTimestamp() != nil {
		t.Errorf("it was deleted although the definition cannot be moved back: %v", err)
	}
	w.checkMove = fits(nil)
	released := release("interrupted") // its Cluster is gone already
	shared.Create(ctx, t, released)
	if _, err := reporting(ctx, w.run); fault.CodeOf(err) != fault.ConfirmationRequired {
		t.Errorf("a release that was not shown: %v", err)
	}
	w.others.confirmed = append(w.others.confirmed, "tenants/interrupted")
	// What says whether it has an address is gone, and an earlier run did not delete it: the release has a source.
	source := &sourcev1.OCIRepository{ObjectMeta: metav1.ObjectMeta{Namespace: "tenants", Name: "interrupted-chart",
		Labels: map[string]string{workload.Label: "interrupted"}}, Spec: sourcev1.OCIRepositorySpec{
		URL: "oci://registry/x", Interval: metav1.Duration{Duration: time.Minute}}}
	shared.Create(ctx, t, source)
	if _, err := reporting(ctx, w.run); fault.CodeOf(err) != fault.CleanupRefused ||
		!strings.Contains(err.Error(), "ConfigMap tenants/interrupted-values does not exist") {
		t.Errorf("a release without values: %v", err)
	}
	if err := shared.Client.Get(ctx, client.ObjectKeyFromObject(own), own); err != nil ||
		own.GetAnnotations()[owned.DownAnnotation] != "" {
		t.Errorf("it is refused, and the cluster is marked: %v, %v", err, own.GetAnnotations())
	}
	shared.Remove(ctx, t, source)
	if _, err := reporting(ctx, func(ctx context.Context, r pipeline.Reporter) error {
		return w.run(ctx, taking{r, func() { goes(tenant) }})
	}); err != nil {
		t.Errorf("deleted: %v", err)
	}
	if err := shared.Client.Get(ctx, client.ObjectKeyFromObject(applied), applied); err != nil ||
		!applied.Spec.Suspend {
		t.Errorf("what would put it back is not suspended: %v", err)
	}
	if err := shared.Client.Get(ctx, client.ObjectKeyFromObject(released), released); !apierrors.IsNotFound(err) {
		t.Errorf("the release is left: %v", err)
	}
	if err := shared.Client.Get(ctx, client.ObjectKeyFromObject(own), own); err != nil ||
		own.GetAnnotations()[owned.DownAnnotation] == "" || own.GetDeletionTimestamp() != nil {
		t.Errorf("its own Cluster: %v, %v", err, own.GetAnnotations())
	}
}

// release is the release of a workload cluster that a Git repository applies.
func release(name string) *helmv2.HelmRelease {
	return &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Namespace: "tenants", Name: name,
		Labels: map[string]string{workload.Label: name, "kustomize.toolkit.fluxcd.io/name": "apps",
			"kustomize.toolkit.fluxcd.io/namespace": "tenants"}},
		Spec: helmv2.HelmReleaseSpec{Interval: metav1.Duration{Duration: time.Minute},
			ChartRef: &helmv2.CrossNamespaceSourceReference{Kind: "OCIRepository", Name: "chart"}}}
}
