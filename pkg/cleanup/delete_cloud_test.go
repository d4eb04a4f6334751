package cleanup_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/project"
	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/openstack/leftovers"
)

var target = cleanup.Target{Namespace: "ns", Cluster: "a"}

// The resources of cluster a on a user's network.
const (
	net      = "k8s-clusterapi-cluster-ns-a"
	topology = "subnet/" + net + " network/" + net
	routing  = "router/" + net + " router-interface/ns-a"
)

// leftIn returns what cluster a has left in a cloud, as a real provider finds it.
func leftIn(cloud *project.Cloud) provider.Leftovers {
	return leftovers.Project{Cloud: cloud, Cluster: leftovers.Cluster{Namespace: target.Namespace,
		Name: target.Cluster}}
}

func planOf(t *testing.T, cloud *project.Cloud) cleanup.Plan {
	t.Helper()
	plan, err := cleanup.Cleaner{Engine: &fakeEngine{}, Cloud: leftIn(cloud), Target: target}.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func ids(items []cleanup.Item) []string {
	list := []string{}
	for _, i := range items {
		list = append(list, i.ID)
	}
	slices.Sort(list)
	return list
}

func fields(text string) []string {
	list := strings.Fields(text)
	slices.Sort(list)
	return list
}

func clean(ctx context.Context, t *testing.T, engine *fakeEngine, cloud *project.Cloud, files ...string) (
	cleanup.Receipt, error) {
	t.Helper()
	of := target
	of.Files = files
	c := cleanup.Cleaner{Engine: engine, Cloud: leftIn(cloud), Target: of, Patience: time.Minute}
	plan, err := c.Plan(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return c.Run(ctx, plan)
}

func results(list []cleanup.Result) []string {
	ids := []string{}
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	slices.Sort(ids)
	return ids
}

func refused(code int, temporary bool) error {
	return &openstack.Refusal{Code: code, Message: fmt.Sprint(code), Temporary: temporary}
}

func TestEverythingOfACluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := project.Ref(openstack.KindVolume, "a-cp-x-root")
		cloud := &project.Cloud{Resources: append(project.Cluster("a", false), project.Cluster("a-b", false)...),
			Going: map[openstack.Ref]bool{},
			Takes: map[openstack.Ref][]string{project.Ref(openstack.KindServer, "a-cp-x"): {"active", "active",
				"active"}, root: {"deleting"}}}
		receipt, err := clean(t.Context(), t, &fakeEngine{}, cloud)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := results(receipt.Deleted), project.IDs(project.Cluster("a", false)); !slices.Equal(got, want) ||
			len(receipt.AlreadyGone)+len(receipt.CouldNot) > 0 {
			t.Errorf("deleted %v\nwant    %v\n%+v", got, want, receipt)
		}
		if got := project.IDs(cloud.Resources); !slices.Equal(got, project.IDs(project.Cluster("a-b", false))) {
			t.Errorf("left %v", got)
		}
		// Nothing was requested before its users were gone, so nothing had to be requested twice.
		if cloud.Asked != len(project.Cluster("a", false)) {
			t.Errorf("%d requests for %d resources, in the order %v", cloud.Asked, len(project.Cluster("a", false)),
				cloud.Deleted)
		}
	})
}

