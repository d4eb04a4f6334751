//go:build bench

package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

const (
	pollInterval   = 200 * time.Millisecond
	attemptTimeout = 10 * time.Second // of one look: an API server that has just come up may not answer at all
	waitBound      = 8 * time.Minute  // of one wait, far above what any takes
)

// until calls try again and again until it succeeds. The error says what was waited for and what try said last.
// An object that is invalid stays so: then it ends at once.
func until(ctx context.Context, what string, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, waitBound)
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		attempt, done := context.WithTimeout(ctx, attemptTimeout)
		err := try(attempt)
		done()
		if err == nil {
			return nil
		}
		if apierrors.IsInvalid(err) {
			return fmt.Errorf("%s: %w", what, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, errors.Join(context.Cause(ctx), err))
		case <-tick.C:
		}
	}
}

// held is how long one object must wait before the log says so: it tells where the time of a step went.
const held = 2 * time.Second

// apply applies objects in order, each the moment that the API server takes it: when its kind is served and the
// webhooks that look at it answer.
func (f *floor) apply(ctx context.Context, c *kube.Cluster, objects ...*unstructured.Unstructured) error {
	for _, o := range objects {
		what := fmt.Sprintf("applying %s %s", o.GetKind(), o.GetName())
		start := time.Now()
		err := until(ctx, what, func(ctx context.Context) error {
			return c.ApplyAll(ctx, o.DeepCopy()) // the answer of the server ends up in what is applied
		})
		if err != nil {
			return err
		}
		if waited := time.Since(start); waited > held {
			f.log("floor: %s: waited %.1f s in the %s cluster", what, waited.Seconds(), c.Name)
		}
	}
	return nil
}

// acceptable waits until the API server would take objects; it changes nothing.
func acceptable(ctx context.Context, c *kube.Cluster, objects ...*unstructured.Unstructured) error {
	for _, o := range objects {
		what := fmt.Sprintf("webhooks of %s in the %s cluster", o.GetKind(), c.Name)
		err := until(ctx, what, func(ctx context.Context) error {
			return c.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o.DeepCopy()),
				client.DryRunAll, client.FieldOwner(kube.FieldOwner), client.ForceOwnership)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
