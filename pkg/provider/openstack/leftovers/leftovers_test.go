package leftovers_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/project"
	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/openstack/leftovers"
)

// found returns what Look finds of a project, by ID.
func found(t *testing.T, cloud *project.Cloud) map[string]provider.Leftover {
	t.Helper()
	byID := map[string]provider.Leftover{}
	for _, l := range look(t, target, cloud).Delete {
		byID[l.ID] = l
	}
	return byID
}

// What the cloud answers is said in words of the seam, and the text of a refusal stays the cloud's own.
func TestDelete(t *testing.T) {
	network, port, routed := "network/"+net, "port/free", "router-interface/ns-a"
	refusal := func(code int, temporary bool) error {
		return &openstack.Refusal{Code: code, Message: fmt.Sprint(code), Temporary: temporary}
	}
	free := []openstack.Resource{project.Resource(openstack.KindPort, "free", project.Tagged("ns-a")),
		project.Cluster("a", false)[4], project.Cluster("a", false)[5],
		project.Cluster("a", false)[6], project.Cluster("a", false)[7]}
	for name, tc := range map[string]struct {
		id     string
		answer error
		gone   bool
		says   string // empty: no error, or ErrGone
		absent bool
		again  bool
	}{
		"it goes":                             {id: port, gone: true},
		"an interface goes at its own router": {id: routed, gone: true},
		"it is not there":                     {id: port, answer: openstack.ErrNotFound, absent: true},
		"it is in use":                        {id: network, says: "in use", again: true},
		"it is refused for a while":           {id: port, answer: refusal(409, true), says: "409", again: true},
		"it is forbidden":                     {id: port, answer: refusal(403, false), says: "403"},
	} {
		t.Run(name, func(t *testing.T) {
			cloud := &project.Cloud{Resources: slices.Clone(free), Answers: map[openstack.Ref][]error{}}
			l, is := found(t, cloud)[tc.id]
			if !is {
				t.Fatalf("%s is not found", tc.id)
			}
			if tc.answer != nil {
				cloud.Answers[openstack.Ref{Kind: openstack.Kind(l.Kind), ID: l.ID}] = []error{tc.answer}
			}
			gone, err := leftovers.Project{Cloud: cloud}.Delete(t.Context(), l)
			if gone != tc.gone || errors.Is(err, provider.ErrGone) != tc.absent || fault.CanRetry(err) != tc.again {
				t.Errorf("gone %v, may be asked again %v, %v", gone, fault.CanRetry(err), err)
			}
			if said := err != nil && !tc.absent; said != (tc.says != "") || said &&
				!strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v does not say %q", err, tc.says)
			}
		})
	}
}

func TestGoing(t *testing.T) {
	server := project.Ref(openstack.KindServer, "a-cp-x")
	cloud := &project.Cloud{Resources: project.Cluster("a", false)[:1],
		Takes: map[openstack.Ref][]string{server: {"active", "soft-delete", "error"}}, Going: map[openstack.Ref]bool{}}
	p, l := leftovers.Project{Cloud: cloud}, provider.Leftover{Kind: "server", ID: server.ID}
	for i, want := range []bool{true, true, false} {
		if going, err := p.Going(t.Context(), l); going != want || err != nil {
			t.Errorf("look %d: %v, %v", i, going, err)
		}
	}
	cloud.Drop(server)
	if _, err := p.Going(t.Context(), l); !errors.Is(err, provider.ErrGone) {
		t.Error(err)
	}
}

// What must not go before a leftover is in it: what it uses, and what proves it; of its own kind nothing, as groups use
// each other in a circle.
func TestWhatGoesFirst(t *testing.T) {
	all := found(t, &project.Cloud{Resources: project.Cluster("a", false)})
	root := all["volume/a-cp-x-root"]
	if root.PartOf != "server/a-cp-x" || len(root.Uses) > 0 || !slices.Equal(root.ProvenBy, []string{"port/a-cp-x-0"}) {
		t.Errorf("the volume of a server: %+v", root)
	}
	for _, name := range []string{"controlplane", "worker"} {
		if group := all["security-group/k8s-cluster-ns-a-secgroup-"+name]; group.ID == "" || len(group.Uses) > 0 {
			t.Errorf("a security group: %+v", group)
		}
	}
	if subnet := all["subnet/"+net]; !slices.Equal(subnet.Uses, []string{"network/" + net}) {
		t.Errorf("the subnet: %+v", subnet)
	}
	for id, l := range all {
		if l.Machine != (l.Kind == "server") || l.Where != "openstack" {
			t.Errorf("%s: %+v", id, l)
		}
	}
}