func TestDeletionsThatFail(t *testing.T) {
	network, server, port := project.Ref(openstack.KindNetwork, net), project.Ref(openstack.KindServer, "a-cp-x"),
		project.Ref(openstack.KindPort, "a-cp-x-0")
	conflict, ill, silent, forbidden := refused(409, true), refused(500, true), refused(0, true), refused(403, false)
	for name, tc := range map[string]struct {
		answers  map[openstack.Ref][]error
		forever  map[openstack.Ref]error
		takes    map[openstack.Ref][]string
		couldNot string
		gone     string
		why      string
		within   time.Duration
	}{
		"for a while": {answers: map[openstack.Ref][]error{network: {conflict, ill, silent},
			server: {ill, conflict}, port: {silent}}, within: time.Minute},
		"an answer that is lost": {answers: map[openstack.Ref][]error{server: {silent, openstack.ErrNotFound}},
			within: time.Minute},
		"gone already": {answers: map[openstack.Ref][]error{port: {openstack.ErrNotFound}}, gone: port.ID,
			within: time.Minute},
		"for ever": {forever: map[openstack.Ref]error{network: conflict}, couldNot: network.ID,
			why: "409", within: 3 * time.Minute},
		"forbidden": {forever: map[openstack.Ref]error{network: forbidden}, couldNot: network.ID,
			why: "403", within: 30 * time.Second},
		"what others need to go first": {forever: map[openstack.Ref]error{server: forbidden},
			couldNot: server.ID + " " + port.ID + " volume/a-cp-x-root server-group/ns-a-control-plane " + topology +
				" " + routing + " security-group/k8s-cluster-ns-a-secgroup-controlplane", within: time.Minute},
		"a deletion that does not work at first": {takes: map[openstack.Ref][]string{server: {"active", "error",
			"error", "active"}}, within: time.Minute},
		"a deletion without an end": {takes: map[openstack.Ref][]string{project.Ref(openstack.KindVolume,
			"a-cp-x-root"): slices.Repeat([]string{"deleting"}, 1000)},
			couldNot: "volume/a-cp-x-root " + port.ID + " " + topology + " " + routing +
				" security-group/k8s-cluster-ns-a-secgroup-controlplane", why: "does not come to an end",
			within: 4 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				cloud := &project.Cloud{Resources: project.Cluster("a", false), Answers: tc.answers,
					Forever: tc.forever, Takes: tc.takes, Going: map[openstack.Ref]bool{}}
				receipt, err := clean(t.Context(), t, &fakeEngine{}, cloud)
				if got := results(receipt.CouldNot); !slices.Equal(got, fields(tc.couldNot)) {
					t.Errorf("could not %v\nwant      %v", got, fields(tc.couldNot))
				}
				if took := time.Since(start); took > tc.within {
					t.Errorf("took %s", took)
				}
				if tc.couldNot == "" {
					if err != nil {
						t.Error(err)
					}
					return
				}
				// What a policy forbids would also fail in another run.
				forbids := slices.ContainsFunc(receipt.CouldNot, func(r cleanup.Result) bool { return r.Forbidden })
				if fault.CodeOf(err) != fault.CleanupFailed || fault.CanRetry(err) == forbids {
					t.Errorf("%s: %v", fault.CodeOf(err), err)
				}
				for _, r := range receipt.CouldNot {
					if r.Reason == "" || r.ID == strings.Fields(tc.couldNot)[0] && !strings.Contains(r.Reason, tc.why) {
						t.Errorf("%s: %q does not say %q", r.ID, r.Reason, tc.why)
					}
				}
			})
		})
	}
}

// Wherever a run is killed, the next one can prove all that is left: a proof is deleted after what it proves.
func TestProvenAfterEachDeletion(t *testing.T) {
	for _, bare := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			mark := project.Tagged("ns-a")
			if bare {
				mark = project.Described("Created by cluster-api-provider-openstack cluster a")
			}
			root := project.Resource(openstack.KindVolume, "a-md-y-root", project.Described("Root volume for a-md-y"))
			everything := append(project.Cluster("a", bare), root, project.Resource(openstack.KindPort, "a-md-y-0",
				mark, project.Uses(openstack.KindNetwork, net)))
			slow := map[openstack.Ref][]string{root.Ref: {"deleting", "deleting"},
				project.Ref(openstack.KindVolume, "a-cp-x-root"): {"deleting"}}
			cloud := &project.Cloud{Resources: slices.Clone(everything), Going: map[openstack.Ref]bool{}, Takes: slow}
			if _, err := clean(t.Context(), t, &fakeEngine{}, cloud); err != nil {
				t.Fatal(err)
			}
			left := slices.Clone(everything)
			for _, gone := range cloud.Deleted {
				left = slices.DeleteFunc(left, func(r openstack.Resource) bool { return r.Ref == gone })
				for i := range left { // it is no longer part of anything
					if left[i].PartOf == gone {
						left[i].PartOf = openstack.Ref{}
					}
				}
				if got := ids(planOf(t, &project.Cloud{Resources: slices.Clone(left)}).Delete); !slices.Equal(
					got, project.IDs(left)) {
					t.Errorf("bare %v, after %s: deletes %v\nwant %v", bare, gone.ID, got, project.IDs(left))
				}
			}
			if len(left) > 0 {
				t.Errorf("left: %v", project.IDs(left))
			}
		})
	}
}

