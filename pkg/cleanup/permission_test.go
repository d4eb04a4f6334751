package cleanup

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

var demo = Target{Namespace: "ns", Cluster: "demo"}

// seen returns an observation as the real one would be.
func seen(b bootstrapState, m managementState, with ...func(*observation)) observation {
	o := observation{bootstrap: bootstrapSide{state: b, node: "demo-bootstrap-control-plane"},
		management: managementSide{state: m, kubeconfigs: "/state/kubeconfig"}}
	if b == bootstrapSilent {
		o.bootstrap.err = errors.New("no route to host")
	}
	if b == bootstrapBusy {
		o.bootstrap.err = fault.New(fault.Busy, "alice@one holds the lock on the bootstrap cluster", "")
	}
	switch m {
	case managementSilent:
		o.management.err = errors.New("x509: certificate signed by unknown authority")
	case managementBusy:
		o.management.err = fault.New(fault.Busy, "alice@one holds the lock on the management cluster", "")
	case managementUnproven, managementEmpty, managementManaging:
		o.management.host = "https://192.0.2.1:6443"
	}
	for _, w := range with {
		w(&o)
	}
	return o
}

func machines(names ...string) func(*observation) {
	return func(o *observation) { o.machines = names }
}

// short returns one word for the reason of a refusal, or "go".
func short(p Permission) string {
	for _, reason := range []struct{ says, word string }{
		{"it is not known whether demo manages itself", "nobody"}, {"manages itself", "manages"},
		{"is stopped", "stopped"}, {"is paused", "frozen"},
		{"exists, and its content is not known", "silent"}, {"holds the lock on", "busy"}, {"other definitions", "others"},
		{"would be left without it", "elsewhere"},
		{"managed itself before a rollback", "rollback"},
		{"manages other clusters, which would be lost with it: Cluster team/shop", "tenants"},
	} {
		if strings.Contains(p.Reason, reason.says) {
			return reason.word
		}
	}
	if !p.Refused {
		return "go"
	}
	return p.Reason
}

// The table of docs/design/cleanup.md: a row for each state of the bootstrap cluster, a column for each of the
// management cluster.
func TestPermissions(t *testing.T) {
	columns := []managementState{managementAbsent, managementSilent, managementUnproven, managementEmpty,
		managementBusy, managementManaging}
	alike := func(word string) []string { return []string{word, word, word, word, "busy", "manages"} }
	asleep := func(word string) []string { return []string{word, word, word, word, word, "manages"} }
	unless := []string{"nobody", "nobody", "nobody", "go", "busy", "manages"}
	cautious := map[bootstrapState][]string{
		bootstrapAbsent: unless, bootstrapEmpty: unless, bootstrapMoved: unless, bootstrapPaused: unless,
		bootstrapActive:  alike("go"),
		bootstrapStopped: asleep("stopped"), bootstrapFrozen: asleep("frozen"), bootstrapSilent: alike("silent"),
		bootstrapBusy: alike("busy"),
	}
	nothing := map[bootstrapState][]string{}
	beyond := map[bootstrapState][]string{}
	for b, row := range cautious {
		nothing[b], beyond[b] = row, row
	}
	nothing[bootstrapAbsent] = []string{"go", "nobody", "go", "go", "busy", "manages"}
	nothing[bootstrapEmpty] = nothing[bootstrapAbsent]
	for b := range beyond {
		beyond[b] = nothing[b]
	}
	nothingAfter, others := maps.Clone(nothing), map[bootstrapState][]string{}
	nothingAfter[bootstrapActive] = []string{"rollback", "rollback", "rollback", "go", "busy", "manages"}
	for b, row := range nothing {
		if others[b] = slices.Clone(row); row[3] == "go" {
			others[b][3] = "tenants"
		}
	}
	beyond[bootstrapActive], beyond[bootstrapPaused] = alike("elsewhere"), alike("elsewhere")
	elsewhere := demo
	elsewhere.Elsewhere = Elsewhere{Place: "AWS", Reason: "nobody can", Hint: "Delete it there."}
	for name, tc := range map[string]struct {
		target Target
		with   func(*observation)
		table  map[bootstrapState][]string
	}{
		"nothing found":  {demo, func(*observation) {}, nothing},
		"machines exist": {demo, machines("demo-abc"), cautious},
		"which machines exist is not known": {demo, func(o *observation) { o.machinesErr = errors.New("503") },
			cautious},
		"a backup of a pivot": {demo,
			func(o *observation) { o.backup = "/state/demo-20260102T030405Z" }, cautious},
		"whether there is a backup is not known": {demo, func(o *observation) { o.backupErr = errors.New("denied") },
			cautious},
		"after a rollback": {demo,
			func(o *observation) { o.bootstrap.rolledBack = o.bootstrap.holdsDefinition() }, nothingAfter},
		"it manages others": {demo, func(o *observation) {
			if o.management.state == managementEmpty {
				o.management.others = []string{"Cluster team/shop"}
			}
		}, others},
		"machines elsewhere, or not": {elsewhere, func(*observation) {}, beyond},
	} {
		for b, row := range tc.table {
			for i, m := range columns {
				got := permit(seen(b, m, tc.with), tc.target)
				if short(got) != row[i] {
					t.Errorf("%s, bootstrap cluster %s, management cluster %s: %s, want %s", name, b, m, short(got),
						row[i])
				}
				code := fault.CleanupRefused
				if row[i] == "busy" {
					code = fault.Busy
				}
				if refused := row[i] != "go"; refused != strings.HasSuffix(got.Hint, "add --force demo.") ||
					refused != (fault.CodeOf(got.Err()) == code) || got.Reason == "" {
					t.Errorf("%s, bootstrap cluster %s, management cluster %s: %+v, %v", name, b, m, got, got.Err())
				}
			}
		}
	}
}

