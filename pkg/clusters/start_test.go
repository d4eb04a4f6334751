package clusters

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// keeper is a provider whose machines keep their addresses.
type keeper struct {
	*machine
	balancers, misplaced []string // what runs elsewhere
	all                  bool     // of the control plane
	looks                int
	err                  error // of that look
	refuses              error // of a start
	brought              [][]string
	adjacent             []string
	siblings             []string
	later                []string // what runs elsewhere after the first start
}

func (k *keeper) Misplaced(context.Context) (provider.Misplaced, error) {
	k.looks++
	return provider.Misplaced{Balancers: k.balancers, Machines: k.misplaced, All: k.all}, k.err
}

func (k *keeper) StartAll(_ context.Context, adjacent, again []string, starting func(name, address string) error) error {
	if k.refuses != nil {
		return k.refuses
	}
	k.adjacent, k.brought = adjacent, append(k.brought, slices.Clone(again))
	for i, m := range k.machines {
		if m.Stopped || slices.Contains(again, m.Name) {
			if err := starting(m.Name, "172.18.0.4"); err != nil {
				return err
			}
			k.machines[i].Stopped = false
		}
	}
	k.balancers, k.misplaced, k.later = nil, k.later, nil
	return nil
}

func (k *keeper) Sibling(cluster string) (provider.Provider, provider.AddressKeeper) {
	k.siblings = append(k.siblings, cluster)
	return k, k
}

// What the engine has started with a wrong address is started again: a load balancer, and machines only while their
// cluster does not answer. It is looked for once.
func TestWhatRunsElsewhereIsStartedAgain(t *testing.T) {
	silent := errors.New("it does not answer")
	refused := fault.New(fault.ClusterUnreachable, "x needs the address that y has", "docker stop y")
	for name, tc := range map[string]struct {
		change  func(*keeper)
		answers bool
		again   []string // of the start; nil: none
		err     error
	}{
		"all is where it was, and silent": {err: silent},
		"a machine, and the cluster is silent": {change: func(k *keeper) { k.misplaced = []string{"demo-cp"} },
			again: []string{"demo-cp"}, err: silent},
		"a machine, and the cluster answers": {change: func(k *keeper) { k.misplaced = []string{"demo-cp"} },
			answers: true},
		"the load balancer, and its cluster answers through its port": {answers: true,
			change: func(k *keeper) { k.balancers = []string{"demo-lb"} }, again: []string{"demo-lb"}},
		"it is not known, and the cluster answers": {answers: true,
			change: func(k *keeper) { k.err = errors.New("half a file") }},
		"it is not known, and the cluster is silent": {change: func(k *keeper) { k.err = refused }, err: refused},
		"it cannot be started": {change: func(k *keeper) { k.balancers, k.refuses = []string{"demo-lb"}, refused },
			answers: true, err: refused},
		"it has no machines": {change: func(k *keeper) { k.machines, k.balancers = nil, []string{"x"} }, answers: true},
	} {
		t.Run(name, func(t *testing.T) {
			k := &keeper{machine: newMachine(t)}
			k.machines = []provider.Machine{{Name: "demo-lb"}, {Name: "demo-cp"}}
			if tc.change != nil {
				tc.change(k)
			}
			k.world.Provider = k
			_, err := k.world.Decide(t.Context(), k, func(Observation) Decision {
				if tc.answers {
					return Decision{}
				}
				return Decision{Refusal: silent, Retryable: true}
			})
			if !errors.Is(err, tc.err) || (err == nil) != (tc.err == nil) {
				t.Errorf("error %v, want %v", err, tc.err)
			}
			if len(k.brought) > 1 || len(k.brought) == 1 != (tc.again != nil) ||
				len(k.brought) == 1 && !slices.Equal(k.brought[0], tc.again) {
				t.Errorf("started again %v, want %v", k.brought, tc.again)
			}
			if k.looks > 1 {
				t.Errorf("it looked %d times", k.looks)
			}
		})
	}
}

