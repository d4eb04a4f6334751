package diagnose

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

const anEvent = `{apiVersion: v1, kind: Event, metadata: {name: e, namespace: ns}, reason: Warned, message: said,
  involvedObject: {apiVersion: GROUP, kind: KIND, namespace: ns, name: a}}`

// What an object reports now is a permanent cause sooner or later; what it reported once may be over.
func TestSignalsNowAndPast(t *testing.T) {
	const pod = `{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: ns},
  status: {containerStatuses: [STATUS]}}`
	const node = `{apiVersion: v1, kind: Node, metadata: {name: a, namespace: ns},
  spec: {taints: [{key: k, effect: NoSchedule}]}}`
	const server = `{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackServer,
  metadata: {name: a, namespace: ns},
  status: {instanceState: STATE, conditions: [{type: Ready, status: "False", reason: NoPort}]}}`
	const condition = `{apiVersion: source.toolkit.fluxcd.io/v1, kind: Bucket, metadata: {name: a, namespace: ns DELETED},
  status: {conditions: [{type: TYPE, status: "STATUS", reason: Why}]}}`
	const deleted = `, deletionTimestamp: "2026-11-27T10:00:00Z", finalizers: [f]`
	filled := func(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
	for name, tc := range map[string]struct {
		object, event string
		want          []string
	}{
		"a container that waits": {filled(pod, "STATUS", "{name: c, state: {waiting: {reason: ErrImagePull}}}"),
			"", []string{"waiting ErrImagePull: now"}},
		"a container that failed": {filled(pod, "STATUS",
			"{name: c, lastState: {terminated: {exitCode: 1, reason: Error}}}"),
			"", []string{"terminated Error: past"}},
		"a container that succeeded": {filled(pod, "STATUS", "{name: c, state: {terminated: {exitCode: 0}}}"), "", nil},
		"a container that was killed": {filled(pod, "STATUS", "{name: c, state: {terminated: {exitCode: -1}}}"),
			"", []string{"terminated : past"}},
		"a tainted Node": {node, "", []string{"taint k: now"}},
		"a server that OpenStack refused": {filled(server, "STATE", `""`),
			"", []string{"condition Ready NoPort: now"}},
		"a server that starts": {filled(server, "STATE", "BUILD"), "", []string{"condition Ready NoPort: past"}},
		"a server that runs":   {filled(server, "STATE", "ACTIVE"), "", []string{"condition Ready NoPort: past"}},
		"a server in error":    {filled(server, "STATE", "ERROR"), "", []string{"condition Ready NoPort: now"}},
		"a condition that is not true": {filled(condition, "TYPE", "Ready", "STATUS", "False", "DELETED", ""),
			"", []string{"condition Ready Why: now"}},
		"a condition that is not known": {filled(condition, "TYPE", "Ready", "STATUS", "Unknown", "DELETED", ""),
			"", []string{"condition Ready Why: now"}},
		"bad news": {filled(condition, "TYPE", "Stalled", "STATUS", "True", "DELETED", ""),
			"", []string{"condition Stalled Why: now"}},
		"no bad news": {filled(condition, "TYPE", "Stalled", "STATUS", "False", "DELETED", ""), "", nil},
		"good news":   {filled(condition, "TYPE", "Ready", "STATUS", "True", "DELETED", ""), "", nil},
		"of what is leaving": {filled(condition, "TYPE", "Ready", "STATUS", "False", "DELETED", deleted),
			"", []string{"deleting : past", "condition Ready Why: past"}},
		"an event": {filled(condition, "TYPE", "Ready", "STATUS", "True", "DELETED", ""),
			filled(anEvent, "GROUP", "source.toolkit.fluxcd.io/v1", "KIND", "Bucket"), []string{"event Warned: past"}},
		"what Flux retries, without an event": {
			filled(condition, "TYPE", "Ready", "STATUS", "Unknown", "DELETED", ", generation: 1", "Why", "Progressing"),
			"", []string{"condition Ready Progressing: now"}},
		"an event of what Flux retries": {
			filled(condition, "TYPE", "Ready", "STATUS", "Unknown", "DELETED", ", generation: 1", "Why", "Progressing"),
			filled(anEvent, "GROUP", "source.toolkit.fluxcd.io/v1", "KIND", "Bucket"),
			[]string{"condition Ready Progressing: now", "condition Ready Warned: past", "event Warned: past"}},
	} {
		seen := readiness.Observation{Objects: decode(t, tc.object)}
		if tc.event != "" {
			seen.Events = decode(t, tc.event)
		}
		var got []string
		for _, s := range NewSnapshot(seen).signals(health.RefOf(seen.Objects[0])) {
			when := "now"
			if s.Past {
				when = "past"
			}
			got = append(got, strings.TrimSuffix(fmt.Sprintf("%s %s", s.Origin, s.Reason), " ")+": "+when)
		}
		for i, want := range tc.want {
			tc.want[i] = strings.Replace(want, " : ", ": ", 1)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Error(name, diff)
		}
	}
}

// A log and a cloud report what is wrong now; a console keeps what is over.
func TestLogLinesAreSignals(t *testing.T) {
	pod := decode(t, "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: ns}}")
	s := NewSnapshot(readiness.Observation{Objects: pod})
	r := health.RefOf(pod[0])
	s.logs[r] = []string{"no space left"}
	s.machineSignals[r] = []Signal{{Origin: "console", Message: "panic"}, {Origin: "cloud", Message: "no quota"}}
	want := []Signal{{Origin: "log", Message: "no space left"}, {Origin: "console", Message: "panic", Past: true},
		{Origin: "cloud", Message: "no quota"}}
	if diff := cmp.Diff(want, s.signals(r)); diff != "" {
		t.Error(diff)
	}
}

// The name of one object is part of the name of another: only the whole name counts.
func TestNamesInALogAreWholeNames(t *testing.T) {
	machine := health.Ref{Kind: "OpenStackMachine", Namespace: "management", Name: "c"}
	for line, want := range map[string]bool{
		"c failed": true, "the server c failed": true, "failed: c": true, `server="c"`: true,
		"management/c failed": true,
		"cc failed":           false, "c-1 failed": false, "c.1 failed": false, "c0 failed": false, "c9 failed": false,
		"ca failed": false,
		"cz failed": false, "c/other failed": false, "a-c failed": false, "9c failed": false, "0c failed": false,
		"ac failed": false, "zc failed": false, "a.c failed": false, "bc then c failed": true,
		"cc, then c-2, then c": true,
	} {
		if got := entry(line).about(machine); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
