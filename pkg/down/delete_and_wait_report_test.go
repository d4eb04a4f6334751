package down

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/event"
)

// counting records what a phase reports.
type counting struct {
	silence
	progress, waiting []string
}

func (c *counting) Progress(format string, args ...any) {
	c.progress = append(c.progress, fmt.Sprintf(format, args...))
}

func (c *counting) Waiting(what string, _ []event.Object) { c.waiting = append(c.waiting, what) }

// The list of what is being deleted is for people: a kind that cannot be listed does not keep the Cluster.
func TestAClusterIsDeletedWithoutTheListOfTheRest(t *testing.T) {
	c := cluster(t, "bootstrap", clusterObject("ns", "demo"))
	c.Client = interceptor.NewClient(c.Client.(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if kind := list.GetObjectKind().GroupVersionKind().Kind; kind != "ClusterList" {
				return fmt.Errorf("list %s: the conversion webhook is silent", kind)
			}
			return c.List(ctx, list, opts...)
		}})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := (clusters.Deletion{Cluster: c, Heartbeat: time.Minute, Now: time.Now}).Delete(ctx, own,
			silence{}); err != nil {
			t.Error(err)
		}
	})
}

// A Cluster is deleted once. What the run waits for is reported when it changes and at each heartbeat.
func TestAClusterIsDeletedOnce(t *testing.T) {
	c := cluster(t, "bootstrap", clusterObject("ns", "demo", func(c *clusterv1.Cluster) {
		c.Finalizers = []string{"example.com/stays"}
	}))
	deletions, refusals := 0, 2 // the first two deletions fail
	c.Client = interceptor.NewClient(c.Client.(client.WithWatch), interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if refusals--; refusals >= 0 {
				return errors.New("the webhook is silent")
			}
			deletions++
			return c.Delete(ctx, o, opts...)
		}})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 65*time.Second)
		defer cancel()
		report := &counting{}
		if err := (clusters.Deletion{Cluster: c, Heartbeat: 20 * time.Second, Now: time.Now}).Delete(
			ctx, own, report); err == nil {
			t.Error("it is gone")
		}
		if deletions != 1 || len(report.progress) != 1 {
			t.Errorf("deleted %d times, reported %q", deletions, report.progress)
		}
		// The error, its controllers from then on, and three heartbeats.
		if n := len(report.waiting); n < 5 || n > 6 {
			t.Errorf("reported %d times: %q", n, report.waiting)
		}
	})
}
