package restore

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// formerState is what the cluster that was backed up may still do with the machines.
type formerState string

const (
	formerSilent  formerState = "silent"  // no usable kubeconfig is known, or any error but 401 and 403
	formerClosed  formerState = "closed"  // it answers 401 or 403 to one of the requests, and no Cluster was seen
	formerHolds   formerState = "holds"   // it holds Clusters of the backup
	formerApplies formerState = "applies" // it holds none of them, and its Flux would restore them
	formerMoved   formerState = "moved"   // it holds none of them: a move took them away
	formerEmpty   formerState = "empty"   // it holds none of them, and nothing restores them
)

// formerManagement is what is known of the cluster that was backed up, which managed itself and the machines.
type formerManagement struct {
	state  formerState
	host   string
	holds  []capi.Cluster
	moved  bool         // its Flux is suspended for a move of the definition out of it
	active []fluxObject // objects of its Flux that are not suspended
	// attested reports whether another source than the backup names that cluster, or the backup's signature was
	// checked.
	attested bool
	err      error // why more is not known
}

// The most dangerous result of all kubeconfigs wins: the last in this list.
var formerStates = []formerState{formerEmpty, formerMoved, formerSilent, formerClosed, formerApplies, formerHolds}

// formerTimeout limits all requests to that cluster through one kubeconfig.
const formerTimeout = 20 * time.Second

// probeFormer checks the cluster that was backed up, and changes nothing there. It uses the backup's kubeconfig,
// --former-kubeconfig and the one that `up` kept, because a forged backup could name a cluster of the forger's choice.
func (input Input) probeFormer(ctx context.Context) formerManagement {
	fromBackup := input.managerKubeconfig()
	var found []formerManagement
	if fromBackup != nil {
		found = append(found, input.probeThrough(ctx, fromBackup))
	}
	// known reports whether one of the kubeconfigs is of the cluster that the backup names.
	attested, known := input.Verified, fromBackup != nil
	for _, former := range input.Former {
		if kube.SameCluster(former.Content, input.TargetKubeconfig) { // a new cluster of that name
			continue
		}
		if kube.SameCluster(former.Content, fromBackup) || fromBackup == nil && input.hasIdentity(former.Content) {
			attested, known = true, true
		}
		if bytes.Equal(former.Content, fromBackup) {
			continue
		}
		other := input.probeThrough(ctx, former.Content)
		if other.err != nil {
			other.err = fmt.Errorf("by %s: %w", former.Path, other.err)
		}
		found = append(found, other)
	}
	if !known { // no answer is that cluster's for sure
		found = slices.Insert(found, 0, formerManagement{state: formerSilent,
			err: errors.New("the backup holds no kubeconfig of that cluster")})
	}
	m := found[0]
	for _, other := range found[1:] {
		if slices.Index(formerStates, other.state) > slices.Index(formerStates, m.state) {
			m = other
		}
	}
	m.attested = attested
	return m
}

// hasIdentity reports whether a kubeconfig trusts the authority of the cluster that was backed up, as the backup's
// manifest names it.
func (input Input) hasIdentity(kubeconfig []byte) bool {
	return input.Backup.Manifest.Identifies(kube.Authority(kubeconfig))
}

// probeThrough checks that cluster through one kubeconfig.
func (input Input) probeThrough(ctx context.Context, kubeconfig []byte) formerManagement {
	ctx, cancel := context.WithTimeout(ctx, formerTimeout)
	defer cancel()
	connectFormer := input.Ask
	if connectFormer == nil {
		connectFormer = connect
	}
	c, host, err := connectFormer(kubeconfig)
	if err != nil {
		return formerManagement{state: formerSilent, err: err}
	}
	m := formerManagement{state: formerEmpty, host: host}
	m.err = m.read(ctx, c, input)
	switch {
	case len(m.holds) > 0: // also if Flux could not be read: a Cluster was seen
		m.state, m.err = formerHolds, nil
	case apierrors.IsUnauthorized(m.err), apierrors.IsForbidden(m.err):
		m.state = formerClosed
	case m.err != nil:
		m.state = formerSilent
	case len(m.active) > 0:
		m.state = formerApplies
	case m.moved:
		m.state = formerMoved
	}
	return m
}

// read reads which of the backup's Clusters that cluster holds, and whether Flux would restore them.
func (m *formerManagement) read(ctx context.Context, c client.Client, input Input) error {
	for _, namespace := range input.Backup.Manifest.Namespaces() {
		clusters, err := capi.Clusters(ctx, c, namespace)
		if err != nil {
			return err
		}
		for _, cluster := range clusters {
			if slices.ContainsFunc(input.clusters(), func(o capi.Object) bool { return o.Key() == cluster.Key() }) {
				m.holds = append(m.holds, cluster)
			}
		}
	}
	definitions, err := input.definitions(ctx, c)
	if err != nil {
		return err
	}
	for _, u := range definitions {
		key, kind := client.ObjectKeyFromObject(u), strings.ToLower(u.GetKind()) // that cluster may answer with others
		err := c.Get(ctx, key, u)
		switch suspended, _, _ := unstructured.NestedBool(u.Object, "spec", "suspend"); {
		case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		case err != nil:
			return fmt.Errorf("read %s %s: %w", u.GetKind(), key, err)
		case !suspended: // whatever the annotation says: a person may have resumed it
			m.active = append(m.active, fluxObject{key.Namespace, kind, key.Name})
		case u.GetAnnotations()[owned.SuspendedAnnotation] == owned.SuspendedFor(input.Backup.Manifest.Namespace,
			input.Backup.Manifest.Cluster):
			m.moved = true
		}
	}
	return nil
}

// managerKubeconfig returns the kubeconfig that Cluster API kept for the cluster that was backed up; nil if the backup
// lacks it.
func (input Input) managerKubeconfig() []byte {
	m := input.Backup.Manifest
	for _, u := range input.Backup.Section(backup.Objects) {
		if u.GetKind() != "Secret" || u.GetNamespace() != m.Namespace ||
			u.GetName() != secret.Name(m.Cluster, secret.Kubeconfig) {
			continue
		}
		text, _, _ := unstructured.NestedString(u.Object, "data", secret.KubeconfigDataName)
		if value, err := base64.StdEncoding.DecodeString(text); err == nil && len(value) > 0 {
			return value
		}
	}
	return nil
}

// connect creates a client from a kubeconfig of that cluster. Anyone may have written the one in a backup. Hence each
// must be self-contained, and name neither programs nor files of this machine. It must contain a CA, which proves the
// server's identity. Errors never repeat its content.
func connect(kubeconfig []byte) (client.Client, string, error) {
	const wrong = "its kubeconfig cannot be used: "
	checked, err := kube.Embedded(kubeconfig)
	if err != nil {
		return nil, "", fmt.Errorf(wrong+"%w", err)
	}
	c, err := kube.Connect("old management", checked, runtime.NewScheme())
	if err != nil {
		return nil, "", errors.New(wrong + "it is incomplete")
	}
	return c, c.Config.Host, nil
}
