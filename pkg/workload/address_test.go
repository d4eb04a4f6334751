package workload

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// addressed is a provider that has made an address, which is in the cloud until DeleteAddress.
type addressed struct {
	cloud
	check, deletion error
	deleted         *bool
}

func (a addressed) CheckDeleteAddress(context.Context) error { return a.check }

func (a addressed) DeleteAddress(context.Context) ([]string, error) {
	*a.deleted = a.deletion == nil
	return []string{"203.0.113.9"}, a.deletion
}

// leftScene is a management cluster with the workload cluster team-a/shop, which a deletion finds.
type leftScene struct {
	noCluster, noValues, noSecret, noRest bool   // objects that do not exist
	unreadable                            string // name of an object that cannot be read
}

func (s leftScene) client(t *testing.T) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, flux.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	kind := clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind)
	scheme.AddKnownTypeWithName(kind, &unstructured.Unstructured{})
	scheme.AddKnownTypeWithName(clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind+"List"),
		&unstructured.UnstructuredList{})
	named := metav1.ObjectMeta{Namespace: "team-a", Name: "shop", Labels: map[string]string{Label: "shop"}}
	objects := []client.Object{&helmv2.HelmRelease{ObjectMeta: named}}
	stored := environment.WorkloadObjects("team-a", "shop")
	for _, o := range []client.Object{stored.Values, stored.Secrets, stored.InfraSecrets} {
		o.SetLabels(named.Labels)
	}
	if !s.noValues {
		objects = append(objects, stored.Values)
	}
	if !s.noSecret {
		objects = append(objects, stored.Secrets, stored.InfraSecrets)
	}
	if !s.noCluster {
		cluster := &unstructured.Unstructured{}
		cluster.SetGroupVersionKind(kind)
		cluster.SetNamespace("team-a")
		cluster.SetName("shop")
		objects = append(objects, cluster)
	}
	if !s.noRest {
		source := &sourcev1.OCIRepository{}
		Key{"team-a", "shop"}.name(source, flux.ReleaseName)
		objects = append(objects, source)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object,
			options ...client.GetOption) error {
			if key.Name == s.unreadable {
				return apierrors.NewForbidden(corev1.Resource("configmaps"), key.Name, errors.New("no"))
			}
			return c.Get(ctx, key, o, options...)
		}}).Build()
}

// left are the names of what exists of the cluster: of its Cluster, its release and its values.
func left(t *testing.T, c client.Client) []string {
	t.Helper()
	cluster := &unstructured.Unstructured{}
	cluster.SetGroupVersionKind(clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind))
	var names []string
	for name, o := range map[string]client.Object{"Cluster": cluster, "release": &helmv2.HelmRelease{},
		"Secret": &corev1.Secret{}} {
		key := client.ObjectKey{Namespace: "team-a", Name: "shop"}
		if name == "Secret" {
			key = client.ObjectKeyFromObject(environment.WorkloadObjects("team-a", "shop").InfraSecrets)
		}
		switch err := c.Get(context.Background(), key, o); {
		case err == nil:
			names = append(names, name)
		case !apierrors.IsNotFound(err):
			t.Fatal(err)
		}
	}
	slices.Sort(names)
	return names
}

// Only this command deletes the address. If it cannot know whether there is one, or cannot delete it, it deletes
// nothing: then everything that says where the address is still exists.
func TestADeletionLeavesNoAddress(t *testing.T) {
	all := []string{"Cluster", "Secret", "release"}
	for name, tc := range map[string]struct {
		scene           leftScene
		check, deletion error
		provider        error
		docker          bool
		keeps           []string
		deleted         bool
		code            fault.Code
		says, hint      string
	}{
		"an address": {deleted: true},
		"none":       {docker: true},
		"the values are gone": {scene: leftScene{noValues: true}, keeps: all, code: fault.CleanupRefused,
			says: "ConfigMap team-a/shop-values does not exist", hint: "cluster-init workload apply"},
		"the values are gone, and the Cluster": {scene: leftScene{noValues: true, noCluster: true}, keeps: all[1:],
			code: fault.CleanupRefused, says: "ConfigMap team-a/shop-values does not exist",
			hint: "cluster-init cleanup ENVIRONMENT --set cluster.name=shop --set cluster.namespace=team-a"},
		"an earlier run was interrupted at its end": {scene: leftScene{noValues: true, noCluster: true, noRest: true}},
		"the values cannot be read": {scene: leftScene{unreadable: "shop-values"}, keeps: all,
			code: fault.ClusterUnreachable, says: "reading team-a/shop-values", hint: "Run the same command again"},
		"the values are not YAML": {provider: errors.New("read ConfigMap x: it is not YAML"), keeps: all,
			code: fault.CleanupRefused, says: "it is not YAML", hint: "cluster-init workload apply"},
		"the Secret with the credentials is gone": {scene: leftScene{noSecret: true},
			check: fault.New(fault.CredentialsMissing, "there is no cloud", "Set it."), keeps: []string{"Cluster", "release"},
			code: fault.CredentialsMissing, says: "Secret team-a/shop-infra-secrets does not exist",
			hint: "cluster-init workload apply"},
		"a Secret that a cluster without address does not need": {scene: leftScene{noSecret: true}, docker: true},
		"the cloud does not answer": {check: fault.Retryable(errors.New("503"), fault.CloudUnreachable, "Wait."),
			keeps: all, code: fault.CloudUnreachable, says: "503", hint: "Wait."},
		"the address cannot be deleted": {deletion: errors.New("409"), keeps: all[1:],
			says: "delete the address of the API server of team-a/shop: 409"},
	} {
		t.Run(name, func(t *testing.T) {
			c, deleted := tc.scene.client(t), false
			d := Deletion{Key: Key{"team-a", "shop"}, Management: &kube.Cluster{Name: "management", Client: c},
				Provider: func(environment.Objects) (provider.Provider, error) {
					if tc.docker {
						return leaves{lists: new(int)}, tc.provider
					}
					return addressed{cloud: cloudWith(provider.Found{}), check: tc.check, deletion: tc.deletion,
						deleted: &deleted}, tc.provider
				}}
			d.Cluster = clusters.Deletion{Cluster: d.Management, Heartbeat: time.Minute, Now: time.Now}
			synctest.Test(t, func(t *testing.T) {
				err := d.Run(t.Context(), &pipeline.Notes{})
				if (err != nil) != (tc.says != "") || err != nil && (!strings.Contains(err.Error(), tc.says) ||
					!strings.Contains(fault.HintOf(err), tc.hint) || tc.code != "" && fault.CodeOf(err) != tc.code) {
					t.Errorf("%v\ncode %s, hint %q", err, fault.CodeOf(err), fault.HintOf(err))
				}
				if got := left(t, c); !slices.Equal(got, tc.keeps) || deleted != tc.deleted {
					t.Errorf("kept %q, want %q; the address is deleted: %t", got, tc.keeps, deleted)
				}
			})
		})
	}
}
