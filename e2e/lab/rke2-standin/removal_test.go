package main

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
)

// fakeCluster is an API server and an etcd.
type fakeCluster struct {
	list    []node
	known   []member
	removed []string
	patches map[string]map[string]any
	failure error
}

func (f *fakeCluster) nodes(context.Context, string) ([]node, error) { return f.list, nil }

func (f *fakeCluster) patchNode(_ context.Context, name string, _, annotations map[string]any) error {
	f.patches[name] = annotations
	return nil
}

func (f *fakeCluster) members(context.Context) ([]member, error) { return f.known, f.failure }

func (f *fakeCluster) remove(_ context.Context, id string) error {
	f.removed = append(f.removed, id)
	f.known = slices.DeleteFunc(f.known, func(each member) bool { return each.ID == id })
	return nil
}

func newFakeCluster() *fakeCluster {
	return &fakeCluster{
		known: []member{{ID: "1", Name: "one-aaaa"}, {ID: "2", Name: "two-bbbb"}, {ID: "3", Name: "two-more-cccc"},
			{ID: "4"}},
		patches: map[string]map[string]any{},
	}
}

func nodeWith(name string, annotations map[string]string) node {
	var made node
	made.Metadata.Name, made.Metadata.Annotations = name, annotations
	return made
}

func TestRemoveMarked(t *testing.T) {
	answer := func(name string) map[string]any {
		return map[string]any{removedAnnotation: name, memberAnnotation: nil, addressAnnotation: nil}
	}
	tests := map[string]struct {
		nodes   []node
		removed []string
		patches map[string]map[string]any
	}{
		"not marked": {nodes: []node{nodeWith("two", map[string]string{memberAnnotation: "two-bbbb"})}},
		"marked": {
			nodes:   []node{nodeWith("two", map[string]string{removeAnnotation: "true", memberAnnotation: "two-bbbb"})},
			removed: []string{"2"}, patches: map[string]map[string]any{"two": answer("two-bbbb")},
		},
		"marked, name unknown": {
			nodes:   []node{nodeWith("two", map[string]string{removeAnnotation: "true"})},
			removed: []string{"2"}, patches: map[string]map[string]any{"two": answer("two-bbbb")},
		},
		"gone already": {
			nodes: []node{nodeWith("three", map[string]string{removeAnnotation: "true",
				memberAnnotation: "three-dddd"})},
			patches: map[string]map[string]any{"three": answer("three-dddd")},
		},
		"done already": {nodes: []node{nodeWith(
			"two", map[string]string{removeAnnotation: "true", removedAnnotation: "two-bbbb"})}},
		"itself": {nodes: []node{nodeWith(
			"one", map[string]string{removeAnnotation: "true", memberAnnotation: "one-aaaa"})}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			fake := newFakeCluster()
			fake.list = test.nodes
			if err := removeMarked(context.Background(), "one", fake, fake); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(fake.removed, test.removed) {
				t.Errorf("removed %v, want %v", fake.removed, test.removed)
			}
			if len(fake.patches)+len(test.patches) > 0 && !reflect.DeepEqual(fake.patches, test.patches) {
				t.Errorf("said %v, want %v", fake.patches, test.patches)
			}
		})
	}
}

func TestRemoveMarkedSaysNothingWhenEtcdFails(t *testing.T) {
	fake := newFakeCluster()
	fake.list = []node{nodeWith("two", map[string]string{removeAnnotation: "true", memberAnnotation: "two-bbbb"})}
	fake.failure = errors.New("no leader")
	if err := removeMarked(context.Background(), "one", fake, fake); !errors.Is(err, fake.failure) {
		t.Errorf("got %v", err)
	}
	if len(fake.patches) > 0 {
		t.Errorf("said %v", fake.patches)
	}
}

func TestMemberNameIsKept(t *testing.T) {
	p := paths{root: t.TempDir()}
	first, err := memberName(p, "one")
	if err != nil || !belongsTo(first, "one") {
		t.Fatalf("got %q (%v)", first, err)
	}
	if again, err := memberName(p, "one"); err != nil || again != first {
		t.Errorf("got %q (%v), want %q", again, err, first)
	}
}

func TestInitialCluster(t *testing.T) {
	others := []member{
		{ID: "1", Name: "a-x", PeerURLs: []string{"https://10.0.0.1:2380"}},
		{ID: "2", PeerURLs: []string{"https://10.0.0.2:2380"}},
		{ID: "3", PeerURLs: []string{"https://10.0.0.3:2380"}},
	}
	want := "b-y=https://10.0.0.2:2380,a-x=https://10.0.0.1:2380,3=https://10.0.0.3:2380"
	if got := initialCluster("b-y", "10.0.0.2", others); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
