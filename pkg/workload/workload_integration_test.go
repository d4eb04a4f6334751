//go:build integration

package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/fluxserver"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

var self = Key{"management", "mgmt"}

// release is a HelmRelease as `workload apply` makes it.
func release(key Key) *helmv2.HelmRelease {
	r, _ := flux.HelmRelease(flux.Release{Namespace: key.Namespace, Name: key.Name, Chart: key.called("chart")})
	key.label(r)
	return r
}

// madeBy is a Kustomization of a release.
func madeBy(key Key, component string) *kustomizev1.Kustomization {
	return &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace,
		Name: key.called(component), Labels: map[string]string{"helm.toolkit.fluxcd.io/name": key.Name,
			"helm.toolkit.fluxcd.io/namespace": key.Namespace, owned.ComponentLabel: component}},
		Spec: kustomizev1.KustomizationSpec{Interval: metav1.Duration{Duration: time.Minute},
			SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: "OCIRepository", Name: "s"}}}
}

// depot is the HelmRelease of the component depot, a chart.
func depot(key Key) *helmv2.HelmRelease { return chartRelease(key, "depot") }

// chartRelease is the HelmRelease of a component that is a chart.
func chartRelease(key Key, component string) *helmv2.HelmRelease {
	r, _ := flux.HelmRelease(flux.Release{Namespace: key.Namespace, Name: key.Name + "." + component, Chart: component})
	r.Labels = map[string]string{owned.ClusterLabel: key.Name}
	return r
}

// helmChart is what helm-controller makes for it. It has no label.
func helmChart(key Key) *sourcev1.HelmChart {
	return &sourcev1.HelmChart{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace,
		Name: key.Namespace + "-" + depot(key).Name}, Spec: sourcev1.HelmChartSpec{Chart: "depot",
		Interval:  metav1.Duration{Duration: time.Minute},
		SourceRef: sourcev1.LocalHelmChartSourceReference{Kind: "HelmRepository", Name: key.called("depot")}}}
}

// The tests of a management cluster: the kind Cluster is defined once for all of them.
func TestWorkloadClusters(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shared.DefineCluster(ctx, t)
	t.Run("a deletion deletes all of it", deletesAll)
	t.Run("a foreign cluster is not deleted", keepsForeign)
	t.Run("what is refused changes neither API server", refusalsChangeNothing)
	t.Run("what cannot be made is refused", refuses)
}

