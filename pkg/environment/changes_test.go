package environment_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

func TestChanges(t *testing.T) {
	cases := map[string]struct {
		name          string // of the environment; empty: kubeadm-capd
		before, after []string
		want          []string // KEY: FROM -> TO
		takesAway     []string // keys
	}{
		"none": {before: []string{"cluster.worker.replicas=2"},
			after: []string{"cluster.worker.replicas=2"}},
		"more workers": {after: []string{"cluster.worker.replicas=2"},
			want: []string{"cluster.worker.replicas: 0 -> 2"}},
		"fewer workers": {before: []string{"cluster.worker.replicas=2"},
			want: []string{"cluster.worker.replicas: 2 -> 0"}, takesAway: []string{"cluster.worker.replicas"}},
		"fewer in a pool": {before: []string{"cluster.workers.gpu.replicas=2"},
			after: []string{"cluster.workers.gpu.replicas=1"},
			want:  []string{"cluster.workers.gpu.replicas: 2 -> 1"}, takesAway: []string{"cluster.workers.gpu.replicas"}},
		"more in a pool": {before: []string{"cluster.workers.gpu.replicas=1"},
			after: []string{"cluster.workers.gpu.replicas=2"},
			want:  []string{"cluster.workers.gpu.replicas: 1 -> 2"}},
		"a pool for an autoscaler without bounds": {before: []string{"cluster.workers.gpu.replicas=2"},
			after: []string{"cluster.workers.gpu.replicas=null"},
			want:  []string{"cluster.workers.gpu.replicas: 2 -> none"}, takesAway: []string{"cluster.workers.gpu.replicas"}},
		"workers for an autoscaler without bounds": {before: []string{"cluster.worker.replicas=2"},
			after: []string{"cluster.worker.replicas=null"},
			want:  []string{"cluster.worker.replicas: 2 -> none"}, takesAway: []string{"cluster.worker.replicas"}},
		"workers that an autoscaler had": {before: []string{"cluster.worker.replicas=null"},
			after: []string{"cluster.worker.replicas=2"},
			want:  []string{"cluster.worker.replicas: none -> 2"}, takesAway: []string{"cluster.worker.replicas"}},
		"no pool any more": {before: []string{"cluster.workers.gpu.replicas=2"},
			want:      []string{"cluster.workers.gpu.replicas: 2 -> none", "components.workers-gpu: on -> off"},
			takesAway: []string{"components.workers-gpu"}},
		"fewer control planes": {before: []string{"cluster.control_plane.replicas=3"},
			want:      []string{"cluster.control_plane.replicas: 3 -> 1"},
			takesAway: []string{"cluster.control_plane.replicas"}},
		"more control planes": {after: []string{"cluster.control_plane.replicas=3"},
			want: []string{"cluster.control_plane.replicas: 1 -> 3"}},
		"a newer Kubernetes": {before: []string{"cluster.kubernetes_version=v1.35.9"},
			want: []string{`cluster.kubernetes_version: "v1.35.9" -> "v1.36.4"`}},
		"an older Kubernetes": {after: []string{"cluster.kubernetes_version=v1.35.9"},
			want:      []string{`cluster.kubernetes_version: "v1.36.4" -> "v1.35.9"`},
			takesAway: []string{"cluster.kubernetes_version"}},
		"a key that Secrets are encrypted with": {before: keys("a", "b"), after: keys("b"),
			want:      []string{"cluster.kubernetes.encryption_at_rest.keys: changed"},
			takesAway: []string{"cluster.kubernetes.encryption_at_rest.keys"}},
		"a first key that old machines do not have": {before: keys("a"), after: keys("b", "a"),
			want:      []string{"cluster.kubernetes.encryption_at_rest.keys: changed"},
			takesAway: []string{"cluster.kubernetes.encryption_at_rest.keys"}},
		"a key at the end": {before: keys("a"), after: keys("a", "b"),
			want: []string{"cluster.kubernetes.encryption_at_rest.keys: changed"}},
		"a key that they have comes first": {before: keys("a", "b"), after: keys("b", "a"),
			want: []string{"cluster.kubernetes.encryption_at_rest.keys: changed"}},
		"a first key that only decrypts": {after: append(keys("a"),
			"cluster.kubernetes.encryption_at_rest.keys[0].decrypt_only=true"),
			want: []string{"cluster.kubernetes.encryption_at_rest.keys: changed"}},
		"it encrypts": {before: append(keys("a"), "cluster.kubernetes.encryption_at_rest.keys[0].decrypt_only=true"),
			after: keys("a"), want: []string{"cluster.kubernetes.encryption_at_rest.keys: changed"}},
		"another algorithm": {before: keys("a"),
			after:     append(keys("a"), "cluster.kubernetes.encryption_at_rest.provider=aescbc"),
			want:      []string{`cluster.kubernetes.encryption_at_rest.provider: "secretbox" -> "aescbc"`},
			takesAway: []string{"cluster.kubernetes.encryption_at_rest.provider"}},
		"another namespace": {after: []string{"cluster.namespace=other"},
			want: []string{`cluster.namespace: "management" -> "other"`}, takesAway: []string{"cluster.namespace"}},
		"another format": {after: []string{"cluster.bootstrap_format=ignition"},
			want:      []string{`cluster.bootstrap_format: "cloud-config" -> "ignition"`},
			takesAway: []string{"cluster.bootstrap_format"}},
		"the CNI off": {after: []string{"cni=none"}, want: []string{`cni: "calico" -> "none"`,
			"components.cni: on -> off"}, takesAway: []string{"components.cni"}},
		"a component of one's own": {
			after: []string{"components.mine.enabled=management-only",
				"components.mine.path=./kustomize-components/capi"},
			want: []string{`components.mine.enabled: none -> "management-only"`,
				`components.mine.path: none -> "./kustomize-components/capi"`}},
		"a component of one's own goes": {
			before: []string{"components.mine.enabled=management-only",
				"components.mine.path=./kustomize-components/capi"},
			want: []string{"components.mine: on -> off", `components.mine.enabled: "management-only" -> none`,
				`components.mine.path: "./kustomize-components/capi" -> none`}, takesAway: []string{"components.mine"}},
		"a list": {after: []string{"cluster.registry_mirrors[0].host=a", "cluster.registry_mirrors[0].url=http://b"},
			want: []string{`cluster.registry_mirrors: none -> [{"host":"a","url":"http://b"}]`}},
		"an address's password": {
			after: []string{"cluster.docker_host=ssh://me:one@b"},
			want:  []string{`cluster.docker_host: "" -> "ssh://***@b"`}},
		"a secret is not shown": {before: []string{"registry_secret.r.username=a", "registry_secret.r.password=one"},
			after: []string{"registry_secret.r.username=a", "registry_secret.r.password=two"},
			want:  []string{"registry_secret.r.password: changed"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			given, err := change(t, tc.before).Objects()
			if err != nil {
				t.Fatal(err)
			}
			changes, err := change(t, tc.after).Changes(given)
			if err != nil {
				t.Fatal(err)
			}
			var got, takesAway []string
			for _, c := range changes {
				got = append(got, c.String())
				if c.TakesAway != "" {
					takesAway = append(takesAway, c.Key)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.takesAway, takesAway); diff != "" {
				t.Errorf("takes away (-want +got):\n%s", diff)
			}
		})
	}
}

// The address of an API server cannot change. The provider's webhook does not see all changes of what answers at it.
func TestTheAddressOfTheAPIServerStays(t *testing.T) {
	const api = "cluster.openstack.api_server."
	virtual := openstackCases()["kubeadm-capo.vip"].sets
	for name, tc := range map[string]struct {
		before, after []string
		takesAway     []string
	}{
		"another image of keepalived": {virtual, append(slices.Clone(virtual), api+"keepalived_image=other:1"), nil},
		"another router number": {virtual, append(slices.Clone(virtual), api+"vrrp_router_id=7"),
			[]string{api + "vrrp_router_id"}},
		"another address": {virtual, append(slices.Clone(virtual), api+"fixed_ip=10.0.0.8"),
			[]string{api + "fixed_ip"}},
		"something of the user's in place of keepalived": {virtual, append(slices.Clone(virtual),
			api+"mode=fixed-ip", api+"keepalived_image="), []string{api + "mode"}},
		"a load balancer": {nil, []string{api + "mode=octavia"}, []string{api + "mode"}},
	} {
		given, err := capo(t, "kubeadm-capo", nil, tc.before...).Objects()
		if err != nil {
			t.Fatal(err)
		}
		changes, err := capo(t, "kubeadm-capo", nil, tc.after...).Changes(given)
		if err != nil {
			t.Fatal(err)
		}
		var takesAway []string
		for _, c := range changes {
			if c.TakesAway != "" {
				takesAway = append(takesAway, c.Key)
			}
		}
		if diff := cmp.Diff(tc.takesAway, takesAway); diff != "" || len(changes) == 0 {
			t.Errorf("%s: takes away (-want +got):\n%s", name, diff)
		}
	}
	// On Docker the value means nothing.
	given, err := change(t, nil).Objects()
	if err != nil {
		t.Fatal(err)
	}
	changes, err := change(t, []string{api + "mode=octavia"}).Changes(given)
	if err != nil || len(changes) != 1 || changes[0].TakesAway != "" {
		t.Errorf("on Docker: %v, %v", changes, err)
	}
}

func change(t *testing.T, sets []string) *environment.Environment {
	t.Helper()
	return load(t, environment.Options{Name: "kubeadm-capd", Sets: sets})
}

func TestAnotherProviderTakesAway(t *testing.T) {
	given, err := change(t, nil).Objects()
	if err != nil {
		t.Fatal(err)
	}
	for key, after := range map[string]*environment.Environment{
		"cluster.bootstrap_provider": load(t, environment.Options{Name: "rke2-capd"}),
		"cluster.infra_provider":     capo(t, "kubeadm-capo", nil, "cluster.name=kubeadm-capd"),
	} {
		changes, err := after.Changes(given)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(changes, func(c environment.Change) bool { return c.Key == key && c.TakesAway != "" }) {
			t.Errorf("%s: it is not said: %v", key, changes)
		}
	}
}

// The chart has Flux leave what a component installed, unless the component says otherwise.
func TestASwitchedOffComponentSaysWhatBecomesOfIt(t *testing.T) {
	const stays, goes = "stays in the cluster", "Flux deletes what the component installed"
	for name, tc := range map[string]struct {
		spec []string
		says string
	}{
		"as it is":               {nil, stays},
		"it is never pruned":     {[]string{"prune=false"}, stays},
		"it deletes":             {[]string{"deletionPolicy=Delete"}, goes},
		"it deletes and waits":   {[]string{"deletionPolicy=WaitForTermination", "prune=false"}, goes},
		"as Flux does":           {[]string{"deletionPolicy=MirrorPrune"}, goes},
		"as Flux does, unpruned": {[]string{"deletionPolicy=MirrorPrune", "prune=false"}, stays},
	} {
		more := []string{"components.more.enabled=true", "components.more.path=./more"}
		for _, field := range tc.spec {
			more = append(more, "components.more.spec."+field)
		}
		given, err := change(t, more).Objects()
		if err != nil {
			t.Fatal(err)
		}
		changes, err := change(t, nil).Changes(given)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(changes, func(c environment.Change) bool {
			return c.Key == "components.more" && strings.Contains(c.TakesAway, tc.says)
		}) {
			t.Errorf("%s: %+v", name, changes)
		}
	}
}

func TestChangesOfWhatCannotBeReadAreNotNone(t *testing.T) {
	given := environment.Objects{Secrets: &corev1.Secret{Data: map[string][]byte{environment.ValuesKey: []byte(
		"a: hunter2: x")}}}
	_, err := change(t, nil).Changes(given)
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("it says %v", err)
	}
}

func TestOlder(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{{"v1.35.9", "v1.36.0", true}, {"v1.36.4+rke2r1", "v1.36.4+rke2r2", true},
		{"v1.36.4+rke2r2", "v1.36.4+rke2r1", false}, {"v1.36.4+rke2r9", "v1.36.4+rke2r10", true},
		{"v1.36.4+rke2r1", "v1.36.4+rke2r1", false},
		{"v1.35.9+rke2r3", "v1.36.0+rke2r1", true}, {"v1.36.4", "v1.36.4", false}, {"0.1.0", "0.2.0", true},
		{"main", "v1.0.0", false}} {
		if got := environment.Older(tc.a, tc.b); got != tc.want {
			t.Errorf("Older(%q, %q) is %v", tc.a, tc.b, got)
		}
	}
}

// keys sets keys that encrypt Secrets, each with its name in it.
func keys(names ...string) []string {
	var sets []string
	for i, name := range names {
		at := "cluster.kubernetes.encryption_at_rest.keys[" + strconv.Itoa(i) + "]."
		sets = append(sets, at+"name="+name, at+"secret="+strings.Replace(encryptionKey, "A", name, 1))
	}
	return sets
}
