package cli

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// Workload clusters stay paused until a person has compared them with the snapshot.
func TestOtherClustersArePaused(t *testing.T) {
	c, err := fixture.FakeClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	for namespace, name := range map[string]string{"management": "mgmt", "shop": "mgmt", "team-a": "web"} {
		cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		if err := c.Create(t.Context(), cluster); err != nil {
			t.Fatal(err)
		}
	}
	of := backup.Manifest{Namespace: "management", Cluster: "mgmt"}
	begun := time.Now()
	paused, err := pauseOthers(t.Context(), &kube.Cluster{Client: c}, of, func(string) {})
	if slices.Sort(paused); err != nil || !slices.Equal(paused, []string{"shop/mgmt", "team-a/web"}) {
		t.Errorf("paused %v, %v", paused, err)
	}
	all, err := capi.Clusters(t.Context(), c, "")
	if err != nil || len(all) != 3 {
		t.Fatalf("%v, %v", all, err)
	}
	for _, one := range all {
		if one.Paused != (one.Namespace != "management") {
			t.Errorf("%s is paused: %t", one, one.Paused)
		}
	}
	if again, err := pauseOthers(t.Context(), &kube.Cluster{Client: c}, of, func(string) {}); err != nil ||
		len(again) > 0 || time.Since(begun) > pauseInterval {
		t.Errorf("paused %v again, %v", again, err)
	}
}