// While anything is deleted, refused requests are retried, however long that takes. The retries end a bounded time
// after the last progress.
func TestPatienceCountsFromTheLastProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var volumes []openstack.Resource
		takes := map[openstack.Ref][]string{}
		for i := range 6 { // each takes longer than the one before
			v := project.Resource(openstack.KindVolume, fmt.Sprintf("pvc-%d", i), project.Property("ns-a"))
			volumes = append(volumes, v)
			takes[v.Ref] = slices.Repeat([]string{"deleting"}, 8*(i+1))
		}
		last := volumes[5]
		stubborn := project.Resource(openstack.KindVolume, "stubborn", project.Property("ns-a"))
		cloud := &project.Cloud{Resources: append(volumes, stubborn), Takes: takes, Going: map[openstack.Ref]bool{},
			Forever: map[openstack.Ref]error{stubborn.Ref: refused(409, true)}}
		start := time.Now()
		var given []string // items that could not be deleted
		c := cleanup.Cleaner{Engine: &fakeEngine{}, Cloud: leftIn(cloud), Target: target, Patience: time.Minute,
			OnResult: func(r cleanup.Result) {
				cloud.Lock()
				defer cloud.Unlock()
				if r.Outcome == cleanup.CouldNot {
					given = append(given, r.ID)
				}
			}}
		receipt, _ := c.Run(t.Context(), cleanup.Plan{})
		// in two rounds
		if !slices.Contains(results(receipt.Deleted), last.ID) ||
			!slices.Equal(given, []string{stubborn.ID, stubborn.ID}) {
			t.Errorf("gave up %v; %+v", given, receipt)
		}
		if took := time.Since(start); took < 3*time.Minute || took > 8*time.Minute {
			t.Errorf("took %s", took)
		}
	})
}

// If a policy forbids the deletion of floating IPs, everything else is deleted, including the state folder. The error
// names the floating IP that is left for the administrator.
func TestAFloatingIPThatPolicyKeepsHoldsUpNothingElse(t *testing.T) {
	address := project.Ref(openstack.KindFloatingIP, "203.0.113.a")
	for name, tc := range map[string]struct {
		bound    error
		left     string // IDs
		released bool
	}{
		"it can be disassociated":     {nil, address.ID, true},
		"nor can it be disassociated": {refused(403, false), address.ID, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cloud := &project.Cloud{Resources: project.Cluster("a", false), Going: map[openstack.Ref]bool{},
					Forever: map[openstack.Ref]error{address: refused(403, false)},
					Bound:   map[openstack.Ref]error{address: tc.bound}}
				file := filepath.Join(t.TempDir(), "state")
				if err := os.Mkdir(file, 0o700); err != nil {
					t.Fatal(err)
				}
				receipt, err := clean(t.Context(), t, &fakeEngine{}, cloud, file)
				_, gone := os.Stat(file)
				if tc.released && !slices.Equal(results(receipt.CouldNot), fields(tc.left)) ||
					!slices.Contains(results(receipt.CouldNot), address.ID) {
					t.Errorf("could not delete %v, want %v", results(receipt.CouldNot), fields(tc.left))
				}
				if os.IsNotExist(gone) != tc.released {
					t.Errorf("the state folder: %v", gone)
				}
				if fault.CodeOf(err) != fault.CleanupFailed ||
					!strings.Contains(fault.HintOf(err),
						"Ask an administrator of the cloud to delete floating-ip 203.0.113.a (ID "+address.ID+").") {
					t.Errorf("%v\nhint: %s", err, fault.HintOf(err))
				}
				if tc.released && fault.CanRetry(err) {
					t.Error("another run is advised, which could do no more")
				}
			})
		})
	}
}