// Nova leaves out servers: whether all are known shows with the ports. Interfaces come with the list of ports.
func TestWhatIsUnknown(t *testing.T) {
	for kind, tc := range map[openstack.Kind]struct {
		machines bool
		unknown  []string // kinds of which nothing counts as gone
	}{
		openstack.KindServer: {true, []string{"server"}},
		openstack.KindPort:   {true, []string{"port", "router-interface"}},
		openstack.KindVolume: {false, []string{"volume"}},
	} {
		f := look(t, target, &project.Cloud{Unknown: map[openstack.Kind]error{kind: errors.New("500")}})
		if len(f.Unknown) != 1 || f.Unknown[0].Machines != tc.machines {
			t.Errorf("%s: %+v", kind, f.Unknown)
		}
		for _, k := range []string{"server", "port", "router-interface", "volume", "network"} {
			if f.Gone(k, "x") == slices.Contains(tc.unknown, k) {
				t.Errorf("%s is unknown: of kind %s something is gone: %v", kind, k, f.Gone(k, "x"))
			}
		}
	}
	if f := look(t, target, &project.Cloud{Resources: project.Cluster("b", false)}); f.Gone(
		"server", "server/b-cp-x") || !f.Gone("server", "server/a-cp-x") {
		t.Error("what is listed is there, whoever it belongs to")
	}
}

func TestSurvey(t *testing.T) {
	cloud := &project.Cloud{Resources: append(project.Cluster("a", false), project.Resource(openstack.KindPort, "p",
		project.Tagged("ns-a-b")), project.Resource(openstack.KindVolume, "users"),
		project.Resource(openstack.KindFloatingIP, "untagged",
			project.Described("Created by cluster-init for the API server of cluster ns-c")),
		project.Resource(openstack.KindPort, "reserved",
			project.Described("Created by cluster-init for the API server of cluster ns-d")))}
	all, err := leftovers.Project{Cloud: cloud}.Survey(t.Context())
	if want := []provider.Remains{{Cluster: "ns-a", Where: "openstack", Things: 8},
		{Cluster: "ns-a-b", Where: "openstack", Things: 1}, {Cluster: "ns-c", Where: "openstack", Things: 1},
		{Cluster: "ns-d", Where: "openstack", Things: 1}}; !slices.Equal(all, want) || err != nil {
		t.Errorf("%v, %v", all, err)
	}
	broken := errors.New("no answer")
	for _, c := range []*project.Cloud{{LookError: broken},
		{Unknown: map[openstack.Kind]error{openstack.KindPort: broken}}} {
		if all, err := (leftovers.Project{Cloud: c}).Survey(t.Context()); !errors.Is(err, broken) || all != nil {
			t.Errorf("%v, %v", all, err)
		}
	}
}

// What has no name is called by its ID, wherever a person reads it.
func TestWhatHasNoNameIsCalledByItsID(t *testing.T) {
	nameless := func(r *openstack.Resource) { r.Name = "" }
	cloud := &project.Cloud{Resources: append(project.Cluster("a", false),
		project.Resource(openstack.KindPort, "bare", project.Tagged("ns-a"), nameless),
		project.Resource(openstack.KindTrunk, "part", project.PartOf(openstack.KindPort, "bare")))}
	found, err := leftovers.Project{Cloud: cloud, Cluster: leftovers.Cluster{Namespace: "ns", Name: "a"}}.Look(
		t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]provider.Leftover{}
	for _, l := range found.Delete {
		seen[l.ID] = l
	}
	if got := seen["port/bare"].Name; got != "port/bare" {
		t.Errorf("the port is called %q", got)
	}
	if got := seen["trunk/part"].Proof; got != "part of port port/bare" {
		t.Errorf("the trunk is %q", got)
	}
}
