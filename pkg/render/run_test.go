package render_test

import (
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// run is a run with every type of event, 1.5 seconds from one to the next.
func run() []event.Event {
	const flux = "flux-system"
	kustomization := func(name, state, reason, message string, waitsFor ...string) *event.Object {
		return &event.Object{Cluster: "bootstrap", Kind: "Kustomization", Namespace: flux, Name: name,
			State: state, Reason: reason, Message: message, WaitsFor: waitsFor}
	}
	waiting := kustomization("capi", "Progressing", "DependencyNotReady",
		"dependency 'flux-system/cert-manager' is not ready", "cert-manager")
	failing := kustomization("cert-manager", "Progressing", "HealthCheckFailed",
		"timeout waiting for:\n\tDeployment/cert-manager status: 'InProgress'")
	failure := &event.Failure{Code: "component/stuck", Retry: true,
		Message: "bootstrap-flux: waiting for the components: context deadline exceeded; not ready: " +
			"Kustomization/cert-manager is Progressing",
		Hint: "The first one named is the one to look at."}
	events := []event.Event{
		{Type: event.RunStarted, Command: "up", Environment: "kubeadm-capd"},
		{Type: event.PhaseStarted, Phase: "registry", Title: "registry",
			Ahead: []string{"bootstrap cluster", "Flux and the components", "management cluster", "pivot",
				"delete the bootstrap cluster"}},
		{Type: event.PhaseSkipped, Phase: "registry", Title: "registry", Message: "it runs already",
			Elapsed: 20 * time.Millisecond},
		{Type: event.PhaseStarted, Phase: "bootstrap-cluster", Title: "bootstrap cluster"},
		{Type: event.Progress, Phase: "bootstrap-cluster", Title: "bootstrap cluster",
			Message: "creating kind cluster kubeadm-capd-bootstrap"},
		{Type: event.Log, Phase: "bootstrap-cluster", Title: "bootstrap cluster", Message: "Preparing nodes\n"},
		{Type: event.Warning, Phase: "bootstrap-cluster", Title: "bootstrap cluster",
			Message: "only 5 GiB of memory are free:\n6 are better"},
		{Type: event.PhaseFinished, Phase: "bootstrap-cluster", Title: "bootstrap cluster",
			Elapsed: 14200 * time.Millisecond},
		{Type: event.PhaseStarted, Phase: "bootstrap-flux", Title: "Flux and the components",
			Ahead: []string{"management cluster", "pivot"}},
		{Type: event.ObjectChanged, Object: waiting},
		{Type: event.ObjectChanged, Object: kustomization("cert-manager", "Progressing", "Progressing",
			"building manifests")},
		{Type: event.ObjectChanged, Object: kustomization("cert-manager", "Progressing", "Progressing",
			"health checks")},
		{Type: event.ObjectChanged, Object: waiting},
		{Type: event.ObjectChanged, Object: kustomization("cni", "Ready", "ReconciliationSucceeded",
			"Applied revision: latest@sha256:1234")},
		{Type: event.ObjectChanged, Object: kustomization("cni", "Ready", "ReconciliationSucceeded",
			"Applied revision: latest@sha256:1234")},
		{Type: event.ObjectChanged, Object: failing},
		{Type: event.ObjectChanged, Object: kustomization("cni", "Deleted", "", "")},
		{Type: event.Waiting, Remaining: 130 * time.Second,
			Delay:   &event.Delay{Objects: []string{"Kustomization/cert-manager"}, By: 32 * time.Second},
			Message: "the components of the bootstrap cluster", Objects: []event.Object{*failing, *waiting}},
		{Type: event.PhaseFailed, Phase: "bootstrap-flux", Title: "Flux and the components", Elapsed: 15 * time.Minute,
			Failure: failure},
		{Type: event.RunFinished, Elapsed: 16 * time.Minute, Failure: failure},
		// As after the same command, run again.
		{Type: event.RunFinished, Elapsed: 3*time.Minute + 250*time.Millisecond},
		{Type: event.Result, Message: "The management cluster kubeadm-capd manages itself.", Fields: map[string]string{
			"nodes":      "kubectl get nodes",
			"kubeconfig": "export KUBECONFIG=~/.local/state/cluster-init/kubeadm-capd/kubeconfig"}},
	}
	for i := range events {
		events[i].Time = start().Add(time.Duration(i) * 1500 * time.Millisecond)
	}
	return events
}
