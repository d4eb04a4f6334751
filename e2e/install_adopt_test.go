//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// adopts installs into the same cluster once more, which has a cert-manager of another owner now. Install refuses that
// without the flag, and uses it with the flag. Uninstall leaves it as it is.
func (l lab) adopts(t *testing.T, install, uninstall []string, existing string) {
	t.Helper()
	management := connect(t, existing)
	management.bringsCertManager(t, l)
	made := management.certManagers(t)
	if code, out := l.run(t, install...); code != 30 {
		t.Errorf("install next to a cert-manager of another owner ended with %d: %s", code, out)
	}
	adopt := slices.Concat(install, []string{"--adopt", "cert-manager"})
	if code, _ := l.run(t, adopt...); code != 0 {
		t.Fatalf("install --adopt cert-manager ended with %d", code)
	}
	if code, _ := l.run(t, uninstall...); code != 0 {
		t.Fatalf("uninstall next to an adopted cert-manager ended with %d", code)
	}
	if left := management.certManagers(t); !maps.Equal(left, made) {
		t.Errorf("the adopted cert-manager has the Deployments %v, had %v", left, made)
	}
}

// bringsCertManager applies the manifests of cert-manager, as another owner, and waits until it is available.
func (c cluster) bringsCertManager(t *testing.T, l lab) {
	t.Helper()
	printed, err := l.command(t.Context(), "render", environmentName, "--bundle", l.bundle, "-o", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var rendered struct {
		Components []struct {
			Name    string
			Objects []unstructured.Unstructured
		}
	}
	if err := json.Unmarshal(printed, &rendered); err != nil {
		t.Fatal(err)
	}
	for _, component := range rendered.Components {
		for i := range component.Objects {
			if component.Name != "cert-manager" {
				continue
			}
			o := &component.Objects[i]
			if err := c.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o),
				client.FieldOwner("e2e")); err != nil {
				t.Fatalf("apply %s %s: %v", o.GetKind(), o.GetName(), err)
			}
		}
	}
	var last error
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the webhook of cert-manager said at last: %v", last)
		}
	})
	eventually(t, "cert-manager is available", 3*time.Minute, func(ctx context.Context) bool {
		var all appsv1.DeploymentList
		available := 0
		if err := c.List(ctx, &all, client.InNamespace("cert-manager")); err != nil {
			return false
		}
		for _, d := range all.Items {
			available += int(d.Status.AvailableReplicas)
		}
		issuer := object("cert-manager.io/v1", "Issuer", "default", "e2e",
			map[string]any{"selfSigned": map[string]any{}})
		last = c.Create(ctx, issuer, client.DryRunAll) // the webhook gets its authority later
		return available == 3 && last == nil
	})
}

// certManagers returns the Deployments of cert-manager with their generations.
func (c cluster) certManagers(t *testing.T) map[string]int64 {
	t.Helper()
	found := map[string]int64{}
	for _, o := range c.list(t, "apps", "v1", "Deployment") {
		if o.GetNamespace() == "cert-manager" {
			found[o.GetName()+" "+string(o.GetUID())] = o.GetGeneration()
		}
	}
	return found
}