// Each refusal reports what was found and checked, with the results. Its hint explains how to make the clusters answer.
func TestRefusalsSayWhy(t *testing.T) {
	for name, tc := range map[string]struct {
		seen   observation
		says   []string
		advise string
	}{
		"it manages itself": {seen(bootstrapAbsent, managementManaging, machines("demo-abc")),
			[]string{"the management cluster demo answers at https://192.0.2.1:6443 and manages itself"},
			"Delete what it owns with its own controllers first."},
		"nobody to ask": {seen(bootstrapAbsent, managementAbsent, machines("demo-abc", "demo-lb")),
			[]string{"machines exist (demo-abc, demo-lb)",
				"there is no bootstrap cluster, and no kubeconfig of its management cluster (/state/kubeconfig)"},
			"--kubeconfig FILE"},
		"many machines": {seen(bootstrapAbsent, managementAbsent, machines("a", "b", "c", "d", "e", "f", "g")),
			[]string{"machines exist (a, b, c, d, e and 2 more)"}, "--kubeconfig FILE"},
		"a certificate of somebody else": {seen(bootstrapEmpty, managementSilent, machines("demo-abc")),
			[]string{"the bootstrap cluster does not hold its definition, and it is not known what the management " +
				"cluster manages: x509: certificate signed by unknown authority",
				"there is a kubeconfig of a management cluster (/state/kubeconfig)"},
			"restore the network or its credentials"},
		"any cluster": {seen(bootstrapMoved, managementUnproven),
			[]string{"the definition was moved out of the bootstrap cluster", "the cluster of /state/kubeconfig, " +
				"which answers at https://192.0.2.1:6443, cannot be proven to be this one"}, "--kubeconfig FILE"},
		"a move was begun": {seen(bootstrapPaused, managementAbsent),
			[]string{"a move of the definition out of the bootstrap cluster was begun", "holds its definition, paused"},
			"--kubeconfig FILE"},
		"the cloud does not say": {seen(bootstrapAbsent, managementAbsent,
			func(o *observation) { o.machinesErr = errors.New("listing servers: 503") }),
			[]string{"it is not known which machines exist: listing servers: 503"}, "--kubeconfig FILE"},
		"a backup": {seen(bootstrapAbsent, managementAbsent,
			func(o *observation) { o.backup = "/state/demo-20260102T030405Z" }),
			[]string{"there is a backup of what a pivot moved (/state/demo-20260102T030405Z)"}, "--kubeconfig FILE"},
		"a stopped bootstrap cluster": {seen(bootstrapStopped, managementAbsent),
			[]string{"demo-bootstrap-control-plane is stopped, and its content is not known"},
			"docker start demo-bootstrap-control-plane"},
		"a paused bootstrap cluster": {seen(bootstrapFrozen, managementAbsent),
			[]string{"demo-bootstrap-control-plane is paused"}, "docker unpause demo-bootstrap-control-plane"},
		"a silent bootstrap cluster": {seen(bootstrapSilent, managementEmpty),
			[]string{"its content is not known: no route to host"}, "docker logs demo-bootstrap-control-plane"},
		"a bootstrap cluster that another run works on": {seen(bootstrapBusy, managementAbsent),
			[]string{"alice@one holds the lock on the bootstrap cluster"}, "Wait for its end"},
		"a management cluster that another run works on": {seen(bootstrapActive, managementBusy),
			[]string{"alice@one holds the lock on the management cluster"}, "Wait for its end"},
		"a lease that may not be taken": {seen(bootstrapActive, managementEmpty,
			func(o *observation) { o.leaseErr = errors.New("leases is forbidden") }),
			[]string{"it is not known whether another run is at work: leases is forbidden"},
			"when the cluster answers"},
		"a registry of an existing cluster": {seen(bootstrapAbsent, managementEmpty,
			func(o *observation) { o.serving = "demo-registry" }),
			[]string{"the registry demo-registry serves the existing cluster", "its components come from there"},
			"cluster-init uninstall ENVIRONMENT --kubeconfig FILE"},
		"other definitions": {seen(bootstrapActive, managementAbsent,
			func(o *observation) { o.bootstrap.others = []string{"Cluster other/demo", "Cluster ns/two"} }),
			[]string{"Cluster other/demo, Cluster ns/two"}, "--cluster NAMESPACE/NAME"},
	} {
		p := permit(tc.seen, demo)
		for _, want := range tc.says {
			if !strings.Contains(p.Reason, want) {
				t.Errorf("%s: %q does not say %q", name, p.Reason, want)
			}
		}
		if !strings.Contains(p.Hint, tc.advise) {
			t.Errorf("%s: the hint %q does not say %q", name, p.Hint, tc.advise)
		}
		if busy := fault.CodeOf(p.Err()) == fault.Busy; busy != (tc.seen.bootstrap.state == bootstrapBusy ||
			tc.seen.management.state == managementBusy) {
			t.Errorf("%s: the code is %s", name, fault.CodeOf(p.Err()))
		}
		if err := p.Err(); !strings.HasSuffix(err.Error(), ": nothing was deleted") || fault.HintOf(err) != p.Hint {
			t.Errorf("%s: %v, %q", name, err, fault.HintOf(err))
		}
	}
}