// A deletion takes along all of its cluster, and nothing of another cluster in the same namespace.
func deletesAll(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shared.Namespaces(ctx, t, "team-a")
	shop, till := Key{"team-a", "shop"}, Key{"team-a", "till"}
	for _, key := range []Key{shop, till} {
		source := &sourcev1.OCIRepository{Spec: sourcev1.OCIRepositorySpec{URL: "oci://registry/x",
			Interval: metav1.Duration{Duration: time.Minute}}}
		values, stored := &corev1.ConfigMap{}, &corev1.Secret{}
		key.name(source, "chart")
		key.name(values, "values")
		stored.Namespace, stored.Name = key.Namespace, "sh.helm.release.v1."+key.Name+".v1"
		stored.Labels = map[string]string{"owner": "helm", "name": key.Name}
		login := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.called("cloud-config")}}
		k, chart := madeBy(key, "cluster"), madeBy(key, "depot")
		repository := &sourcev1.HelmRepository{ObjectMeta: chart.ObjectMeta,
			Spec: sourcev1.HelmRepositorySpec{URL: "https://charts.example.org"}}
		shared.Create(ctx, t, release(key), k, chart, source, values, stored, login, repository, depot(key),
			chartRelease(key, "disabled"), helmChart(key), fluxserver.NewCluster(key.Namespace, key.Name))
		chart.Status.Inventory = &kustomizev1.ResourceInventory{Entries: []kustomizev1.ResourceRef{
			{ID: key.Namespace + "_" + depot(key).Name + "_helm.toolkit.fluxcd.io_HelmRelease", Version: "v2"}}}
		if err := shared.Client.Status().Update(ctx, chart); err != nil {
			t.Fatal(err)
		}
		k.Status.Inventory = &kustomizev1.ResourceInventory{Entries: []kustomizev1.ResourceRef{
			{ID: key.Namespace + "_" + key.Name + "_cluster.x-k8s.io_Cluster", Version: "v1beta2"},
			{ID: key.Namespace + "_" + login.Name + "__Secret", Version: "v1"},
			{ID: key.Namespace + "_gone_nowhere.example.org_Kind", Version: "v1"}}}
		if err := shared.Client.Status().Update(ctx, k); err != nil {
			t.Fatal(err)
		}
	}
	foreign := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop-own"}}
	shared.Create(ctx, t, foreign)
	list, err := List(ctx, shared.Client, self)
	if err != nil || len(list) != 2 || list[0].Name != "shop" || !list[0].Release || list[0].State == Ready {
		t.Errorf("listed %+v, %v", list, err)
	}
	// Helm must not uninstall anything from a cluster that goes away.
	if err := deletion(shop).suspend(ctx); err != nil {
		t.Fatal(err)
	}
	for _, key := range []Key{shop, till} {
		var is helmv2.HelmRelease
		if err := shared.Client.Get(ctx, client.ObjectKeyFromObject(depot(key)), &is); err != nil ||
			is.Spec.Suspend != (key == shop) {
			t.Errorf("%s: suspended %t, %v", is.Name, is.Spec.Suspend, err)
		}
	}
	if err := deletion(shop).Run(ctx, &pipeline.Notes{}); err != nil {
		t.Fatal(err)
	}
	for _, key := range []Key{shop, till} {
		for _, o := range []client.Object{release(key), madeBy(key, "cluster"), madeBy(key, "depot"), depot(key),
			chartRelease(key, "disabled"), helmChart(key), &sourcev1.HelmRepository{ObjectMeta: madeBy(key, "depot").ObjectMeta},
			fluxserver.NewCluster(key.Namespace, key.Name),
			&sourcev1.OCIRepository{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: key.called("chart")}},
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: key.called("values")}},
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: key.called("cloud-config")}},
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a",
				Name: "sh.helm.release.v1." + key.Name + ".v1"}}} {
			err := shared.Client.Get(ctx, client.ObjectKeyFromObject(o), o)
			if key == shop && !apierrors.IsNotFound(err) || key == till && err != nil {
				t.Errorf("%T %s: %v", o, o.GetName(), err)
			}
		}
	}
	if err := shared.Client.Get(ctx, client.ObjectKeyFromObject(foreign), foreign); err != nil {
		t.Errorf("a Secret of the user's own: %v", err)
	}
	if err := deletion(shop).Run(ctx, &pipeline.Notes{}); fault.CodeOf(err) != fault.Usage {
		t.Errorf("again: %v", err)
	}
}

func deletion(key Key) Deletion {
	return Deletion{Management: shared.Client, Key: key,
		Cluster:  clusters.Deletion{Cluster: shared.Client, Heartbeat: time.Minute, Now: time.Now},
		Provider: func(environment.Objects) (provider.Provider, error) { return place{}, nil }}
}

// What `workload apply` did not make is not deleted.
func keepsForeign(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shared.Namespaces(ctx, t, "team-b")
	cluster := fluxserver.NewCluster("team-b", "foreign")
	shared.Create(ctx, t, cluster)
	before := shared.Versions(ctx, t)
	if err := deletion(Key{"team-b", "foreign"}).Run(ctx, &pipeline.Notes{}); fault.CodeOf(err) != fault.ClusterForeign {
		t.Error(err)
	}
	for _, change := range before.Changes(shared.Versions(ctx, t)) {
		t.Errorf("a foreign cluster: %s", change)
	}
	committed := Key{"team-b", "committed"}
	owner, applied := madeBy(Key{"team-b", "apps"}, "all"), release(committed)
	applied.Labels["kustomize.toolkit.fluxcd.io/name"] = owner.Name
	applied.Labels["kustomize.toolkit.fluxcd.io/namespace"] = owner.Namespace
	shared.Create(ctx, t, owner, applied)
	before = shared.Versions(ctx, t)
	if err := deletion(committed).Run(ctx, &pipeline.Notes{}); fault.CodeOf(err) != fault.ClusterForeign ||
		!strings.Contains(fault.HintOf(err), "flux suspend kustomization -n team-b apps-all") {
		t.Errorf("a release that a Kustomization would apply again: %v", err)
	}
	for _, change := range before.Changes(shared.Versions(ctx, t)) {
		t.Errorf("a release that a Kustomization would apply again: %s", change)
	}
	shared.Patch(ctx, t, owner, `{"spec":{"suspend":true}}`)
	if err := deletion(committed).Run(ctx, &pipeline.Notes{}); err != nil {
		t.Error(err)
	}
}

