package readiness

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// Observation is what was read from one cluster at one moment. What could not be read is absent from it, and listed in
// NotChecked.
type Observation struct {
	Cluster string // "bootstrap" or "management"
	// Kinds were listed in full: an object of these kinds that is not in Objects does not exist.
	Kinds   []schema.GroupKind
	Objects []*unstructured.Unstructured // of Secrets, ConfigMaps and the like only metadata
	// Events are warning events of Kubernetes.
	Events []*unstructured.Unstructured
	// NotChecked says, in words, what could not be read, and why.
	NotChecked []string `json:"NotChecked"`

	// At is the API server's clock, Local this machine's at the same moment. At is zero if the server did not send its
	// time.
	At, Local time.Time `json:",omitzero"`
	// Probes are checks other than lists.
	Probes []Probe `json:",omitempty"`
	// Missing are objects that Flux has applied and that do not exist.
	Missing []Applied `json:",omitempty"`
	// Writes say who last wrote an object, as the API server recorded it. They exist for some kinds only.
	Writes []Write `json:",omitempty"`
	// Expiries are the expiry times of certificates and tokens.
	Expiries []Expiry `json:",omitempty"`
}

// Probe is the result of one check of an object.
type Probe struct {
	Kind   string // one of the constants below
	Object health.Ref
	// OK reports that the check passed. Otherwise Message says why not.
	OK      bool
	Message string `json:",omitempty"`
}

// The kinds of probes.
const (
	DryRunPod    = "dry-run-pod"    // Object is a workload: the API server would accept a Pod of its template
	DryRunCreate = "dry-run-create" // the API server would accept an object like Object
	DryRunUpdate = "dry-run-update" // and a change of it, or of its status
	ServedRead   = "served-read"    // all versions of a definition can be read: its conversion works
	ReadyCheck   = "ready-check"    // Object is a check of the API server's own readiness
	EtcdHealth   = "etcd-health"    // Object is a Pod of etcd
	ArtifactRead = "artifact-read"  // Object is a source: its artifact can be fetched
	Permission   = "permission"     // Object is an account: it may do what its controller does, which Message names
	RegistryRuns = "registry-runs"  // Object is a container that a source reads from; Message is its state
	// Configuration is the syntax of a ConfigMap that a part of Kubernetes reads when it starts.
	Configuration = "configuration"
)

// Applied is an object that an object of Flux applied.
type Applied struct{ Object, By health.Ref }

// Write is who last wrote an object's spec or content, and when.
type Write struct {
	Object health.Ref
	By     string
	At     time.Time
	// ReplicasBy is who last set the replicas of a workload.
	ReplicasBy string `json:",omitempty"`
	// Clock is the API server's time of the newest write to any part of the object.
	Clock time.Time
}

// Expiry is when a certificate or a token expires.
type Expiry struct {
	Object health.Ref
	What   string // "client certificate of the kubeconfig"
	At     time.Time
	// RenewedBy is what renews it before that. Empty means nothing does.
	RenewedBy string `json:",omitempty"`
}

// Complete reports whether everything was read that decides whether controllers act.
func (o Observation) Complete() bool {
	for _, kind := range []schema.GroupKind{{Kind: "Node"}, {Kind: "Pod"}, {Group: "apps", Kind: "Deployment"},
		{Group: "apps", Kind: "DaemonSet"}, {Group: "coordination.k8s.io", Kind: "Lease"}} {
		if !slices.Contains(o.Kinds, kind) {
			return false
		}
	}
	return true
}