// Machines that can be read hold a lost kubeconfig: if no cluster answers, the hint of the refusal says so.
func TestALostKubeconfigIsReadInTheMachines(t *testing.T) {
	const command = "cluster-init kubeconfig env --recover."
	docker := demo
	docker.Recover = "Read it again: " + command
	rolledBack := func(o *observation) { o.bootstrap.rolledBack = true }
	for name, tc := range map[string]struct {
		target Target
		seen   observation
		want   bool
	}{
		"no kubeconfig":       {docker, seen(bootstrapAbsent, managementAbsent, machines("demo-abc")), true},
		"one that is refused": {docker, seen(bootstrapAbsent, managementSilent, machines("demo-abc")), true},
		"one of any cluster":  {docker, seen(bootstrapMoved, managementUnproven, machines("demo-abc")), true},
		"none after a rollback": {docker, seen(bootstrapActive, managementAbsent, machines("demo-abc"), rolledBack),
			true},
		"no machine":               {docker, seen(bootstrapAbsent, managementSilent), false},
		"machines of a cloud":      {demo, seen(bootstrapAbsent, managementAbsent, machines("demo-abc")), false},
		"a cluster that says more": {docker, seen(bootstrapAbsent, managementManaging, machines("demo-abc")), false},
	} {
		p := permit(tc.seen, tc.target)
		if !p.Refused || strings.Contains(p.Hint, command) != tc.want {
			t.Errorf("%s: %q, and the hint %q; names the command: want %t", name, p.Reason, p.Hint, tc.want)
		}
	}
}