// The next observation finds what is recreated during the deletion. The number of rounds is limited.
func TestLooksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for made, fails := range map[int]bool{2: false, 1000: true} {
			cloud := &project.Cloud{Going: map[openstack.Ref]bool{},
				Resources: []openstack.Resource{project.Resource(openstack.KindPort, "port-0", project.Tagged("ns-a"))}}
			count := 0
			cloud.OnDelete = func(openstack.Resource) {
				if count++; count <= made {
					cloud.Lock()
					defer cloud.Unlock()
					cloud.Resources = append(cloud.Resources,
						project.Resource(openstack.KindPort, fmt.Sprintf("port-%d", count), project.Tagged("ns-a")))
				}
			}
			receipt, err := clean(t.Context(), t, &fakeEngine{}, cloud)
			if (err != nil) != fails || !fails && len(receipt.Deleted) != made+1 {
				t.Errorf("made %d: %v, %+v", made, err, receipt)
			}
		}
	})
}

// What another process deleted meanwhile is not reported as left.
func TestGoneAfterAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := project.Resource(openstack.KindPort, "other", project.Tagged("ns-a"))
		cloud := &project.Cloud{Resources: []openstack.Resource{other, project.Resource(openstack.KindPort, "port",
			project.Tagged("ns-a"))}, Forever: map[openstack.Ref]error{other.Ref: refused(403, false)}}
		cloud.OnDelete = func(r openstack.Resource) {
			cloud.Lock()
			defer cloud.Unlock()
			if r.Ref == other.Ref {
				cloud.Drop(other.Ref)
			}
		}
		receipt, err := clean(t.Context(), t, &fakeEngine{}, cloud)
		if err != nil || len(receipt.Deleted) != 2 {
			t.Errorf("%v, %+v", err, receipt)
		}
	})
}

// Nova omits servers from its list that still exist: each is requested once more by itself.
func TestServerThatIsNotListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := project.Ref(openstack.KindServer, "a-cp-x")
		// This is deleted, so that there is a second observation.
		other := project.Resource(openstack.KindPort, "other", project.Tagged("ns-a"))
		cloud := &project.Cloud{Resources: append(project.Cluster("a", false)[:1], other),
			Going: map[openstack.Ref]bool{}, Hidden: map[openstack.Ref]bool{},
			Takes: map[openstack.Ref][]string{server: slices.Repeat([]string{"soft_deleted"}, 1000)}}
		cloud.OnDelete = func(openstack.Resource) {
			cloud.Lock()
			defer cloud.Unlock()
			cloud.Hidden[server] = true
		}
		receipt, err := clean(t.Context(), t, &fakeEngine{}, cloud)
		if fault.CodeOf(err) != fault.CleanupFailed || !slices.Equal(results(receipt.CouldNot), []string{server.ID}) {
			t.Errorf("%v, %+v", err, receipt)
		}
	})
}

// Cleanup keeps a cluster of the same name that is created again, whenever it observes that.
func TestMadeTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		made := func(name string, at time.Time) openstack.Resource {
			port := project.Resource(openstack.KindPort, name, project.Tagged("ns-a"))
			port.Created = at
			return port
		}
		cloud := &project.Cloud{Resources: []openstack.Resource{made("old", begun.Add(-time.Hour))},
			Going: map[openstack.Ref]bool{}}
		cloud.OnDelete = func(openstack.Resource) {
			cloud.Lock()
			defer cloud.Unlock()
			cloud.Resources = append(cloud.Resources, made("new", begun))
		}
		receipt, err := cleanup.Cleaner{Engine: &fakeEngine{}, Cloud: leftIn(cloud), Target: target,
			Patience: time.Minute, MadeBefore: begun.Add(-time.Minute)}.Run(t.Context(), cleanup.Plan{})
		if fault.CodeOf(err) != fault.CleanupFailed || !strings.Contains(err.Error(), "port new was made 0s ago") ||
			cloud.Asked != 1 || len(receipt.Deleted) != 1 {
			t.Errorf("%v, %d requests, %+v", err, cloud.Asked, receipt)
		}
	})
}

