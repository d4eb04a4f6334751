package readiness

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// Observation is what was read of one cluster at one moment. What could not be read is no part of it, and is named in
// NotChecked.
type Observation struct {
	Cluster string // "bootstrap" or "management"
	// Kinds were listed in full: what is not among their objects does not exist.
	Kinds   []schema.GroupKind
	Objects []*unstructured.Unstructured // of Secrets, ConfigMaps and the like only the names
	// Events are events of Kubernetes that warn.
	Events []*unstructured.Unstructured
	// NotChecked says, in words, what could not be read, and why.
	NotChecked []string `json:"NotChecked"`

	// At is the API server's clock, Local that of this machine at the same moment. At is zero where the server has not
	// said it.
	At, Local time.Time `json:",omitzero"`
	// Probes are questions with an answer other than a list.
	Probes []Probe `json:",omitempty"`
	// Missing are objects that Flux has applied and that do not exist.
	Missing []Applied `json:",omitempty"`
	// Writes say who last wrote an object, as the API server recorded it.
	Writes []Write `json:",omitempty"`
	// Expiries are the ends of certificates and tokens.
	Expiries []Expiry `json:",omitempty"`
}

// Probe is the answer to one question about an object.
type Probe struct {
	Kind   string // one of the constants below
	Object health.Ref
	// OK reports that all is as it should be. Otherwise Message says what is not.
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
	Permission   = "permission"     // Object is an account: it may do what its controller does
	RegistryRuns = "registry-runs"  // Object is a container that a source reads from; Message is its state
	// Configuration is the form of a ConfigMap that a part of Kubernetes reads when it starts.
	Configuration = "configuration"
)

// Applied is an object that something of Flux applied.
type Applied struct{ Object, By health.Ref }

// Write is who last wrote an object's spec or content, and when.
type Write struct {
	Object health.Ref
	By     string
	At     time.Time
	// ReplicasBy is who set the replicas of a workload.
	ReplicasBy string `json:",omitempty"`
	// Clock is the API server's time of the newest write, whichever part of the object it was to.
	Clock time.Time
}

// Expiry is when a certificate or a token ends.
type Expiry struct {
	Object health.Ref
	What   string // "client certificate of the kubeconfig"
	At     time.Time
	// RenewedBy is what renews it before that, "" for nothing.
	RenewedBy string `json:",omitempty"`
}

// Complete reports whether all was read that decides whether controllers act.
func (o Observation) Complete() bool {
	for _, kind := range []schema.GroupKind{{Kind: "Node"}, {Kind: "Pod"}, {Group: "apps", Kind: "Deployment"},
		{Group: "apps", Kind: "DaemonSet"}, {Group: "coordination.k8s.io", Kind: "Lease"}} {
		if !slices.Contains(o.Kinds, kind) {
			return false
		}
	}
	return true
}
