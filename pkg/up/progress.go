package up

import (
	"context"
	"errors"
	"sync"

	"github.com/cluster-init/cluster-init/pkg/provider"
)

// progress looks how far the definition is. What does not answer is asked again for a while; then nobody knows, and that is an error.
func (w *world) progress(ctx context.Context) (decision, error) {
	if w.management == nil { // nothing that was seen could hold it
		return goOn, nil
	}
	deadline := w.Now().Add(w.patience())
	for {
		o := w.observeClusters(ctx)
		if err := ctx.Err(); err != nil {
			return refuse, err
		}
		v := judge(o, w.request(o))
		if v.decision != refuse {
			return v.decision, nil
		}
		if !v.again || !w.Now().Before(deadline) {
			return refuse, errors.Join(v.refusal, w.keepBootstrapKubeconfig(o.bootstrap.cluster))
		}
		pause(ctx)
	}
}

// observeClusters looks at the two clusters only, through the connections that there are: a look that many phases can afford. Nobody asks
// which machines exist, so without a cluster that answers nothing is known.
func (w *world) observeClusters(ctx context.Context) observation {
	ctx, cancel := context.WithTimeout(ctx, observationBound)
	defer cancel()
	o := observation{bootstrap: bootstrapSide{state: bootstrapAbsent}, management: managementSide{state: managementAbsent}, machinesErr: provider.ErrCannotAsk}
	var both sync.WaitGroup
	if w.bootstrap != nil {
		both.Go(func() { o.bootstrap = w.readBootstrap(ctx, w.bootstrap) })
	}
	if w.management != nil {
		known := candidate{named: w.KubeconfigPath, kubeconfig: w.management.Kubeconfig, proven: true}
		both.Go(func() { o.management = w.readManagement(ctx, known, w.management) })
	}
	both.Wait()
	return o
}
