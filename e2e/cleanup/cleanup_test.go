//go:build openstack

package cleanup

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// scene is three clusters in one project, whose names begin like each other's, and what users have next to them.
type scene struct {
	*project
	a, ab, abc state // of the clusters
	users      state
	foreign    []string // a user's server on the network of a-b, its port and floating IP, and a port on that of a-b-c
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{project: newProject(t)}
	at := s.state(t)
	since := func() state {
		before := at
		at = s.state(t)
		return at.without(before)
	}
	s.newCluster(t, "a", 1, 3)
	s.a = since()
	ab := s.newCluster(t, "a-b", 2, 2)
	s.ab = since()
	abc := s.newCluster(t, "a-b-c", 3, 2)
	s.abc = since()
	port := s.call(t, s.Network, "POST", "ports",
		obj{"port": obj{"name": "a-b-jumphost", "network_id": ab.network}}).id("port")
	server := s.server(t, obj{"name": "a-b-jumphost", "imageRef": s.image, "flavorRef": s.flavor,
		"networks": []obj{{"port": port}}})
	s.awaits(t, s.Compute, "servers/"+server, "server", "ACTIVE")
	s.call(t, s.Network, "POST", "floatingips",
		obj{"floatingip": obj{"floating_network_id": s.external, "port_id": port}})
	s.call(t, s.Network, "POST", "floatingips",
		obj{"floatingip": obj{"floating_network_id": s.external, "description": "reserved"}})
	vip := s.call(t, s.Network, "POST", "ports", obj{"port": obj{"name": "vip", "network_id": abc.network}}).id("port")
	s.foreign = []string{"servers/" + server, "ports/" + port, "ports/" + vip}
	for _, name := range []string{"", "backup", "a-data", "a-md-0-00000-root", "k8s-clusterapi-cluster-management-a"} {
		s.awaits(t, s.BlockStorage, "volumes/"+s.volume(t, obj{"name": name}), "volume", "available")
	}
	s.users = since()
	return s
}

// all joins states.
func all(states ...state) state {
	joined := state{}
	for _, s := range states {
		maps.Copy(joined, s)
	}
	return joined
}

// only keeps kinds.
func only(s state, kinds ...string) state {
	rest := maps.Clone(s)
	maps.DeleteFunc(rest, func(key, _ string) bool {
		kind, _, _ := strings.Cut(key, "/")
		return !slices.Contains(kinds, kind)
	})
	return rest
}

// routing is a cluster's network, subnet, router and the interface between them.
func routing(cluster state) state {
	stays := only(cluster, "networks", "subnets", "routers")
	for key, text := range only(cluster, "ports") {
		if strings.Contains(text, "network:router_interface") {
			stays[key] = text
		}
	}
	return stays
}

