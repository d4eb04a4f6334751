package quorum

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// Report receives what Restore does.
type Report func(format string, args ...any)

// step is one command on the machine.
type step struct {
	what  string
	bound time.Duration
	// script is a constant for sh. Values of the machine are args: $1 and so on.
	script string
	args   []string
	stdin  io.Reader
	// stops and starts mark the first step that cannot be undone, and the last one.
	stops, starts bool
}

const (
	// readyBound limits the wait for the API server.
	readyBound = 10 * time.Minute
	readyPause = 2 * time.Second
)

// Run restores a snapshot. Its etcd then has one member and the content of the snapshot; the former data stay next to
// the new. It waits until the API server is ready. After an error, run it again.
func Run(ctx context.Context, in Input) (Survivor, error) {
	s, err := Check(ctx, in)
	if err != nil {
		return s, err
	}
	// First: once its etcd has a leader, Check refuses a second run.
	if err := in.giveAddress(ctx, s.Name()); err != nil {
		return s, fmt.Errorf("restore the etcd of %s: %w", in.Backup.Manifest.Cluster, err)
	}
	for _, each := range steps(s.State, in.Backup.Snapshot, in.Now()) {
		if each.stops {
			// the snapshot took its time to arrive: another run may have restored one meanwhile
			if err := in.lost(ctx, s); err != nil {
				return s, err
			}
		}
		if each.starts {
			if err := in.Starting(s.Name()); err != nil {
				return s, fmt.Errorf("restore the etcd of %s: %w", in.Backup.Manifest.Cluster, err)
			}
		}
		in.Report("%s on %s", each.what, s.Name())
		if err := each.run(ctx, s.ControlPlane); err != nil {
			return s, fault.Retryable(fmt.Errorf("restore the etcd of %s: %w", in.Backup.Manifest.Cluster, err),
				fault.RestoreFailed, "Run the same command again. The former data are kept.")
		}
	}
	return s, Await(ctx, in)
}

// lost refuses a machine whose etcd has a leader by now, and a cluster whose API server is ready.
func (in Input) lost(ctx context.Context, s Survivor) error {
	if err := in.silent(ctx); err != nil {
		return err
	}
	in.Patience = 0
	return in.leaderless(ctx, []provider.ControlPlane{s.ControlPlane})
}

// giveAddress leads the address of the API server to the machine, where it led to a lost one.
func (in Input) giveAddress(ctx context.Context, machine string) error {
	giver, is := in.Machines.(provider.AddressGiver)
	if !is {
		return nil
	}
	given, err := giver.GiveAddress(ctx, machine)
	if given != "" {
		in.Report("gave the address %s to %s", given, machine)
	}
	return err
}

// Await waits until the API server is ready.
func Await(ctx context.Context, in Input) error {
	in.Report("waiting for the API server of %s (at most %s)", in.Backup.Manifest.Cluster, readyBound)
	bounded, cancel := context.WithTimeout(ctx, readyBound)
	defer cancel()
	for {
		err := in.Ready(bounded)
		if err == nil {
			return nil
		}
		select {
		case <-bounded.Done():
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fault.Retryable(fmt.Errorf("the snapshot is restored, but the API server of %s is not ready "+
				"after %s: %w", in.Backup.Manifest.Cluster, readyBound, err), fault.Timeout,
				"See why on the machine: crictl ps --all, and the logs of etcd and kube-apiserver. Then run the same "+
					"command again: it resumes, and pauses the workload clusters before Cluster API acts on them.")
		case <-time.After(readyPause):
		}
	}
}

func (s step) run(ctx context.Context, m provider.ControlPlane) error {
	ctx, cancel := context.WithTimeout(ctx, s.bound)
	defer cancel()
	if _, err := m.Run(ctx, s.stdin, append([]string{"sh", "-euc", s.script, "sh"}, s.args...)...); err != nil {
		return fmt.Errorf("%s on %s: %w", s.what, m.Name(), errors.Join(err, ctx.Err()))
	}
	return nil
}

// writeBound limits the transfer of a snapshot: 100 KiB/s must be enough.
func writeBound(size int) time.Duration {
	return 5*time.Minute + time.Duration(size>>10)*10*time.Millisecond
}

// steps returns what Restore does, in this order.
func steps(s State, snapshot []byte, now time.Time) []step {
	digest, stamp := sha256.Sum256(snapshot), now.UTC().Format("20060102T150405Z")
	work := s.DataDir + ".cluster-init-restore" // on the file system of the data
	return []step{
		{what: "write the snapshot", bound: writeBound(len(snapshot)), stdin: bytes.NewReader(snapshot),
			args: []string{work, hex.EncodeToString(digest[:])},
			script: `rm -rf "$1"; mkdir -m 0700 "$1"; umask 077; cat >"$1/snapshot.db"
echo "$2  $1/snapshot.db" | sha256sum -c - >/dev/null`},
		{what: "stop etcd and the API server", stops: true, bound: 3 * time.Minute, args: []string{manifests, aside},
			script: `mkdir -p -m 0700 "$2"
for name in etcd kube-apiserver; do if test -e "$1/$name.yaml"; then mv -f "$1/$name.yaml" "$2/"; fi; done
while :; do running=$(crictl ps --quiet --name '^(etcd|kube-apiserver)$'); test -n "$running" || break; sleep 1; done`},
		{what: "restore the snapshot", bound: 5 * time.Minute,
			args: []string{work, s.Image, s.Member, s.Peer, "cluster-init-restore-" + stamp},
			// The token gives the cluster another ID: a former member that comes back does not join it.
			script: `rm -rf "$1/data"; ctr --namespace k8s.io containers delete cluster-init-restore 2>/dev/null || true
exec ctr --namespace k8s.io run --rm --mount "type=bind,src=$1,dst=/restore,options=rbind:rw" "$2" \
cluster-init-restore etcdutl snapshot restore /restore/snapshot.db --data-dir /restore/data --name "$3" \
--initial-cluster "$3=$4" --initial-cluster-token "$5" --initial-advertise-peer-urls "$4" \
--bump-revision 1000000000 --mark-compacted`},
		{what: "exchange the data", bound: time.Minute,
			args: []string{work, s.DataDir, s.DataDir + ".before-" + stamp},
			script: `test -d "$1/data/member"
if test -e "$2/member"; then mkdir -p -m 0700 "$3"; mv "$2/member" "$3/member"; fi
mkdir -p -m 0700 "$2"; mv "$1/data/member" "$2/member"; rm -rf "$1"`},
		// etcd last: until it runs, the next run sees that there is something to restore.
		{what: "start etcd and the API server", starts: true, bound: time.Minute, args: []string{manifests, aside},
			script: `for name in kube-apiserver etcd; do mv -f "$2/$name.yaml" "$1/"; done; rmdir "$2"`},
	}
}
