// Package status reports the progress of an environment and the state of its objects. It observes once and changes
// nothing.
package status

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/up"
	"github.com/cluster-init/cluster-init/pkg/workload"
)

// requestTimeout limits one request to a cluster, or a few that belong together.
const requestTimeout = 10 * time.Second

// Report is the status of an environment.
type Report struct {
	Type          string `json:"type"` // "status"
	SchemaVersion int    `json:"schemaVersion"`
	Environment   string `json:"environment"`
	Argument      string `json:"-"`       // name or path for commands
	Cluster       string `json:"cluster"` // namespace/name
	State         State  `json:"state"`
	Why           string `json:"why"`
	Bootstrap     Side   `json:"bootstrap"`
	Management    Side   `json:"management"`
	// Machines are the machines that the provider lists. MachinesUnknown says why they could not be listed.
	Machines        []string `json:"machines"`
	MachinesUnknown string   `json:"machinesUnknown,omitempty"`
	// WorkloadClusters are the clusters that the management cluster manages besides itself. They do not change State.
	WorkloadClusters []workload.Listed `json:"workloadClusters,omitempty"`
	// Causes are those that a diagnosis has found, if one ran.
	Causes []Cause `json:"causes"`
	// Health says whether the management cluster can act. Nil unless it manages itself and its objects are ready.
	Health *Health `json:"health,omitempty"`
	// Drift is nil if there is nothing to compare with.
	Drift *Drift `json:"drift,omitempty"`
	// Address says that the cluster can lose the address of its API server, and when. Empty means that it cannot, or
	// that this is not known.
	Address string `json:"address,omitempty"`
	// Unknown lists what could not be read, and why.
	Unknown []string `json:"unknown"`
}

// schemaVersion is the version of the JSON document. Additions do not change it.
const schemaVersion = 1

// Side is one of the two clusters.
type Side struct {
	State   string   `json:"state"` // as up reports it: absent, silent, active, …
	Server  string   `json:"server,omitempty"`
	Error   string   `json:"error,omitempty"`
	Objects []Object `json:"objects"`
	// Versions are the versions of Kubernetes, Flux and the providers, by name.
	Versions map[string]string `json:"versions,omitempty"`
}

// Object is an object of the environment in a cluster.
type Object struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	State     string `json:"state"` // as package health reports it, or Paused
	Version   string `json:"version,omitempty"`
	Message   string `json:"message,omitempty"`
}

// String is Kind/name.
func (o Object) String() string { return o.Kind + "/" + o.Name }

// Look observes an environment. configErr says why only its names are known; it is nil if everything is known. health
// checks whether a management cluster with ready objects can act.
func Look(ctx context.Context, run *up.Run, configErr error,
	health func(context.Context, *kube.Cluster) Health) Report {
	seen := run.Observe(ctx)
	r := Report{Type: "status", SchemaVersion: schemaVersion, Environment: run.Environment.Name(),
		Argument: run.Environment.Argument(), Cluster: run.Scope.Namespace + "/" + run.Scope.Cluster,
		Machines: []string{}, Causes: []Cause{}, Unknown: []string{}}
	r.Bootstrap = r.side(ctx, string(seen.Bootstrap.State), seen.Bootstrap.Cluster, seen.Bootstrap.Err,
		run.Scope.Namespace)
	r.Management = r.side(ctx, string(seen.Management.State), seen.Management.Cluster, seen.Management.Err,
		run.Scope.Namespace)
	r.workloadClusters(ctx, seen.Management.Cluster, run.Scope)
	for _, m := range seen.Machines {
		name := m.Name
		switch {
		case m.Paused:
			name += " (paused)"
		case m.Stopped:
			name += " (stopped)"
		}
		r.Machines = append(r.Machines, name)
	}
	if seen.MachinesErr != nil {
		r.MachinesUnknown = seen.MachinesErr.Error()
	}
	if configErr != nil {
		r.Drift = &Drift{Values: []Difference{}, Unknown: "the environment is incomplete here: " + firstOf(configErr)}
	} else {
		r.Drift = compareValues(ctx, seen, run.Environment)
		r.Address = addressWarning(ctx, seen, run.Environment)
	}
	if r.State, r.Why = judge(seen, r); r.State == Up && seen.Management.Cluster != nil {
		return r.withHealth(health(ctx, seen.Management.Cluster))
	}
	return r
}

// firstOf returns the first of several problems and the number of the others.
func firstOf(err error) string {
	problems := fault.Problems(err)
	if more := len(problems) - 1; more > 0 {
		return fmt.Sprintf("%v; and %d more", problems[0], more)
	}
	return err.Error()
}

// side returns what a status shows of a cluster. It reads the cluster only if c is not nil.
func (r *Report) side(ctx context.Context, state string, c *kube.Cluster, connectErr error, namespace string) Side {
	s := Side{State: state, Objects: []Object{}}
	if connectErr != nil {
		s.Error = connectErr.Error()
	}
	if c == nil {
		return s
	}
	s.Server, s.Versions = c.Config.Host, map[string]string{}
	all := func(*unstructured.Unstructured) bool { return true }
	objects, unknown := Objects(ctx, c, flux.Namespace, namespace, all)
	s.Objects = append(s.Objects, objects...)
	r.Unknown = append(r.Unknown, unknown...)
	r.versions(ctx, c, &s)
	return s
}