func TestCleanup(t *testing.T) {
	s := newScene(t)
	everything := s.state(t)
	others := func() state { return everything.without(s.a) }
	t.Logf("a: %v; all: %d", s.a.kinds(), len(everything))

	t.Run("without --yes nothing goes", func(t *testing.T) {
		e := run(t, s.command(t, "--cluster", namespace+"/a"), never)
		if e.code != 71 || len(e.plan.Delete) != len(s.a) || len(e.plan.Stays)+len(e.plan.Unknown) > 0 ||
			!strings.Contains(e.plan.Refused, "machines exist") {
			t.Errorf("exit code %d, %d to delete, want %d; %d stay; refused: %q\n%s", e.code, len(e.plan.Delete),
				len(s.a), len(e.plan.Stays), e.plan.Refused, e.stderr)
		}
		for _, item := range e.plan.Delete {
			if item.Proof == "" {
				t.Errorf("%s %s has no proof", item.Kind, item.Name)
			}
		}
		s.expect(t, "shown", everything)
	})

	// Its servers run, and it is not known whether it manages itself: this is any other machine, or another job of a
	// CI.
	t.Run("without --force nothing goes", func(t *testing.T) {
		for _, more := range [][]string{nil, {"--older-than", "1s"}} {
			e := run(t, s.command(t, append([]string{"--cluster", namespace + "/a", "--yes"}, more...)...), never)
			if e.code != 72 || !strings.Contains(e.stderr, "machines exist") ||
				!strings.Contains(e.stderr, "add --force a") {
				t.Errorf("%v: exit code %d\n%s", more, e.code, e.stderr)
			}
		}
		s.expect(t, "refused", everything)
	})

	t.Run("one of three, while deletions fail and the token ends", func(t *testing.T) {
		proxy := newProxy(t, 4, 60)
		c := s.command(t, "--cluster", namespace+"/a", "--yes", "--force", "a")
		c.Env = append(c.Env, "http_proxy="+proxy.URL)
		e := run(t, c, never)
		if e.code != 0 || len(e.receipt.CouldNot) > 0 || len(e.receipt.Deleted)+len(e.receipt.AlreadyGone) != len(s.a) {
			t.Errorf("exit code %d, receipt %+v\n%s", e.code, e.receipt, e.stderr)
		}
		s.expect(t, "after a", others())
		t.Logf("%s; faults %v", e.took, proxy.faults)
		for _, fault := range []string{"401", "409", "500", "504", "cut", "hang"} {
			if proxy.faults[fault] == 0 {
				t.Errorf("fault %s was not made: choose another seed", fault)
			}
		}
	})

	t.Run("again there is nothing", func(t *testing.T) {
		if e := run(t, s.command(t, "--cluster", namespace+"/a", "--yes"), never); e.code != 0 ||
			len(e.plan.Delete) > 0 {
			t.Errorf("exit code %d, %d to delete\n%s", e.code, len(e.plan.Delete), e.stderr)
		}
	})

	t.Run("an administrator is refused", func(t *testing.T) {
		s.assign(t, "PUT", s.ProjectID, "admin")
		before := s.state(t)
		if e := run(t, s.command(t, "--cluster", namespace+"/a-b", "--yes"), never); e.code != 72 ||
			!strings.Contains(e.stderr, "--allow-admin") {
			t.Errorf("exit code %d\n%s", e.code, e.stderr)
		}
		s.expect(t, "refused", before)
	})

	// What the user's server needs stays: its network, the subnet, the router and its interface. An administrator sees
	// other projects too, and none of their resources is taken.
	t.Run("a user's server on the network", func(t *testing.T) {
		e := run(t, s.command(t, "--cluster", namespace+"/a-b", "--yes", "--allow-admin", "--force", "a-b"), never)
		if e.code != 70 || len(e.receipt.CouldNot) != 4 || len(e.receipt.Deleted)+len(e.receipt.AlreadyGone) != len(
			s.ab)-4 {
			t.Errorf("exit code %d, could not: %+v\n%s", e.code, e.receipt.CouldNot, e.stderr)
		}
		s.assign(t, "DELETE", s.ProjectID, "admin")
		s.expect(t, "after a-b", all(s.users, s.abc, routing(s.ab), everything.without(all(s.a, s.ab, s.abc, s.users))))
	})

	// A VIP is a port that a user made on the cluster's network: it stays, with what it needs, and all else goes.
	t.Run("a user's VIP on the network", func(t *testing.T) {
		before := s.state(t)
		c := s.newCluster(t, "vip", 4, 1)
		own := s.state(t).without(before)
		vip := s.call(t, s.Network, "POST", "ports",
			obj{"port": obj{"name": "vip-of-a-user", "network_id": c.network}}).id("port")
		with := s.state(t)
		e := run(t, s.command(t, "--cluster", namespace+"/vip", "--yes", "--force", "vip"), never)
		if e.code != 70 || len(e.receipt.CouldNot) != 4 {
			t.Errorf("exit code %d, could not: %+v\n%s", e.code, e.receipt.CouldNot, e.stderr)
		}
		for _, left := range e.receipt.CouldNot {
			if left.Reason != "port vip-of-a-user, which is not the cluster's, uses it" {
				t.Errorf("%s stays, as %q", left.Kind, left.Reason)
			}
		}
		stays := routing(own)
		stays["ports/"+vip] = with["ports/"+vip]
		s.expect(t, "with the VIP", all(before, stays))
		s.call(t, s.Network, "DELETE", "ports/"+vip, nil)
		// no machine is left that would need --force
		if e := run(t, s.command(t, "--cluster", namespace+"/vip", "--yes"), never); e.code != 0 {
			t.Errorf("without the VIP: exit code %d, could not: %+v\n%s", e.code, e.receipt.CouldNot, e.stderr)
		}
		s.expect(t, "without the VIP", before)
	})

	t.Run("killed at random instants", func(t *testing.T) { s.killed(t) })
}

// killed cleans up a-b-c, and a-b once their users are gone, while the binary is killed again and again: at the n-th
// request, for a clock does not know whether a run is still alive.
func (s *scene) killed(t *testing.T) {
	for _, path := range s.foreign {
		service := s.Network
		if strings.HasPrefix(path, "servers/") {
			service = s.Compute
		}
		s.call(t, service, "DELETE", path, nil)
		eventually(t, "the user's "+path+" is gone", func() bool { return s.state(t)[path] == "" })
	}
	rest := s.state(t).without(all(s.ab, s.abc))
	random := rand.New(rand.NewPCG(7, 7))
	for _, name := range []string{"a-b", "a-b-c"} {
		looking, deleting := 0, 0
		for i := range 8 {
			at := moment{requests: 1 + random.IntN(10)} // while it looks, which takes more requests
			if i%2 > 0 {
				at = moment{deletions: 1 + random.IntN(i)}
			}
			e, seen := s.killedAt(t, name, at)
			switch {
			case e.code == 0:
			case e.code != -1:
				t.Fatalf("%s: exit code %d: %+v\n%s", name, e.code, e.receipt.CouldNot, e.stderr)
			case seen.deletions > 0:
				deleting++
			default:
				looking++
			}
			t.Logf("%s: kill -9 at %+v: exit code %d after %s, %d left", name, at, e.code, e.took,
				len(s.state(t).without(rest)))
		}
		if looking == 0 || deleting == 0 {
			t.Errorf("%s: killed %d times while it looked and %d times while it deleted", name, looking, deleting)
		}
		if e := run(t, s.command(t, "--cluster", namespace+"/"+name, "--yes", "--force", name), never); e.code != 0 {
			t.Errorf("%s: exit code %d: %+v\n%s", name, e.code, e.receipt.CouldNot, e.stderr)
		}
	}
	if e := run(t, s.command(t, "--cluster", namespace+"/a-b-c", "--yes"), never); e.code != 0 ||
		len(e.plan.Delete) > 0 {
		t.Errorf("after all: exit code %d, %d to delete", e.code, len(e.plan.Delete))
	}
	s.expect(t, "after all", rest)
}

// killedAt runs the binary and kills it at a moment, and returns what had come to the cloud by then.
func (s *scene) killedAt(t *testing.T, name string, at moment) (ended, moment) {
	t.Helper()
	watch := newWatch(t, at)
	c := s.command(t, "--cluster", namespace+"/"+name, "--yes", "--force", name)
	c.Env = append(c.Env, "http_proxy="+watch.URL)
	e := run(t, c, watch.came)
	watch.mu.Lock()
	defer watch.mu.Unlock()
	return e, watch.seen
}