// Everything that the management cluster cannot make is refused, and no object of the API server changes.
func refuses(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shared.Namespaces(ctx, t, "management", "team-c")
	env, err := environment.Load(ctx, environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Workload: true, Variables: func(string) (string, bool) { return "", false },
		Sets: []string{"cluster.name=shop", "cluster.namespace=team-c", "cluster.bootstrap_format=ignition"}})
	if err != nil {
		t.Fatal(err)
	}
	c := Cluster{Management: shared.Client, Self: self, Environment: env, Provider: place{},
		Machines: []environment.Range{{Path: "nodes", CIDR: "10.244.128.0/24"}},
		Follow:   rollout.Options{Now: time.Now, Heartbeat: time.Minute}}
	refused := func(when string, says ...string) {
		t.Helper()
		before := shared.Versions(ctx, t)
		err := c.Apply(ctx, &pipeline.Notes{})
		for _, text := range says {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v, want %q", when, err, text)
			}
		}
		for _, change := range before.Changes(shared.Versions(ctx, t)) {
			t.Errorf("%s: %s", when, change)
		}
	}
	refused("without its own Cluster", "does not hold its own Cluster management/mgmt")
	own := fluxserver.NewCluster("management", "mgmt")
	own.Object["spec"] = map[string]any{"clusterNetwork": map[string]any{
		"pods": map[string]any{"cidrBlocks": []any{"10.244.0.0/16"}}}}
	shared.Create(ctx, t, own)
	refused("not available", "management/mgmt is not ready", "is not Available")
	shared.Patch(ctx, t, own, `{"status":{"conditions":[{"type":"Available","status":"True","reason":"A",`+
		`"lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)
	shared.Patch(ctx, t, own, `{"spec":{"paused":true}}`)
	refused("paused", "its Cluster is paused")
	shared.Patch(ctx, t, own, `{"spec":{"paused":null}}`)
	foreign := fluxserver.NewCluster("team-c", "shop")
	shared.Create(ctx, t, foreign)
	refused("nothing is there", "does not have the component capd", "does not have the component cabpk",
		"the Cluster team-c/shop exists, but workload apply did not create it",
		"10.244.128.0/24 overlaps with 10.244.0.0/16")
	shared.Remove(ctx, t, foreign)
	for _, name := range []string{"capi", "cabpk", "capd"} {
		k := madeBy(Key{flux.Namespace, flux.ReleaseName}, name)
		k.Name = name
		if name == "cabpk" {
			k.Spec.PostBuild = &kustomizev1.PostBuild{Substitute: map[string]string{
				"EXP_KUBEADM_BOOTSTRAP_FORMAT_IGNITION": "false"}}
		}
		shared.Create(ctx, t, k)
		if name != "capd" {
			k.Status.Conditions = []metav1.Condition{{Type: meta.ReadyCondition, Status: metav1.ConditionTrue,
				Reason: "A", LastTransitionTime: metav1.Now()}}
			if err := shared.Client.Status().Update(ctx, k); err != nil {
				t.Fatal(err)
			}
		}
	}
	refused("a provider is not ready, another takes no Ignition", "component capd of the management cluster "+
		"management/mgmt is not ready",
		"the component cabpk of the management cluster management/mgmt does not accept it")
	refusesIdleControllers(ctx, t, refused)
	shared.Remove(ctx, t, own)
	installed := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: flux.Namespace,
		Name:        environment.ValuesName,
		Annotations: map[string]string{owned.InstalledAnnotation: self.String()}}}
	shared.Create(ctx, t, installed)
	refused("an existing cluster, which has no Cluster of its own", "component capd of the management cluster")
	overlapsInExisting(ctx, t, c)
	leaving, err := flux.HelmRelease(flux.Release{})
	if err != nil {
		t.Fatal(err)
	}
	leaving.Spec.Suspend, leaving.Annotations = true, map[string]string{owned.SuspendedAnnotation: self.String()}
	shared.Create(ctx, t, leaving)
	refused("an existing cluster that is being uninstalled", "management/mgmt is being uninstalled")
	shared.Remove(ctx, t, leaving)
	shared.Patch(ctx, t, installed, `{"metadata":{"annotations":{"cluster-init.io/installed":"other/cluster"}}}`)
	refused("installed for another one", "does not hold its own Cluster management/mgmt")
	shared.Remove(ctx, t, installed)
}

// What is Ready is not enough: the controllers that wrote it must run. Flux is installed here, and runs nowhere.
func refusesIdleControllers(ctx context.Context, t *testing.T, refused func(when string, says ...string)) {
	t.Helper()
	k := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: flux.Namespace, Name: "cabpk"}}
	if err := shared.Client.Get(ctx, client.ObjectKeyFromObject(k), k); err != nil {
		t.Fatal(err)
	}
	k.Status.Inventory = &kustomizev1.ResourceInventory{Entries: []kustomizev1.ResourceRef{
		{ID: "cabpk-system_cabpk-controller-manager_apps_Deployment", Version: "v1"}}}
	if err := shared.Client.Status().Update(ctx, k); err != nil {
		t.Fatal(err)
	}
	refused("a Deployment is gone, and Flux does not run", "Deployment cabpk-controller-manager does not exist",
		"Deployment helm-controller has 0 of 1 replicas available (Deployment/flux-system/helm-controller)")
}

// An existing cluster says itself which networks it has. What it does not say is a warning.
func overlapsInExisting(ctx context.Context, t *testing.T, c Cluster) {
	t.Helper()
	notes := &pipeline.Notes{}
	before := shared.Versions(ctx, t)
	err := c.Check(ctx, notes)
	for _, change := range before.Changes(shared.Versions(ctx, t)) {
		t.Errorf("no range is known: %s", change)
	}
	if err == nil || strings.Contains(err.Error(), "overlaps") {
		t.Errorf("no range is known: %v", err)
	}
	if len(notes.Warnings) != 1 || !strings.Contains(notes.Warnings[0], "cluster's pod range") {
		t.Errorf("warned: %q", notes.Warnings)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "one"},
		Spec: corev1.NodeSpec{PodCIDR: "10.244.128.0/25", PodCIDRs: []string{"10.244.128.0/25"}}}
	shared.Create(ctx, t, node)
	if err := c.Check(ctx, notes); !strings.Contains(err.Error(), "overlaps with 10.244.128.0/25 of the management") {
		t.Errorf("the range of a node: %v", err)
	}
	shared.Remove(ctx, t, node)
	stored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kubeadm-config"},
		Data: map[string]string{"ClusterConfiguration": "networking:\n  podSubnet: 10.244.0.0/16,fd00::/56\n"}}
	shared.Create(ctx, t, stored)
	notes.Warnings = nil
	if err := c.Check(ctx, notes); !strings.Contains(err.Error(), "overlaps with 10.244.0.0/16 of the management") {
		t.Errorf("the range of kubeadm: %v", err)
	}
	if len(notes.Warnings) > 0 {
		t.Errorf("warned although all is known: %q", notes.Warnings)
	}
	shared.Remove(ctx, t, stored)
	c.Machines = []environment.Range{{Path: "nodes", CIDR: "10.0.0.0/24"}}
	if err := c.Check(ctx, notes); !strings.Contains(err.Error(), "overlaps with 10.0.0.0/24 of the management") {
		t.Errorf("the range of services: %v", err)
	}
}

// A cluster is given what belongs to the place of its management cluster, and keeps its own values and its key.
func TestSettledValues(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	given := func(workload bool, sets ...string) *environment.Environment {
		env, err := environment.Load(ctx, environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
			Workload: workload, Variables: func(string) (string, bool) { return "", false }, Sets: sets})
		if err != nil {
			t.Fatal(err)
		}
		return env
	}
	store := func(env *environment.Environment) {
		objects, err := env.Objects()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []client.Object{objects.Values, objects.Secrets, objects.InfraSecrets} {
			Key{env.ClusterNamespace(), env.ClusterName()}.label(o)
		}
		if err := shared.Client.ApplyAll(ctx, objects.Values, objects.Secrets, objects.InfraSecrets); err != nil {
			t.Fatal(err)
		}
	}
	store(given(false, "proxies.https_proxy=http://u:p@proxy:3128", "cluster.registry_mirrors[0].host=docker.io",
		"cluster.registry_mirrors[0].url=http://theirs:5000"))
	shared.Namespaces(ctx, t, "team-e")
	c := Cluster{Management: shared.Client, Self: self, Environment: given(true, "cluster.name=shop",
		"cluster.namespace=team-e", "cluster.registry_mirrors[0].host=docker.io",
		"cluster.registry_mirrors[0].url=http://mine:5000")}
	first, err := c.settle(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(first.changes) > 0 {
		t.Errorf("a cluster that was given nothing yet has changes: %v", first.changes)
	}
	store(first.environment)
	second, err := c.settle(ctx)
	if err != nil || len(second.changes) > 0 {
		t.Fatalf("the same values: changes %v, %v", second.changes, err)
	}
	for _, env := range []*environment.Environment{first.environment, second.environment} {
		values := env.Values(environment.Workload)
		proxies, _ := values["proxies"].(map[string]any)
		cluster, _ := values["cluster"].(map[string]any)
		if proxies["https_proxy"] != "http://u:p@proxy:3128" || !strings.Contains(fmt.Sprint(cluster["registry_mirrors"]), "http://mine:5000") ||
			values["secret_fingerprint_key"] == "" {
			t.Errorf("%v, %v", proxies, cluster["registry_mirrors"])
		}
	}
	if first.environment.Values(environment.Workload)["secret_fingerprint_key"] != second.environment.Values(
		environment.Workload)["secret_fingerprint_key"] {
		t.Error("each run makes another key: Pods restart")
	}
	objects, err := first.environment.Objects()
	if err != nil || strings.Contains(objects.Values.Data[environment.ValuesKey], "u:p@") {
		t.Errorf("the password is in the ConfigMap, %v", err)
	}
	refusesRemovals(ctx, t, c, store, func(sets ...string) *environment.Environment {
		return given(true, append(sets, "cluster.name=shop", "cluster.namespace=team-e")...)
	})
}

// A change that takes something away from a workload cluster must be allowed, as for the management cluster.
func refusesRemovals(ctx context.Context, t *testing.T, c Cluster, store func(*environment.Environment),
	given func(...string) *environment.Environment) {
	t.Helper()
	c.Environment = given("cluster.control_plane.replicas=3", "cluster.worker.replicas=2")
	last, err := c.settle(ctx)
	if err != nil {
		t.Fatal(err)
	}
	store(last.environment)
	c.Environment = given("cluster.control_plane.replicas=1", "cluster.worker.replicas=3")
	notes := &pipeline.Notes{}
	if _, err := c.checkChanges(ctx, notes); fault.CodeOf(err) != fault.ChangeRefused ||
		!strings.Contains(fault.HintOf(err), "--allow-changes cluster.control_plane.replicas.") {
		t.Errorf("fewer machines of the control plane: %v, hint %q", err, fault.HintOf(err))
	}
	if got := strings.Join(notes.Seen, "\n"); !strings.Contains(got, "cluster.worker.replicas: 2 -> 3") {
		t.Errorf("reported %q", got)
	}
	c.AllowChanges = []string{"cluster.control_plane.replicas"}
	if _, err := c.checkChanges(ctx, notes); err != nil {
		t.Errorf("it is allowed: %v", err)
	}
}

// The copy of the source has what the source has, with its Secrets, under names of the cluster's own.
func TestCopySource(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	values, err := json.Marshal(map[string]any{"source": reference{"GitRepository", "telco-cloud-init"}})
	if err != nil {
		t.Fatal(err)
	}
	own, err := flux.HelmRelease(flux.Release{FromGit: true})
	if err != nil {
		t.Fatal(err)
	}
	own.Spec.Values = &apiextensionsv1.JSON{Raw: values}
	repository := flux.GitRepository(flux.GitSource{URL: "https://git.example.org/x.git", Branch: "main",
		SecretName: "telco-cloud-init-git"})
	repository.Spec.Suspend = true
	login := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: flux.Namespace, Name: "telco-cloud-init-git"},
		Data: map[string][]byte{"password": []byte("p")}}
	key := Key{"team-d", "shop"}
	shared.Create(ctx, t, own, repository)
	if _, err := copySource(ctx, shared.Client, key); !apierrors.IsNotFound(err) {
		t.Errorf("without its Secret: %v", err)
	}
	shared.Create(ctx, t, login)
	got, err := copySource(ctx, shared.Client, key)
	if err != nil {
		t.Fatal(err)
	}
	if !got.fromGit || got.chart != "shop-telco-cloud-init" || got.content != (reference{"GitRepository",
		"shop-telco-cloud-init"}) || len(got.objects) != 2 {
		t.Errorf("%+v", got)
	}
	shared.Namespaces(ctx, t, "team-d")
	if err := shared.Client.ApplyAll(ctx, got.objects...); err != nil {
		t.Fatal(err)
	}
	var copied sourcev1.GitRepository
	if err := shared.Client.Get(ctx, client.ObjectKey{Namespace: "team-d", Name: "shop-telco-cloud-init"},
		&copied); err != nil || copied.Spec.URL != repository.Spec.URL || copied.Spec.Suspend ||
		copied.Spec.SecretRef.Name != "shop-git" || copied.Labels[Label] != "shop" {
		t.Errorf("%+v, %v", copied.Spec, err)
	}
}
