package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// cutOff is a cluster in memory whose writes fail from the one with number at on; the failing one is carried out if
// applied.
type cutOff struct {
	*kube.Cluster
	at, writes int
	applied    bool
}

func newCutOff(t *testing.T) *cutOff {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(helmv2.AddToScheme(scheme), kustomizev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	kustomization := func(name string, remote, suspended bool, of string) *kustomizev1.Kustomization {
		k := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: flux.Namespace, Name: name,
			Annotations: map[string]string{}}, Spec: kustomizev1.KustomizationSpec{Suspend: suspended}}
		k.Labels = map[string]string{madeByName: of, madeByNamespace: flux.Namespace}
		if remote {
			k.Spec.KubeConfig = &meta.KubeConfigReference{SecretRef: &meta.SecretKeyReference{Name: "k"}}
		}
		return k
	}
	pool := kustomization("workers-gpu", false, false, flux.ReleaseName)
	pool.Labels[owned.PoolLabel] = "gpu"
	checks := kustomization("health-checks", false, false, flux.ReleaseName)
	checks.Labels[owned.ComponentLabel] = "health-checks"
	c := &cutOff{at: -1}
	objects := []client.Object{&helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Namespace: flux.Namespace,
		Name: flux.ReleaseName}}, pool, checks,
		kustomization("cluster", false, false, flux.ReleaseName), kustomization("cni", true, false, flux.ReleaseName),
		kustomization("cloud-provider", true, false, flux.ReleaseName),
		kustomization("capi", false, false, flux.ReleaseName), kustomization("of-the-user", true, true,
			flux.ReleaseName), kustomization("of-a-tenant", true, false, "another")}
	c.Cluster = &kube.Cluster{Name: "bootstrap", Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		objects...).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, to client.WithWatch, o client.Object, patch client.Patch,
			options ...client.PatchOption) error {
			number := c.writes
			c.writes++
			if c.at < 0 || number < c.at {
				return to.Patch(ctx, o, patch, options...)
			}
			if number == c.at && c.applied {
				if err := to.Patch(ctx, o, patch, options...); err != nil {
					return err
				}
			}
			return errors.New("interrupted")
		}}).Build()}
	return c
}

// suspendedNow are the names of what is suspended, with whether that is this pivot's doing.
func (c *cutOff) suspendedNow(t *testing.T, of string) string {
	t.Helper()
	release, list := helmRelease(), &kustomizev1.KustomizationList{}
	if err := errors.Join(c.Get(t.Context(), client.ObjectKeyFromObject(release), release),
		c.List(t.Context(), list)); err != nil {
		t.Fatal(err)
	}
	text := ""
	note := func(name string, suspended bool, annotations map[string]string) {
		if suspended {
			text += fmt.Sprintf("%s:%t ", name, annotations[owned.SuspendedAnnotation] == of)
		}
	}
	note("release", release.Spec.Suspend, release.Annotations)
	for _, k := range list.Items {
		note(k.Name, k.Spec.Suspend, k.Annotations)
	}
	return text
}

// A process that is killed between two of its writes, or whose reply is lost, leaves a part suspended: that is seen as
// a pivot's, the next run ends it, and taking it back, interrupted in the same way, takes back all of it and nothing
// that is a user's.
func TestASuspensionThatIsCutOff(t *testing.T) {
	const of = "management/mgmt"
	const all = "release:true cloud-provider:true cluster:true cni:true health-checks:true " +
		"of-the-user:false workers-gpu:true "
	const writes = 6
	for at := range writes {
		for _, applied := range []bool{false, true} {
			t.Run(fmt.Sprintf("write %d, applied %t", at, applied), func(t *testing.T) {
				c := newCutOff(t)
				s := Suspension{Cluster: c.Cluster, Of: of}
				again := func(what string, run func(context.Context) error, want string) {
					t.Helper()
					c.at, c.writes, c.applied = at, 0, applied
					if err := run(t.Context()); err == nil {
						t.Fatalf("%s was not interrupted at write %d", what, at)
					}
					c.at = -1
					begun := at > 0 || applied
					stands, err := s.Stands(t.Context())
					if what == "suspend" && (stands != begun || err != nil) {
						t.Errorf("after %d writes it stands: %t, %v", c.writes, stands, err)
					}
					if what == "resume" && !stands && (at < writes-1 || !applied) {
						t.Errorf("half resumed, nothing tells of the pivot any more: %s", c.suspendedNow(t, of))
					}
					if err := run(t.Context()); err != nil {
						t.Fatal(err)
					}
					if got := c.suspendedNow(t, of); got != want {
						t.Errorf("after %s again there is %q, want %q", what, got, want)
					}
				}
				again("suspend", s.Suspend, all)
				again("resume", s.Resume, "of-the-user:false ")
				if stands, err := s.Stands(t.Context()); stands || err != nil {
					t.Errorf("it stands: %t, %v", stands, err)
				}
			})
		}
	}
}

