package cleanup_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
	"github.com/cluster-init/cluster-init/pkg/internal/project"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

func TestPrint(t *testing.T) {
	resources := append(project.Cluster("a", false), project.Resource(openstack.KindSnapshot, "snap",
		project.Property("ns-a"), project.Uses(openstack.KindVolume, "pvc")),
		project.Resource(openstack.KindVolume, "pvc", project.Property("ns-a")))
	users := []openstack.Resource{
		project.Resource(openstack.KindServer, "jump", project.Uses(openstack.KindPort, "jump")),
		project.Resource(openstack.KindPort, "jump", project.Uses(openstack.KindNetwork, net),
			project.Uses(openstack.KindSubnet, net), project.Uses(openstack.KindInterface, "ns-a"),
			project.PartOf(openstack.KindServer, "jump")),
	}
	unknown := map[openstack.Kind]error{openstack.KindFloatingIP: errors.New(
		"listing floatingips: 500 Internal Server Error")}
	var out bytes.Buffer
	for _, cloud := range []*project.Cloud{{}, {Resources: resources},
		{Resources: append(append(resources, project.Cluster("a-b", false)[:2]...), users...), Unknown: unknown}} {
		c := cleanup.Cleaner{Engine: &fakeEngine{containers: nodes("/etc/cluster-init.io/cluster/a")},
			Cloud: leftIn(cloud), Target: target, Patience: time.Minute}
		if cloud.Resources == nil {
			c.Engine = &fakeEngine{}
		}
		plan, err := c.Plan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Print(&out); err != nil {
			t.Fatal(err)
		}
		out.WriteString("---\n")
	}
	insisted := cleanup.Plan{Cluster: "a",
		Unknown: []cleanup.NotChecked{{Kind: cleanup.AllOfCloud, Reason: "AWS: it cannot be listed from here"}},
		Refused: "machines exist (a-cp-x); and it is not known whether a manages itself"}
	if err := insisted.Print(&out); err != nil {
		t.Fatal(err)
	}
	out.WriteString("---\n")
	receipt := cleanup.Receipt{Cluster: "a", Deleted: make([]cleanup.Result, 3), AlreadyGone: make([]cleanup.Result, 1),
		Kept: []cleanup.Result{{Item: cleanup.Item{Kind: cleanup.Image, Name: image},
			Reason: "registry b-registry uses it"}},
		CouldNot: []cleanup.Result{{Item: cleanup.Item{Kind: "port", ID: "123"}, Reason: "409 Conflict: in use"}},
		Unknown:  []cleanup.NotChecked{{Kind: "server", Reason: "listing servers: no answer"}}}
	if err := receipt.Print(&out); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "print.txt", out.Bytes())
}
