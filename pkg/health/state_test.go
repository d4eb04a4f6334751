package health_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/health"
)

func TestOf(t *testing.T) {
	tests := map[string]struct {
		object string
		want   health.State
	}{
		"no status": {
			object: `{kind: Kustomization, metadata: {generation: 1}}`,
			want:   health.State{Status: health.Progressing, Message: "has no status yet"}},
		"conditions of other types only": {
			object: `{metadata: {generation: 1}, status: {conditions: [{type: Reconciling, status: "True", message: working}]}}`,
			want:   health.State{Status: health.Progressing, Message: "has no status yet"}},
		"Flux, ready": {
			object: `{metadata: {generation: 2}, status: {observedGeneration: 2, conditions: [{type: Ready, status: "True", observedGeneration: 2, reason: ReconciliationSucceeded, message: Applied}]}}`,
			want:   health.State{Status: health.Ready, Reason: "ReconciliationSucceeded", Message: "Applied"}},
		"Flux, not ready": {
			object: `{metadata: {generation: 2}, status: {conditions: [{type: Ready, status: "False", observedGeneration: 2, reason: DependencyNotReady, message: dependency 'capi' is not ready}]}}`,
			want: health.State{Status: health.Progressing, Reason: "DependencyNotReady",
				Message: "dependency 'capi' is not ready"}},
		"Flux, unknown": {
			object: `{metadata: {generation: 2}, status: {conditions: [{type: Ready, status: Unknown, observedGeneration: 2, reason: Progressing, message: Building}]}}`,
			want:   health.State{Status: health.Progressing, Reason: "Progressing", Message: "Building"}},
		"Flux, ready at an older generation": {
			object: `{metadata: {generation: 3}, status: {observedGeneration: 3, conditions: [{type: Ready, status: "True", observedGeneration: 2, message: Applied}]}}`,
			want:   health.State{Status: health.Progressing, Message: "Applied"}},
		"ready, the generation in the status only": {
			object: `{metadata: {generation: 3}, status: {observedGeneration: 2, conditions: [{type: Ready, status: "True", message: Applied}]}}`,
			want:   health.State{Status: health.Progressing, Message: "Applied"}},
		"ready, no generation anywhere": {
			object: `{metadata: {generation: 3}, status: {conditions: [{type: Ready, status: "True", message: Applied}]}}`,
			want:   health.State{Status: health.Ready, Message: "Applied"}},
		"Flux, stalled": {
			object: `{metadata: {generation: 1}, status: {conditions: [{type: Ready, status: "False", observedGeneration: 1, message: no path}, {type: Stalled, status: "True", observedGeneration: 1, reason: RetriesExceeded, message: gave up}]}}`,
			want:   health.State{Status: health.Failed, Reason: "RetriesExceeded", Message: "gave up"}},
		"Flux, no longer stalled": {
			object: `{metadata: {generation: 1}, status: {conditions: [{type: Stalled, status: "False", message: was}, {type: Ready, status: "True", message: Applied}]}}`,
			want:   health.State{Status: health.Ready, Message: "Applied"}},
		"Flux, stalled before its spec was mended": {
			object: `{metadata: {generation: 2}, status: {observedGeneration: 1, conditions: [{type: Stalled, status: "True", observedGeneration: 1, reason: RetriesExceeded, message: gave up}, {type: Ready, status: "False", observedGeneration: 1, message: no path}]}}`,
			want:   health.State{Status: health.Progressing, Message: "no path"}},
		"Flux, suspended": {
			object: `{spec: {suspend: true}, status: {conditions: [{type: Ready, status: "True", message: Applied}]}}`,
			want:   health.State{Status: health.Suspended, Message: "is suspended"}},
		"Flux, not suspended": {
			object: `{spec: {suspend: false}, status: {conditions: [{type: Ready, status: "True", message: Applied}]}}`,
			want:   health.State{Status: health.Ready, Message: "Applied"}},
		"deleting, suspended and ready": {
			object: `{metadata: {deletionTimestamp: "2026-01-02T03:04:05Z"}, spec: {suspend: true}, status: {conditions: [{type: Ready, status: "True"}]}}`,
			want:   health.State{Status: health.Deleting, Message: "is being deleted"}},
		"deleting, and not yet at it": {
			object: `{kind: Machine, metadata: {deletionTimestamp: "2026-01-02T03:04:05Z"}, status: {conditions: [{type: Deleting, status: "False", reason: NotDeleting}]}}`,
			want:   health.State{Status: health.Deleting, Message: "is being deleted"}},
		"deleting, with what that waits for": {
			object: `{kind: Machine, metadata: {deletionTimestamp: "2026-01-02T03:04:05Z"}, status: {conditions: [{type: Ready, status: "False", message: x}, {type: Deleting, status: "True", reason: DrainingNode, message: Drain not completed yet}]}}`,
			want:   health.State{Status: health.Deleting, Message: "is being deleted: Drain not completed yet"}},
		"deleting, with no words": {
			object: `{kind: Machine, metadata: {deletionTimestamp: "2026-01-02T03:04:05Z"}, status: {conditions: [{type: Deleting, status: "True", reason: WaitingForInfrastructureDeletion}]}}`,
			want: health.State{Status: health.Deleting,
				Message: "is being deleted: WaitingForInfrastructureDeletion"}},
		"Cluster API, available": {
			object: `{kind: Cluster, metadata: {generation: 4}, status: {conditions: [{type: Paused, status: "False"}, {type: Available, status: "True", observedGeneration: 4, reason: Available, message: ""}]}}`,
			want:   health.State{Status: health.Ready, Reason: "Available"}},
		"Cluster API, not available": {
			object: `{kind: Cluster, metadata: {generation: 4}, status: {conditions: [{type: Available, status: "False", observedGeneration: 4, reason: NotAvailable, message: "* RemoteConnectionProbe: not yet"}]}}`,
			want: health.State{Status: health.Progressing, Reason: "NotAvailable",
				Message: "* RemoteConnectionProbe: not yet"}},
		"Cluster API, a Machine: Ready counts before Available": {
			object: `{kind: Machine, status: {conditions: [{type: Available, status: "True"}, {type: Ready, status: "False", reason: NotReady}]}}`,
			want:   health.State{Status: health.Progressing, Reason: "NotReady"}},
		"Cluster API, a sum of conditions": {
			object: `{kind: AWSCluster, status: {conditions: [{type: Ready, status: "False", reason: VpcFailed, message: 0 of 8 completed}, {type: Other, status: "False", reason: Else, message: no}, {type: VpcReady, status: "False", reason: VpcFailed, message: no credentials}]}}`,
			want:   health.State{Status: health.Progressing, Reason: "VpcFailed", Message: "VpcReady: no credentials"}},
		"Cluster API, a sum of conditions that say no more": {
			object: `{kind: AWSCluster, status: {conditions: [{type: Ready, status: "False", reason: Started, message: 1 of 8 completed}, {type: VpcReady, status: "False", reason: Started}]}}`,
			want:   health.State{Status: health.Progressing, Reason: "Started", Message: "1 of 8 completed"}},
		"Deployment, available": {
			object: `{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 2}, spec: {replicas: 1}, status: {observedGeneration: 2, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, conditions: [{type: Progressing, status: "True", reason: NewReplicaSetAvailable}, {type: Available, status: "True", reason: MinimumReplicasAvailable, message: fine}]}}`,
			want:   health.State{Status: health.Ready, Message: "Deployment is available. Replicas: 1"}},
		"Deployment, available in its older form": {
			object: `{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 2}, status: {observedGeneration: 1, conditions: [{type: Available, status: "True", reason: MinimumReplicasAvailable}]}}`,
			want: health.State{Status: health.Progressing, Reason: "LatestGenerationNotObserved",
				Message: "Deployment generation is 2, but latest observed generation is 1"}},
		"Deployment, out of time: Kubernetes continues": {
			object: `{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 1}, spec: {replicas: 1}, status: {observedGeneration: 1, conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: image}]}}`,
			want: health.State{Status: health.Progressing, Reason: "ProgressDeadlineExceeded",
				Message: "Progress deadline exceeded: image"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := health.Of(object(t, tc.object)); got != tc.want {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

func TestPaused(t *testing.T) {
	for text, want := range map[string]bool{
		`{spec: {paused: true}}`:  true,
		`{spec: {paused: false}}`: false,
		`{}`:                      false,
		`{metadata: {annotations: {cluster.x-k8s.io/paused: ""}}}`: true,
	} {
		if got := health.Paused(object(t, text)); got != want {
			t.Errorf("%s: paused %t", text, got)
		}
	}
}

// object reads YAML as an API server would give it: whole numbers are int64.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(data, &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}
