package cleanup_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/internal/project"
	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

func TestSurvey(t *testing.T) {
	engine := func() *fakeEngine {
		return &fakeEngine{
			containers: map[string]docker.Container{
				"demo-x": container("demo", "control-plane", marker), "demo-registry": registry("demo"),
				"two-registry": registry("two"), "foreign": container("foreign", "control-plane", "")},
			volumes: map[string]map[string]string{"demo-registry": {"cluster-init.io/cluster": "demo"}, "other": nil},
		}
	}
	cloud := &project.Cloud{Resources: append(project.Cluster("a", false), project.Resource(openstack.KindPort, "p",
		project.Tagged("ns-a-b")), project.Resource(openstack.KindVolume, "users"))}
	left, err := cleanup.Survey(t.Context(), engine(), leftIn(cloud))
	if got, want := fmt.Sprint(left),
		"[{demo docker 3} {two docker 1} {ns-a openstack 8} {ns-a-b openstack 1}]"; got != want || err != nil {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
	if left, err := cleanup.Survey(t.Context(), &fakeEngine{}, nil); len(left) > 0 || err != nil {
		t.Errorf("of nothing: %v, %v", left, err)
	}
	// A failed query is not "nothing there".
	broken := errors.New("no answer")
	for question, fails := range map[string]struct {
		engine map[string]error
		cloud  *project.Cloud
	}{
		"containers": {engine: map[string]error{"containers io.x-k8s.kind.cluster": broken}},
		"registries": {engine: map[string]error{"containers cluster-init.io/cluster": broken}},
		"inspect":    {engine: map[string]error{"inspect demo-x": broken}},
		"volumes":    {engine: map[string]error{"volumes": broken}},
		"cloud":      {cloud: &project.Cloud{LookError: broken}},
		"a kind":     {cloud: &project.Cloud{Unknown: map[openstack.Kind]error{openstack.KindPort: broken}}},
	} {
		t.Run(question, func(t *testing.T) {
			e := engine()
			e.fails = fails.engine
			var c provider.Leftovers
			if fails.cloud != nil {
				c = leftIn(fails.cloud)
			}
			if _, err := cleanup.Survey(t.Context(), e, c); !errors.Is(err, broken) {
				t.Error(err)
			}
		})
	}
}