// Unknown resources also keep the cluster.
func TestMadeNobodyKnowsWhen(t *testing.T) {
	old := project.Resource(openstack.KindPort, "old", project.Tagged("ns-a"))
	old.Created = time.Now().Add(-time.Hour)
	for before, asked := range map[time.Time]int{time.Now(): 0, {}: 1} {
		cloud := &project.Cloud{Resources: []openstack.Resource{old},
			Unknown: map[openstack.Kind]error{openstack.KindLoadBalancer: refused(500, true)}}
		_, err := cleanup.Cleaner{Engine: &fakeEngine{}, Cloud: leftIn(cloud), Target: target, Patience: time.Minute,
			MadeBefore: before}.Run(t.Context(), cleanup.Plan{})
		if fault.CodeOf(err) != fault.CleanupFailed || cloud.Asked != asked {
			t.Errorf("made before %s: %v, %d requests, want %d", before, err, cloud.Asked, asked)
		}
	}
}

// An interrupt does not cancel a request in flight: its outcome is known.
func TestInterruptWaitsForAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cloud := &project.Cloud{Resources: project.Cluster("a", false)[3:4]}
		cloud.OnDelete = func(openstack.Resource) { cancel() }
		receipt, err := clean(ctx, t, &fakeEngine{}, cloud)
		if fault.CodeOf(err) != fault.Interrupted || len(receipt.Deleted) != 1 {
			t.Errorf("%v, %+v", err, receipt)
		}
	})
}

func TestAtMostEightRequestsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cloud := &project.Cloud{Going: map[openstack.Ref]bool{}}
		for i := range 50 {
			cloud.Resources = append(cloud.Resources, project.Resource(openstack.KindPort, fmt.Sprint(i),
				project.Tagged("ns-a")))
		}
		cloud.OnDelete = func(openstack.Resource) {
			cloud.Lock()
			cloud.AtOnce++
			cloud.Most = max(cloud.Most, cloud.AtOnce)
			cloud.Unlock()
			time.Sleep(time.Second) // of the bubble's clock
			cloud.Lock()
			cloud.AtOnce--
			cloud.Unlock()
		}
		start := time.Now()
		receipt, err := clean(t.Context(), t, &fakeEngine{}, cloud)
		if err != nil || len(receipt.Deleted) != 50 || cloud.Most != 8 || time.Since(start) != 7*time.Second {
			t.Errorf("%d at a time, %s, %v", cloud.Most, time.Since(start), err)
		}
	})
}

// After the first interrupt no deletion begins. Those in flight end, and the receipt is complete.
func TestInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cloud := &project.Cloud{Resources: project.Cluster("a", false), Going: map[openstack.Ref]bool{},
			Takes: map[openstack.Ref][]string{project.Ref(openstack.KindServer, "a-cp-x"): slices.Repeat(
				[]string{"active"}, 100)}}
		go func() {
			time.Sleep(10 * time.Second)
			cancel()
		}()
		receipt, err := clean(ctx, t, &fakeEngine{}, cloud)
		if fault.CodeOf(err) != fault.Interrupted || !fault.CanRetry(err) {
			t.Errorf("%s: %v", fault.CodeOf(err), err)
		}
		told := len(receipt.Deleted) + len(receipt.AlreadyGone) + len(receipt.CouldNot)
		if told != len(project.Cluster("a", false)) || !slices.Contains(results(receipt.Deleted),
			"floating-ip/203.0.113.a") || !slices.Contains(results(receipt.CouldNot), "server/a-cp-x") {
			t.Errorf("%+v", receipt)
		}
		again, err := clean(t.Context(), t, &fakeEngine{}, &project.Cloud{Resources: cloud.Resources,
			Going: cloud.Going})
		if err != nil || len(again.CouldNot) > 0 {
			t.Errorf("again: %v, %+v", err, again)
		}
	})
}