// shownKinds lists the kinds that a status shows, in their order. An empty kind stands for every control plane.
var shownKinds = []struct{ group, kind string }{
	{"kustomize.toolkit.fluxcd.io", "Kustomization"}, {"helm.toolkit.fluxcd.io", "HelmRelease"},
	{"source.toolkit.fluxcd.io", "GitRepository"}, {"source.toolkit.fluxcd.io", "OCIRepository"},
	{"cluster.x-k8s.io", "Cluster"}, {"controlplane.cluster.x-k8s.io", ""}, {"cluster.x-k8s.io", "MachineDeployment"},
	{"cluster.x-k8s.io", "Machine"}, {"cluster.x-k8s.io", "MachineHealthCheck"},
}

// shownIndex returns the position of a kind in shownKinds; -1 if a status does not show it.
func shownIndex(group, kind string) int {
	return slices.IndexFunc(shownKinds, func(s struct{ group, kind string }) bool {
		return s.group == group && (s.kind == kind || s.kind == "" && strings.HasSuffix(kind, "ControlPlane"))
	})
}

// Objects returns those objects of Flux and of Cluster API that a status shows, each in its namespace, if shown says
// so. unknown says what could not be read.
func Objects(ctx context.Context, c *kube.Cluster, ofFlux, ofCluster string,
	shown func(*unstructured.Unstructured) bool) (objects []Object, unknown []string) {
	served, err := c.Served(ctx)
	if err != nil {
		unknown = append(unknown, fmt.Sprintf("some kinds of the %s cluster: %v", c.Name, err))
	}
	served = kube.InGroups(served, "toolkit.fluxcd.io", "cluster.x-k8s.io")
	slices.SortStableFunc(served, func(a, b kube.Served) int {
		return cmp.Compare(shownIndex(a.Resource.Group, a.Kind), shownIndex(b.Resource.Group, b.Kind))
	})
	for _, kind := range served {
		if shownIndex(kind.Resource.Group, kind.Kind) < 0 {
			continue
		}
		namespace := ofCluster
		if strings.HasSuffix(kind.Resource.Group, ".fluxcd.io") {
			namespace = ofFlux
		}
		found, err := list(ctx, c, kind, namespace)
		if err != nil {
			unknown = append(unknown, fmt.Sprintf("%s of the %s cluster: %v", kind.Resource.GroupResource(), c.Name,
				err))
		}
		for i := range found {
			if shown(&found[i]) {
				objects = append(objects, objectOf(&found[i]))
			}
		}
	}
	return objects, unknown
}

func list(ctx context.Context, c *kube.Cluster, kind kube.Served, namespace string) ([]unstructured.Unstructured,
	error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	found, err := c.Dynamic.Resource(kind.Resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return found.Items, nil
}

// paused is the state of a paused object of Cluster API. Package health does not have it.
const paused = "Paused"

// absent is the state of a side without a cluster, as `up` reports it.
const absent = "absent"

func objectOf(u *unstructured.Unstructured) Object {
	state := health.Of(u)
	o := Object{Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), State: state.Status,
		Message: state.Message}
	if replacement, fails := health.ReplacementOf(u); fails && o.Kind == "Machine" {
		o.Message = replacement.String()
	}
	if health.Paused(u) && strings.HasSuffix(u.GroupVersionKind().Group, "cluster.x-k8s.io") {
		o.State = paused
	}
	for _, path := range [][]string{{"spec", "version"}, {"spec", "template", "spec", "version"},
		{"status", "lastAttemptedRevision"}} {
		if version, _, _ := unstructured.NestedString(u.Object, path...); version != "" {
			o.Version = version
			break
		}
	}
	return o
}

// versions reads the versions of Kubernetes, Flux and the providers.
func (r *Report) versions(ctx context.Context, c *kube.Cluster, s *Side) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	noted := func(what string, err error) bool {
		if err != nil {
			r.Unknown = append(r.Unknown, fmt.Sprintf("%s of the %s cluster: %v", what, c.Name, err))
		}
		return err == nil
	}
	config := *c.Config
	config.Timeout = requestTimeout // discovery takes no context
	server, err := discovery.NewDiscoveryClientForConfig(&config)
	if noted("version", err) {
		if version, err := server.ServerVersion(); noted("version", err) {
			s.Versions["kubernetes"] = version.GitVersion
		}
	}
	var controllers appsv1.DeploymentList
	if noted("Flux", c.List(ctx, &controllers, client.InNamespace(flux.Namespace),
		client.HasLabels{flux.VersionLabel})) {
		for _, d := range controllers.Items {
			s.Versions["flux"] = d.Labels[flux.VersionLabel]
		}
	}
	providers, err := capi.Providers(ctx, c)
	if noted("providers", err) {
		for _, p := range providers {
			s.Versions[p.Name] = p.Version
		}
	}
}