// A wait that leaves the definition out leaves the further pools of workers out too.
func TestPoolsAreLeftOutWithTheDefinition(t *testing.T) {
	c := newCutOff(t)
	for leftOut, want := range map[string][]string{
		"cluster": {"capi", "cloud-provider", "cni", "of-the-user"},
		"capi":    {"cloud-provider", "cluster", "cni", "health-checks", "of-the-user", "workers-gpu"},
	} {
		keys, err := Release{}.Goal(c.Cluster, "", leftOut).Made(t.Context())
		var names []string
		for _, key := range sortedKeys(keys) {
			names = append(names, key.Name)
		}
		if err != nil || !slices.Equal(names, want) {
			t.Errorf("without %s: %v, want %v (%v)", leftOut, names, want, err)
		}
	}
}

// A HelmRelease that was deleted leaves its Kustomizations: they are suspended, and carry the mark of the pivot. Suspend
// fails if no object could carry it.
func TestASuspensionWithoutTheRelease(t *testing.T) {
	const of = "management/mgmt"
	c := newCutOff(t)
	s := Suspension{Cluster: c.Cluster, Of: of}
	if err := c.Cluster.Delete(t.Context(), helmRelease()); err != nil {
		t.Fatal(err)
	}
	if err := s.Suspend(t.Context()); err != nil {
		t.Fatal(err)
	}
	if stands, err := s.Stands(t.Context()); !stands || err != nil {
		t.Errorf("it stands: %t, %v", stands, err)
	}
	if err := s.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Cluster.DeleteAllOf(t.Context(), &kustomizev1.Kustomization{},
		client.InNamespace(flux.Namespace)); err != nil {
		t.Fatal(err)
	}
	if err := s.Suspend(t.Context()); fault.CodeOf(err) != fault.PivotRefused || fault.HintOf(err) == "" {
		t.Errorf("nothing is left: %v", err)
	}
}

// There is one release in a cluster. Whose it is its values say; one that a pivot has suspended was moved away from.
func TestWhoseReleaseAClusterHas(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := errors.Join(helmv2.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	values := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: environment.Namespace,
		Name: environment.ValuesName, Labels: map[string]string{owned.ClusterLabel: "a"}}}
	release := func(suspendedFor string) *helmv2.HelmRelease {
		return &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Namespace: flux.Namespace, Name: flux.ReleaseName,
			Annotations: map[string]string{owned.SuspendedAnnotation: suspendedFor}},
			Spec: helmv2.HelmReleaseSpec{Suspend: suspendedFor != ""}}
	}
	for name, tc := range map[string]struct {
		objects []client.Object
		by      string
		pivoted bool
	}{
		"unmarked":                {nil, "", false},
		"values only":             {[]client.Object{values}, "a", false},
		"it builds":               {[]client.Object{values, release("")}, "a", false},
		"its pivot was begun":     {[]client.Object{values, release("ns/a")}, "a", true},
		"suspended for another's": {[]client.Object{values, release("ns/b")}, "a", false},
	} {
		c := &kube.Cluster{Name: "bootstrap", Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(
			tc.objects...).Build()}
		if by, pivoted, err := Occupied(t.Context(), c); by != tc.by || pivoted != tc.pivoted || err != nil {
			t.Errorf("%s: %q, %t, %v", name, by, pivoted, err)
		}
	}
}