// Controllers on this machine are deleted before what they would recreate. The kubeconfig is deleted last, when all
// else is gone.
func TestOrderOfSystems(t *testing.T) {
	engine := func() *fakeEngine {
		f := &fakeEngine{fails: map[string]error{}}
		f.containers = nodes("/etc/cluster-init.io/cluster/a")
		return f
	}
	refuses := errors.New("the engine refuses")
	for name, tc := range map[string]struct {
		engineFails string
		forever     map[openstack.Ref]error
		more        []openstack.Resource
		unknown     map[openstack.Kind]error
		cloudAsked  bool
		fileStays   bool
	}{
		"all goes":                    {cloudAsked: true},
		"the bootstrap cluster stays": {engineFails: "remove container a-bootstrap-control-plane", fileStays: true},
		"the registry stays": {engineFails: "remove container a-registry", cloudAsked: true,
			fileStays: true},
		"something in the cloud stays": {forever: map[openstack.Ref]error{project.Ref(openstack.KindNetwork,
			net): refused(403, false)}, cloudAsked: true, fileStays: true},
		"somebody needs something": {more: []openstack.Resource{project.Resource(openstack.KindPort, "vip",
			project.Uses(openstack.KindNetwork, net))}, cloudAsked: true, fileStays: true},
		"the cloud does not tell of all": {unknown: map[openstack.Kind]error{openstack.KindFloatingIP: refuses},
			cloudAsked: true, fileStays: true},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "state")
			if err := os.Mkdir(file, 0o700); err != nil {
				t.Fatal(err)
			}
			e := engine()
			if tc.engineFails != "" {
				e.fails[tc.engineFails] = refuses
			}
			var firstAsked []string
			cloud := &project.Cloud{Resources: append(project.Cluster("a", false), tc.more...), Forever: tc.forever,
				Unknown: tc.unknown, Going: map[openstack.Ref]bool{}}
			cloud.OnDelete = func(openstack.Resource) {
				cloud.Lock()
				defer cloud.Unlock()
				if firstAsked == nil {
					firstAsked = slices.Clone(e.deleted)
				}
			}
			_, err := clean(t.Context(), t, e, cloud, file)
			if tc.cloudAsked != (cloud.Asked > 0) || tc.cloudAsked &&
				!slices.Equal(firstAsked, []string{"container a-bootstrap-control-plane"}) {
				t.Errorf("%d requests to the cloud, after %v", cloud.Asked, firstAsked)
			}
			if _, gone := os.Stat(file); (gone == nil) != tc.fileStays || (err != nil) != tc.fileStays {
				t.Errorf("file: %v, error %v", gone, err)
			}
		})
	}
}

// A VIP is a port of the user's own: it stays, with all that it needs, and no output reports that all is gone. Once it
// is deleted the rest is deleted, too.
func TestTheVIPStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		vip := project.Resource(openstack.KindPort, "vip", project.Uses(openstack.KindNetwork, net),
			project.Uses(openstack.KindSubnet, net), project.Uses(openstack.KindInterface, "ns-a"))
		cloud := &project.Cloud{Resources: append(project.Cluster("a", false), vip), Going: map[openstack.Ref]bool{}}
		receipt, err := clean(t.Context(), t, &fakeEngine{}, cloud)
		if fault.CodeOf(err) != fault.CleanupFailed ||
			!strings.Contains(err.Error(), "port vip, which is not the cluster's, uses it") {
			t.Errorf("%s: %v", fault.CodeOf(err), err)
		}
		stays := append(fields(topology+" "+routing), vip.ID)
		slices.Sort(stays)
		if left := project.IDs(cloud.Resources); !slices.Equal(left, stays) {
			t.Errorf("left  %v\nstays %v", left, stays)
		}
		if got := results(receipt.CouldNot); !slices.Equal(got, fields(topology+" "+routing)) ||
			len(receipt.Deleted) != len(project.Cluster("a", false))-len(got) {
			t.Errorf("%+v", receipt)
		}
		cloud.Drop(vip.Ref)
		if _, err := clean(t.Context(), t, &fakeEngine{}, cloud); err != nil || len(cloud.Resources) > 0 {
			t.Errorf("without it: %v, left %v", err, project.IDs(cloud.Resources))
		}
	})
}

func TestPlanFailsWithTheCloud(t *testing.T) {
	broken := errors.New("no project")
	_, err := cleanup.Cleaner{Engine: &fakeEngine{}, Cloud: leftIn(&project.Cloud{LookError: broken}),
		Target: target}.Plan(t.Context())
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}