// Start starts what is stopped and waits for the cluster that holds the definition.
func TestStart(t *testing.T) {
	for name, tc := range map[string]struct {
		change  func(*keeper)
		started []string
		says    string // of the error and its hint
		paused  bool
	}{
		"the machines are stopped, and never answer": {change: func(k *keeper) {
			k.machines = []provider.Machine{{Name: "demo-lb", Stopped: true}, {Name: "demo-cp", Stopped: true}}
		}, started: []string{"demo-lb", "demo-cp"}, says: "demo does not answer", paused: true},
		"a machine stops again at once": {change: func(k *keeper) {
			k.machines = []provider.Machine{{Name: "demo-cp", Stopped: true}}
			k.balancers = []string{"demo-cp"}
		}, started: []string{"demo-cp"}, says: "demo does not answer", paused: true},
		"a machine gets the address of another one": {change: func(k *keeper) {
			k.machines, k.later = []provider.Machine{{Name: "demo-cp", Stopped: true}}, []string{"demo-cp"}
		}, started: []string{"demo-cp"}, says: "demo does not answer", paused: true},
		"the engine has no container": {says: "this Docker engine has no container of demo"},
		"a container has an address": {change: func(k *keeper) {
			k.machines = []provider.Machine{{Name: "demo-cp", Stopped: true}}
			k.refuses = fault.New(fault.ClusterUnreachable, "it needs the address that x has", "docker stop x")
		}, says: "docker stop x"},
	} {
		t.Run(name, func(t *testing.T) {
			k := &keeper{machine: newMachine(t)}
			k.write("marker", "absent")
			if tc.change != nil {
				tc.change(k)
			}
			k.world.Provider = k
			started, err := k.world.Start(t.Context(), k)
			if !slices.Equal(started, tc.started) {
				t.Errorf("started %v, want %v", started, tc.started)
			}
			if err == nil || fault.CodeOf(err) != fault.ClusterUnreachable ||
				!strings.Contains(err.Error()+fault.HintOf(err), tc.says) {
				t.Errorf("error %v (%s), want one with %q", err, fault.HintOf(err), tc.says)
			}
			if k.paused > 0 != tc.paused {
				t.Errorf("%d pauses", k.paused)
			}
		})
	}
	m := newMachine(t) // of a provider that keeps no addresses
	if _, err := m.world.Start(t.Context(), m); fault.CodeOf(err) != fault.Usage {
		t.Errorf("machines of a cloud: %v", err)
	}
}

// Machines of a workload cluster that run are started again only if its whole control plane runs elsewhere.
func TestStartWorkload(t *testing.T) {
	for name, tc := range map[string]struct {
		keeper  keeper
		stopped bool
		again   []string
		starts  bool
	}{
		"all run": {},
		"one is stopped, and another one runs elsewhere": {stopped: true, starts: true,
			keeper: keeper{misplaced: []string{"shop-cp"}}},
		"one of several runs elsewhere": {keeper: keeper{misplaced: []string{"shop-cp"}}},
		"all run elsewhere": {keeper: keeper{misplaced: []string{"shop-cp"}, all: true}, again: []string{"shop-cp"},
			starts: true},
		"the load balancer runs elsewhere": {keeper: keeper{balancers: []string{"shop-lb"}}, again: []string{"shop-lb"},
			starts: true},
	} {
		t.Run(name, func(t *testing.T) {
			k := tc.keeper
			k.machine = newMachine(t)
			k.machines = []provider.Machine{{Name: "shop-lb"}, {Name: "shop-cp", Stopped: tc.stopped}}
			if err := k.world.startWorkload(t.Context(), k, &k, newStarts(k, 0)); err != nil {
				t.Fatal(err)
			}
			if len(k.brought) > 0 != tc.starts || tc.starts && !slices.Equal(k.brought[0], tc.again) {
				t.Errorf("started again %v, want %v: %v", k.brought, tc.starts, tc.again)
			}
		})
	}
}
