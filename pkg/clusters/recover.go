package clusters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

const apiServerPort = "6443"

// Recover reads the management cluster's kubeconfig from one of its control-plane machines, saves it, and returns the
// connection and the files. The kubeconfig in the bootstrap cluster, the one in the state folder, or what the cluster
// holds must prove its identity. Recover fails if the saved kubeconfig is of another cluster.
func (w *World) Recover(ctx context.Context) (c *kube.Cluster, files []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, observationBound)
	defer cancel()
	reader, can := w.Provider.(provider.AdministratorReader)
	if !can {
		return nil, nil, fault.New(fault.ClusterUnreachable,
			fmt.Sprintf("the machines of %s are in %s, and cannot be read from here", w.Cluster,
				w.Provider.Place()), w.byHand())
	}
	_, _ = w.AskEngine(ctx) // sets the host of published ports; an engine that does not answer fails below
	found, unread := reader.Administrators(ctx)
	if len(found) == 0 && unread == nil {
		return nil, nil, fault.New(fault.ClusterUnreachable,
			fmt.Sprintf("no control-plane machine of %s is on this Docker engine", w.Cluster),
			"Run the command on the machine whose Docker engine has them, or point DOCKER_HOST at it. "+w.byHand())
	}
	truth, err := w.savedTruth(w.seeBootstrap(ctx).Kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	failed := unread
	for _, a := range found {
		side := w.seeAdministrator(ctx, a, truth)
		if side.Cluster == nil {
			failed = errors.Join(failed, side.Err)
			continue
		}
		if err := w.save(side.Cluster.Kubeconfig); err != nil {
			return side.Cluster, nil, err
		}
		return side.Cluster, w.filesWith(side.Cluster.Kubeconfig), nil
	}
	return nil, nil, fault.Wrap(fmt.Errorf("recover the kubeconfig of the management cluster %s: %w",
		w.Cluster, failed), fault.CodeOr(failed, fault.ClusterUnreachable),
		cmp.Or(fault.HintOf(failed), "Look whether its control plane runs: cluster-init diagnose "+
			w.Argument+"."))
}

// savedTruth returns a kubeconfig that is known to be the management cluster's; nil if none is left. A kubeconfig that
// cannot be used proves nothing.
func (w *World) savedTruth(fromBootstrap []byte) (*candidate, error) {
	if fromBootstrap != nil {
		return &candidate{named: "the one in the bootstrap cluster", kubeconfig: fromBootstrap}, nil
	}
	path := w.savedPath()
	content, err := readKubeconfig(path)
	switch {
	case fault.CodeOf(err) == fault.Usage, err == nil && content == nil:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the management cluster's kubeconfig: %w", err)
	}
	return &candidate{named: path, kubeconfig: content}, nil
}

// seeAdministrator observes the management cluster through a kubeconfig that one of its machines holds.
func (w *World) seeAdministrator(ctx context.Context, a provider.Administrator, truth *candidate) ManagementSide {
	silent := func(err error) ManagementSide { return ManagementSide{State: unusable(err), Err: err} }
	kubeconfig, err := kube.Embedded(a.Kubeconfig)
	if err != nil {
		return silent(fmt.Errorf("machine %s: %w", a.Machine, err))
	}
	if kube.ListensHere(kubeconfig) && a.Address != "" { // as RKE2 writes it
		if kubeconfig, err = kube.WithServer(kubeconfig, a.Address, apiServerPort); err != nil {
			return silent(err)
		}
	}
	all := []candidate{{named: "machine " + a.Machine, kubeconfig: kubeconfig}}
	if truth != nil {
		known := *truth
		known.proven = true
		if all, err = proveAll([]candidate{known, all[0]}); err != nil {
			return silent(err)
		}
		all = all[1:]
	}
	cluster, err := w.reach(ctx, kubeconfig)
	if err != nil {
		return silent(fmt.Errorf("machine %s: %w", a.Machine, err))
	}
	return w.readManagement(ctx, all[0], cluster)
}

// byHand returns the hint to get the kubeconfig by hand when no program can.
func (w *World) byHand() string {
	return strings.Join([]string{
		"On a control-plane machine, by SSH or by the console of " + w.Provider.Place() +
			", read /etc/kubernetes/admin.conf, or /etc/rancher/rke2/rke2.yaml of RKE2.",
		"In that of RKE2 replace the server 127.0.0.1 with the address of the control plane.",
		"Save it with mode 0600 as " + w.savedPath() + ".",
	}, " ")
}
