package quorum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// Input is what a restore needs.
type Input struct {
	Backup *backup.Backup
	// Ready asks the API server of the cluster whether it is ready.
	Ready    func(context.Context) error
	Machines provider.ControlPlaneRunner
	// Patience is how long Check waits for a leader: an etcd that has just been started has none.
	Patience time.Duration
	Now      func() time.Time
	// Starting is called with the machine before the last step. From then on Check refuses with ErrMajority, and a
	// second run can only Await.
	Starting func(machine string) error
	Report   Report
}

// ErrMajority is the reason of Check to refuse a cluster that has lost nothing, or was restored.
var ErrMajority = errors.New("its etcd has a majority")

// Survivor is the machine that gets the snapshot.
type Survivor struct {
	provider.ControlPlane
	State
}

// Check finds the machine that gets the snapshot. It changes nothing. It refuses, with the code fault.RestoreRefused or
// fault.BackupInvalid, a cluster that may have a majority, and a snapshot that does not fit.
func Check(ctx context.Context, in Input) (Survivor, error) {
	of := in.Backup.Manifest
	if of.Etcd == nil {
		return Survivor{}, Refuse(in.Backup, State{})
	}
	if err := in.silent(ctx); err != nil {
		return Survivor{}, err
	}
	all, err := in.Machines.ControlPlanes(ctx)
	if err != nil {
		return Survivor{}, err
	}
	if err := in.leaderless(ctx, all); err != nil {
		return Survivor{}, err
	}
	m, err := in.only(all)
	if err != nil {
		return Survivor{}, err
	}
	state, err := Look(ctx, m)
	if err != nil {
		return Survivor{}, fault.Wrap(err, fault.CodeOr(err, fault.RestoreRefused), cmp.Or(fault.HintOf(err),
			hintMachines))
	}
	if state.Member != m.Name() {
		return Survivor{}, refuse(of.Cluster, fmt.Sprintf("machine %s is the member %s of etcd", m.Name(),
			state.Member),
			"Run it on a machine of this cluster that has its own name in etcd, as kubeadm gives it.")
	}
	if err := Refuse(in.Backup, state); err != nil {
		return Survivor{}, err
	}
	return Survivor{m, state}, nil
}

const hintMachines = "restore --etcd knows control-plane machines that kubeadm made, with a containerd that runs. " +
	"For RKE2: rke2 server --cluster-reset --cluster-reset-restore-path=FILE, with etcd/snapshot.db of the backup."

// askPause is the interval between two questions to etcd.
const askPause = 5 * time.Second

// leaderless refuses if etcd on any machine that runs has a leader, at any time while in.Patience lasts.
func (in Input) leaderless(ctx context.Context, all []provider.ControlPlane) error {
	if in.Patience > 0 {
		in.Report("checking whether etcd finds a leader (%s)", in.Patience)
	}
	for begun := time.Now(); ; {
		for _, m := range all {
			if m.Stopped() {
				continue
			}
			healthy, err := isHealthy(ctx, m)
			if errors.Is(err, provider.ErrNotReached) { // only refuses a second machine anyway
				continue
			}
			if err != nil {
				return fault.Retryable(err, fault.CodeOr(err, fault.RestoreRefused), cmp.Or(fault.HintOf(err),
					hintMachines))
			}
			if healthy {
				return majority(in.Backup.Manifest.Cluster, "etcd on "+m.Name()+" answers and has a leader",
					"Nothing is lost: find out with cluster-init status and diagnose why the API server does not "+
						"answer.")
			}
		}
		if time.Since(begun) >= in.Patience {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(askPause):
		}
	}
}

// silent refuses an API server that is ready, or that cannot be asked.
func (in Input) silent(ctx context.Context) error {
	err := in.Ready(ctx)
	cluster := in.Backup.Manifest.Cluster
	switch {
	case err == nil:
		return majority(cluster, "its API server is ready",
			"Nothing is lost. To restore objects into another cluster, run restore without --etcd.")
	case apierrors.IsUnauthorized(err), apierrors.IsForbidden(err):
		return refuse(cluster, fmt.Sprintf("its API server does not say whether it is ready: %v", err),
			"Give a kubeconfig with valid credentials: --kubeconfig FILE.")
	}
	return nil
}

// only returns the one control-plane machine that exists. A second one, even a stopped one, has the former members in
// its data: once started, it would go on with them.
func (in Input) only(all []provider.ControlPlane) (provider.ControlPlane, error) {
	cluster := in.Backup.Manifest.Cluster
	var names, running []string
	var found provider.ControlPlane
	for _, c := range all {
		names = append(names, c.Name())
		if !c.Stopped() {
			running, found = append(running, c.Name()), c
		}
	}
	switch {
	case len(all) == 0:
		return nil, refuse(cluster, "it has no control-plane machine",
			"Build a new management cluster with up, and run restore without --etcd.")
	case len(running) == 0:
		return nil, refuse(cluster, "no control-plane machine runs: "+strings.Join(names, ", "),
			fmt.Sprintf("Start them (%s). If most of them do not come back, delete these and keep one.",
				in.Machines.Commands().Start))
	case len(all) > 1:
		return nil, refuse(cluster, fmt.Sprintf("it has the control-plane machines %s, and the snapshot is for one",
			strings.Join(names, ", ")),
			"If the others are lost for good, delete them, data included, and keep one that runs: "+
				in.Machines.Commands().Delete)
	}
	return found, nil
}

// isHealthy reports whether the machine's etcd has a leader.
func isHealthy(ctx context.Context, m provider.ControlPlane) (bool, error) {
	said, err := read(ctx, m, "sh", "-euc", `id=$(crictl ps --quiet --name '^etcd$')
if test -z "$id"; then echo "etcd does not run: it is unhealthy"; exit; fi
crictl exec "$id" etcdctl --endpoints=https://127.0.0.1:2379 --cacert=/etc/kubernetes/pki/etcd/ca.crt \
--cert=/etc/kubernetes/pki/etcd/server.crt --key=/etc/kubernetes/pki/etcd/server.key endpoint health 2>&1 || true`)
	switch {
	case err != nil:
		return false, err
	case strings.Contains(said, "is healthy"), strings.Contains(said, "alarm"): // an alarm needs a leader
		return true, nil
	case strings.Contains(said, "is unhealthy"):
		return false, nil
	}
	return false, fmt.Errorf("ask etcd on %s for its health: it says %q", m.Name(), strings.TrimSpace(said))
}

func refuse(cluster, why, hint string) error {
	return fault.New(fault.RestoreRefused, fmt.Sprintf("restore the etcd of %s: %s", cluster, why), hint)
}

func majority(cluster, why, hint string) error {
	return fault.Wrap(fmt.Errorf("restore the etcd of %s: %s, so %w", cluster, why, ErrMajority), fault.RestoreRefused,
		hint)
}
