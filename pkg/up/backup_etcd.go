package up

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/etcd"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

const (
	// etcdNamespace has the Pods of etcd.
	etcdNamespace = "kube-system"
	// memberBound limits the time for the snapshot of one member.
	memberBound = 3 * time.Minute
	// mostSnapshot is the maximum size of a snapshot, in bytes: a backup is held in memory.
	mostSnapshot = 768 << 20
)

// backupEtcd returns a snapshot of the etcd of a management cluster, from the first of its members that gives one, and
// its description.
func backupEtcd(ctx context.Context, c *kube.Cluster, scope clusters.Scope, now func() time.Time) (
	*backup.EtcdSnapshot, []byte, error) {
	refused := func(err error) error {
		return fault.Wrap(fmt.Errorf("back up the etcd of the management cluster %s: %w", scope.Cluster, err),
			fault.CodeOr(err, fault.BackupRefused), "Check with cluster-init status that every member of etcd runs, "+
				"and run the same command again. Without --etcd the backup needs no etcd.")
	}
	certificate, key, err := capi.EtcdAuthority(ctx, c, client.ObjectKey{Namespace: scope.Namespace,
		Name: scope.Cluster})
	if err != nil {
		return nil, nil, refused(err)
	}
	pods, err := etcdPods(ctx, c)
	if err != nil {
		return nil, nil, refused(err)
	}
	var failed error
	for _, pod := range pods {
		described, data, err := snapshotOf(ctx, c, pod, etcd.Authority{Certificate: certificate, Key: key},
			now())
		if err == nil {
			return described, data, nil
		}
		failed = errors.Join(failed, fmt.Errorf("through Pod %s: %w", pod, err))
	}
	if failed == nil {
		failed = errors.New("no Pod of etcd runs in namespace " + etcdNamespace)
	}
	return nil, nil, refused(failed)
}

// etcdPods returns the running Pods of etcd.
func etcdPods(ctx context.Context, c client.Reader) ([]types.NamespacedName, error) {
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.InNamespace(etcdNamespace)); err != nil {
		return nil, fmt.Errorf("list the Pods in namespace %s: %w", etcdNamespace, err)
	}
	var running []types.NamespacedName
	for _, pod := range pods.Items {
		if pod.Name == "etcd-"+pod.Spec.NodeName && pod.Status.Phase == corev1.PodRunning {
			running = append(running, client.ObjectKeyFromObject(&pod))
		}
	}
	return running, nil
}

// snapshotOf returns the snapshot of one member. The list of members needs a majority, so that no member that was left
// behind gives an old snapshot.
func snapshotOf(ctx context.Context, c *kube.Cluster, pod types.NamespacedName,
	a etcd.Authority, now time.Time) (*backup.EtcdSnapshot, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, memberBound)
	defer cancel()
	member, err := etcd.Connect(ctx, a, func(ctx context.Context) (net.Conn, error) {
		return c.DialPod(ctx, pod, etcd.Port)
	})
	if err != nil {
		return nil, nil, err
	}
	defer member.Close()
	members, err := member.Members(ctx)
	if err != nil {
		return nil, nil, err
	}
	described, err := describe(members)
	if err != nil {
		return nil, nil, err
	}
	described.Taken = now.UTC().Truncate(time.Second)
	snapshot, err := member.Snapshot(ctx, mostSnapshot)
	described.Version = snapshot.Version
	return described, snapshot.Data, err
}

// describe refuses members that restore could not compare with machines. It leaves out those that are still joining: a
// restored etcd forgets them, and a backup is needed most while a machine does not join.
func describe(members []etcd.Member) (*backup.EtcdSnapshot, error) {
	described := &backup.EtcdSnapshot{}
	for _, m := range members {
		switch {
		case m.Learner, m.Name == "":
			continue
		case len(m.PeerURLs) != 1:
			return nil, fmt.Errorf("member %s has %d addresses, want 1", m.Name, len(m.PeerURLs))
		}
		address, err := url.Parse(m.PeerURLs[0])
		if err != nil {
			return nil, fmt.Errorf("read the address of member %s: %w", m.Name, err)
		}
		described.Members = append(described.Members, backup.EtcdMember{Name: m.Name, Address: address.Hostname()})
	}
	return described, nil
}
