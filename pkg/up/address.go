package up

import (
	"context"
	"fmt"
	"time"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// moveBound bounds one attempt to give the address to a machine.
const moveBound = 20 * time.Second

// moveAddress returns what is done when the API server of the management cluster does not answer: for minutes its
// address is at the machine that is being replaced, whose API server has lost its etcd, or at none. The provider's
// controllers may also give it to a machine that still has to join through it, which then cannot.
func (r releases) moveAddress(report pipeline.Reporter) func(context.Context, []string) bool {
	return func(ctx context.Context, joined []string) bool {
		bounded, cancel := context.WithTimeout(ctx, moveBound)
		defer cancel()
		machine, err := provider.MoveAddress(bounded, r.provider, r.environment, joined)
		switch {
		case err != nil && ctx.Err() == nil:
			report.Log("move the address of the API server: " + err.Error())
		case machine != "":
			report.Progress("no machine that is a node and stays had the address %s of the API server: it is at %s now",
				r.environment.ManagedAddress(), machine)
		}
		return machine != ""
	}
}

// address makes or reserves the address of the API server before anything refers to it, if the provider has such an
// address. It outlives every machine.
type address struct {
	provider    provider.Provider
	environment *environment.Environment
	apply       func(*environment.Environment) // sets what the later phases apply
}

func (a address) does() (string, error) {
	of := a.environment.OpenStack()
	switch {
	case !a.environment.ManagesAddress():
		return "make no address for the API server", nil
	case a.environment.ReservesAddress():
		return fmt.Sprintf("reserve the address %s for the API server in the network %s", of.APIServer.FixedIP,
			of.Network.Network), nil
	}
	return fmt.Sprintf("make a floating IP for the API server in the external network %s",
		of.ExternalNetwork), nil
}

// check needs no answer of the cloud: the phase look has found the address if there is one.
func (a address) check(context.Context) (pipeline.Status, error) {
	switch {
	case !a.environment.ManagesAddress():
		return nothingToDo("cluster-init makes no address for this cluster")
	case a.environment.ManagedAddress() != "":
		return nothingToDo("the API server has the address " + a.environment.ManagedAddress())
	}
	return pipeline.Status{}, nil
}

func (a address) run(ctx context.Context, report pipeline.Reporter) error {
	env, err := provider.MakeAddress(ctx, a.provider, a.environment, report)
	if err == nil {
		a.apply(env)
	}
	return err
}
