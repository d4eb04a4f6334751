package restore_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/restore"
)

// TestWhetherARestoreMayStart is the table of all that may stand in its way. Nothing is written in any of them.
func TestWhetherARestoreMayStart(t *testing.T) {
	onTarget := func(s side) func(*testing.T, *restoring) {
		return func(t *testing.T, r *restoring) { r.Force, r.Target.Client = true, s.client(t) }
	}
	without := func(edit func(*apiextensionsv1.CustomResourceDefinition) bool) side {
		s := target()
		s.crds = edit
		return s
	}
	const machines = "machines.cluster.x-k8s.io"
	for name, tc := range map[string]struct {
		world func(*testing.T, *restoring)
		code  fault.Code
		want  string
		hint  string
	}{
		"the old cluster does not answer": {func(*testing.T, *restoring) {}, fault.RestoreRefused,
			"may still manage the machines", "add --force mgmt"},
		"the old cluster is gone for good": {func(_ *testing.T, r *restoring) { r.Force = true }, "", "", ""},
		"the old cluster is active": {func(t *testing.T, r *restoring) {
			r.Force, r.old = true, oldCluster(t, onlyCluster())
		}, fault.RestoreRefused, "at https://192.0.2.1 still holds Cluster " +
			"management/mgmt (active)", "two clusters must not act"},
		"the old cluster is paused": {func(t *testing.T, r *restoring) {
			objects := onlyCluster()
			paused(objects[0])
			r.Force, r.old = true, oldCluster(t, objects)
		}, fault.RestoreRefused, "Cluster management/mgmt (paused)", ""},
		"the old cluster holds somebody else's Cluster": {func(t *testing.T, r *restoring) {
			r.old = oldCluster(
				t, oneOf(tenant()))
		}, "", "", ""},
		"the old cluster lost its definition, and Flux runs": {func(t *testing.T, r *restoring) {
			r.Force, r.old = true, oldCluster(t, nil, false, false)
		}, fault.RestoreRefused, "would apply it again: helmrelease telco-cloud-init, kustomization cluster",
			`kubectl -n flux-system patch kustomization cluster --type merge -p '{"spec":{"suspend":true}}'`},
		"the old cluster lost its definition, and only the release runs": {func(t *testing.T, r *restoring) {
			r.old = oldCluster(t, nil, false, true)
		}, fault.RestoreRefused, "would apply it again: helmrelease telco-cloud-init", ""},
		"the old cluster lost its definition, and Flux is suspended": {func(t *testing.T,
			r *restoring) {
			r.old = oldCluster(t, nil, true, true)
		}, "", "", ""},
		"the old cluster lost its definition, and a pool of workers runs": {func(t *testing.T, r *restoring) {
			r.old = oldCluster(t, nil, true, true)
			pool := fixture.FluxObject(1, false)
			pool.SetName("workers-gpu")
			pool.SetLabels(map[string]string{owned.PoolLabel: "gpu"})
			must(t, r.old.Create(t.Context(), pool))
		}, fault.RestoreRefused, "would apply it again: kustomization workers-gpu", ""},
		"its definition was moved out of it": {func(t *testing.T,
			r *restoring) {
			r.old = movedOut(t, oldCluster(t, nil, true, true))
		}, fault.RestoreRefused, "a move took its definition", "--force mgmt"},
		"its definition was moved out of it, and a person resumed Flux": {func(t *testing.T, r *restoring) {
			r.old, r.Force = movedOut(t, oldCluster(t, nil, false, true)), true
		}, fault.RestoreRefused, "would apply it again: helmrelease telco-cloud-init", ""},
		"and that is gone for good": {func(t *testing.T, r *restoring) {
			r.old, r.Force = movedOut(t, oldCluster(t, nil, true, true)), true
		}, "", "", ""},
		"the old cluster has no Flux": {func(t *testing.T, r *restoring) { r.old = oldCluster(t, nil) }, "", "", ""},
		"the old cluster does not say what it holds": {func(t *testing.T, r *restoring) {
			r.Force, r.old = true, listing(oldCluster(t, nil), apierrors.NewUnauthorized("expired"))
		}, fault.RestoreRefused, "answers, but does not show what it holds", "newer backup"},
		"the old cluster's etcd is lost": {func(t *testing.T, r *restoring) {
			r.old = listing(oldCluster(t, nil), apierrors.NewInternalError(context.DeadlineExceeded))
		}, fault.RestoreRefused, "may still manage the machines", ""},
		"the old cluster's etcd is lost for good": {func(t *testing.T, r *restoring) {
			r.Force, r.old = true, listing(oldCluster(t, nil), apierrors.NewInternalError(context.DeadlineExceeded))
		}, "", "", ""},
		"the old cluster is active, and does not say what its Flux does": {func(t *testing.T, r *restoring) {
			r.Force, r.old = true, reading(oldCluster(t, onlyCluster()),
				apierrors.NewInternalError(context.DeadlineExceeded))
		}, fault.RestoreRefused, "still holds Cluster management/mgmt (active)", ""},
		"the old cluster is active, and its Flux may not be read": {func(t *testing.T, r *restoring) {
			r.Force, r.old = true, reading(oldCluster(t, onlyCluster()),
				apierrors.NewForbidden(schema.GroupResource{}, "", nil))
		}, fault.RestoreRefused, "still holds Cluster management/mgmt (active)", ""},
		"nobody has the old cluster's kubeconfig": {func(t *testing.T, r *restoring) {
			r.backUp(t, fixture.Unset("Secret", "mgmt-kubeconfig", "data"))
		}, fault.RestoreRefused, "the backup holds no kubeconfig of that cluster", ""},
		"only a kubeconfig from elsewhere shows that it is empty": {func(t *testing.T, r *restoring) {
			r.backUp(t, fixture.Unset("Secret", "mgmt-kubeconfig", "data"))
			r.Backup.Manifest.Identity, r.old = backup.IdentityOf([]byte(oldAuthority)), oldCluster(t, nil)
		}, "", "", ""},
		"one from elsewhere shows that it is active": {func(t *testing.T, r *restoring) {
			r.backUp(t, fixture.Unset("Secret", "mgmt-kubeconfig", "data"))
			r.Backup.Manifest.Identity = backup.IdentityOf([]byte(oldAuthority))
			r.Force, r.old = true, oldCluster(t, onlyCluster())
		}, fault.RestoreRefused, "still holds Cluster management/mgmt (active)", ""},
		"one from elsewhere is of another cluster": {func(t *testing.T, r *restoring) {
			r.backUp(t, fixture.Unset("Secret", "mgmt-kubeconfig", "data"))
			r.Verified, r.old = true, oldCluster(t, nil)
		}, fault.RestoreRefused, "the backup holds no kubeconfig of that cluster", ""},
		"the backup does not say which cluster it is of": {func(t *testing.T, r *restoring) {
			r.backUp(t, fixture.Unset("Secret", "mgmt-kubeconfig", "data"))
			r.Backup.Manifest.Identity, r.old = "", oldCluster(t, nil)
		}, fault.RestoreRefused, "the backup holds no kubeconfig of that cluster", ""},
		"one shows that it is empty, and another one of that name is active": {func(t *testing.T, r *restoring) {
			r.backUp(t, fixture.Unset("Secret", "mgmt-kubeconfig", "data"))
			r.Backup.Manifest.Identity = backup.IdentityOf([]byte(oldAuthority))
			other := strings.Replace(oldKubeconfig, "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCmIyeGsK",
				"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCmIzUm8K", 1)
			r.Former = append([]restore.Former{{Path: "/other", Content: []byte(other)}}, r.Former...)
			empty, active := oldCluster(t, nil), oldCluster(t, onlyCluster())
			r.Ask = func(kubeconfig []byte) (client.Client, string, error) {
				if string(kubeconfig) == other {
					return active, "https://192.0.2.1", nil
				}
				return empty, "https://192.0.2.1", nil
			}
		}, fault.RestoreRefused, "still holds Cluster management/mgmt (active)", ""},
		"the old cluster's kubeconfig runs a program": {func(t *testing.T, r *restoring) {
			r.Ask = nil
			text := strings.Replace(oldKubeconfig, `"token":"hunter2"`,
				`"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"touch","interactiveMode":"Never"}`,
				1)
			r.backUp(t, kubeconfigSecret(text))
		}, fault.RestoreRefused, "the kubeconfig is refused: it has exec", ""},
		"anybody may answer for the old cluster": {func(t *testing.T, r *restoring) {
			r.Ask = nil
			r.backUp(t, kubeconfigSecret(strings.Replace(oldKubeconfig, "certificate-authority-data",
				"proxy-url-of-old", 1)))
		}, fault.RestoreRefused, "it has no certificate-authority-data", ""},
		"only the backup says where the old cluster is": {func(t *testing.T, r *restoring) {
			r.Former, r.old = nil, oldCluster(t, nil)
		}, fault.RestoreRefused, "its address comes from the backup alone, whose signature was not checked",
			"--former-kubeconfig FILE"},
		"only the backup does, and its signature was checked": {func(t *testing.T, r *restoring) {
			r.Former, r.old, r.Verified = nil, oldCluster(t, nil), true
		}, "", "", ""},
		"only the backup does, and the cluster is gone for good": {func(t *testing.T, r *restoring) {
			r.Former, r.old, r.Force = nil, oldCluster(t, nil), true
		}, "", "", ""},
		"a kubeconfig of another cluster attests nothing": {func(t *testing.T, r *restoring) {
			r.old = oldCluster(t, nil)
			r.Former[0].Content = []byte(strings.Replace(oldKubeconfig, "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCmIyeGsK",
				"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCmIzUm8K", 1))
		}, fault.RestoreRefused, "the backup alone", ""},
		"a forged kubeconfig in the backup, and the old cluster is active": {func(t *testing.T, r *restoring) {
			r.Force = true
			empty, active := oldCluster(t, nil), oldCluster(t, onlyCluster())
			r.Ask = func(kubeconfig []byte) (client.Client, string, error) {
				if strings.Contains(string(kubeconfig), "another-token") {
					return active, "https://192.0.2.1", nil
				}
				return empty, "https://192.0.2.66", nil
			}
		}, fault.RestoreRefused, "at https://192.0.2.1 still holds Cluster " +
			"management/mgmt (active)", ""},
		"the kubeconfig that an earlier run kept is of the target": {func(_ *testing.T, r *restoring) {
			r.Force = true
			r.TargetKubeconfig = []byte(strings.Replace(oldKubeconfig, "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCmIyeGsK",
				"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCmIzUm8K", 1))
			r.Former[0].Content = r.TargetKubeconfig
		}, "", "", ""},
		"the move was not finished, and the backup was moved away from its record": {func(t *testing.T, r *restoring) {
			r.old, r.StateFolder = oldCluster(t, nil), t.TempDir()
			must(t, os.WriteFile(filepath.Join(r.StateFolder, "mgmt-20260102T030405Z.unverified"), nil, 0o600))
		}, fault.RestoreRefused, "a move that is not known to be finished", "pivot resume"},
		"an administrator's rights among the references": {func(t *testing.T, r *restoring) {
			r.Force = true
			r.forge(t, backup.References, "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "")
		}, fault.BackupInvalid, "ClusterRoleBinding evil in references/ is of a kind that no object of Cluster API " +
			"refers to", "--verify-key KEY"},
		"a role of the namespace": {func(t *testing.T, r *restoring) {
			r.Force = true
			r.forge(t, backup.References, "rbac.authorization.k8s.io/v1", "RoleBinding", "management")
		}, fault.BackupInvalid, "RoleBinding management/evil in references/ is of a kind", ""},
		"a reference that nothing names": {func(t *testing.T, r *restoring) {
			r.Force = true
			r.forge(t, backup.References, "v1", "Secret", "kube-system")
		}, fault.BackupInvalid, "Secret kube-system/evil in references/ has no object that names it", ""},
		"a kind among the objects that does not move": {func(t *testing.T, r *restoring) {
			r.Force = true
			r.forge(t, backup.Objects, "v1", "Pod", "management")
		}, fault.BackupInvalid, "Pod management/evil in objects/ is of a kind that does not move with a cluster", ""},
		"rights among the objects": {func(t *testing.T, r *restoring) {
			r.Force = true
			r.forge(t, backup.Objects, "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "")
		}, fault.RestoreRefused, "ClusterRoleBinding.rbac.authorization.k8s.io: the target does not have this kind",
			""},
		"an object of another namespace": {func(t *testing.T, r *restoring) {
			r.Force = true
			r.forge(t, backup.Objects, "v1", "Secret", "flux-system")
		}, fault.BackupInvalid, "Secret flux-system/evil in objects/ is in another namespace than the cluster", ""},
		"the move of the backup was not finished": {func(t *testing.T, r *restoring) {
			r.old = oldCluster(t, nil)
			must(t, os.WriteFile(r.Path+".unverified", nil, 0o600))
		}, fault.RestoreRefused, "a move that is not known to be finished", "pivot resume"},
		"it was not, and the state folder is another one": {func(t *testing.T, r *restoring) {
			r.old, r.StateFolder = oldCluster(t, nil), t.TempDir()
			must(t, os.WriteFile(r.Path+".unverified", nil, 0o600))
		}, fault.RestoreRefused, "a move that is not known to be finished", "pivot resume"},
		"it was not, and both clusters are gone for good": {func(t *testing.T, r *restoring) {
			r.Force = true
			must(t, os.WriteFile(r.Path+".unverified", nil, 0o600))
		}, "", "", ""},
		"the state folder cannot be read, and both are gone for good": {func(_ *testing.T, r *restoring) {
			r.Force, r.StateFolder = true, "\x00"
		}, fault.RestoreRefused, "check whether the move of the backup was finished", ""},

		"the target is the old cluster, by its kubeconfig": {func(_ *testing.T, r *restoring) {
			r.Force, r.TargetKubeconfig = true, []byte(oldKubeconfig)
		}, fault.RestoreRefused, "taken from the target itself, the management cluster mgmt", "another cluster.name"},
		"the target is the old cluster, by what it says of itself": {func(t *testing.T, r *restoring) {
			own := fixture.One("ConfigMap", "mgmt-load-balancer")[0]
			own.SetName("kube-root-ca.crt")
			own.Object["data"] = map[string]any{"ca.crt": "the-certificate"}
			r.Force = true
			must(t, fixture.Create(t.Context(), r.Target.Client, "default", oneOf(own)))
		}, fault.RestoreRefused, "taken from the target itself, the management cluster mgmt", ""},
		"the target has no Cluster API": {onTarget(
			without(func(*apiextensionsv1.CustomResourceDefinition) bool { return false })),
			fault.RestoreRefused, "the target has no Cluster API", "cluster-init up"},
		"the target lacks a kind": {onTarget(
			without(func(crd *apiextensionsv1.CustomResourceDefinition) bool { return crd.Name != machines })),
			fault.RestoreRefused, "Machine.cluster.x-k8s.io: the target does not have this kind", ""},
		"the target lacks a label": {onTarget(without(func(crd *apiextensionsv1.CustomResourceDefinition) bool {
			if crd.Name == machines {
				crd.Labels = nil
			}
			return true
		})), fault.RestoreRefused, "Machine.cluster.x-k8s.io: its CRD has no label", "label crd " + machines},
		"the target stores another version": {onTarget(
			without(func(crd *apiextensionsv1.CustomResourceDefinition) bool {
				if crd.Name == machines {
					crd.Spec.Versions[0].Name = "v1beta3"
				}
				return true
			})), fault.RestoreRefused, "the target stores version v1beta3 of it, and the backup has v1beta2", ""},
		"the target would leave something out": {onTarget(
			without(func(crd *apiextensionsv1.CustomResourceDefinition) bool {
				delete(crd.Labels, "clusterctl.cluster.x-k8s.io/move")
				return true
			})), fault.BackupInvalid, "ServerGroup management/mgmt-control-plane would be left out", ""},
		"a provider of another version": {onTarget(target(fixture.Edit(func(u *object) {
			if u.GetName() == "capi-controller-manager" {
				setImage(u, "registry.k8s.io/cluster-api/cluster-api-controller:v1.15.0")
			}
		}))), fault.BackupInvalid, "the backup was made with provider cluster-api v1.14.0, and the target has v1.15.0",
			""},
		"a provider that is not ready": {onTarget(
			target(fixture.Set("Deployment", "capd-controller-manager", int64(0), "status", "availableReplicas"))),
			fault.RestoreRefused, "provider infrastructure-docker is not ready on the target", "Wait"},
		"a webhook that does not answer": {func(_ *testing.T, r *restoring) {
			r.Force = true
			r.Target.Client = creating(r.Target.Client, apierrors.NewInternalError(errWebhook))
		}, fault.RestoreRefused, "the target would not accept it", ""},

		"the target has a definition of its own": {func(t *testing.T, r *restoring) {
			r.Force = true
			must(t, fixture.Create(t.Context(), r.Target.Client, "elsewhere", fixture.Named("elsewhere")))
			must(t, fixture.Create(t.Context(), r.Target.Client, fixture.Namespace, oneOf(tenant())))
		}, "", "", ""},
		"the target has credentials that are as in the backup": {func(t *testing.T, r *restoring) {
			r.Force = true
			must(t, fixture.Create(t.Context(), r.Target.Client, fixture.Namespace, fixture.One("Secret", "mgmt-ca")))
		}, "", "", ""},
		"the target has other credentials of that name": {func(t *testing.T, r *restoring) {
			r.Force = true
			must(t, fixture.Create(t.Context(), r.Target.Client, fixture.Namespace, fixture.One("Secret", "mgmt-ca"),
				fixture.Set("Secret", "mgmt-ca", "aHVudGVyMg==", "data", "tls.key")))
		}, fault.RestoreRefused, "the target is not empty: Secret management/mgmt-ca has another data",
			"another cluster.name"},
		"the target has an active Cluster of that name": {func(t *testing.T, r *restoring) {
			r.Force = true
			must(t, fixture.Create(t.Context(), r.Target.Client, fixture.Namespace, onlyCluster()))
		}, fault.RestoreRefused, "Cluster management/mgmt is active", ""},
		"the target has a Cluster of that name that a person paused": {func(t *testing.T, r *restoring) {
			r.Force = true
			must(t, fixture.Create(t.Context(), r.Target.Client, fixture.Namespace, onlyCluster(), paused))
		}, fault.RestoreRefused, "Cluster management/mgmt is paused, and not by a restore", ""},
		"the target is deleting what a restore began": {func(t *testing.T, r *restoring) {
			r.Force = true
			u := fixture.One("Secret", "mgmt-ca")
			u[0].SetFinalizers([]string{"example.com/stays"})
			must(t, fixture.Create(t.Context(), r.Target.Client, fixture.Namespace, u))
			must(t, r.Target.Client.Delete(t.Context(), u[0]))
		}, fault.RestoreRefused, "Secret management/mgmt-ca is being deleted", ""},
		"an object whose owner is not there": {func(t *testing.T, r *restoring) {
			r.Force = true
			must(t, fixture.Create(t.Context(), r.Target.Client, fixture.Namespace, fixture.One("DevCluster", "mgmt")))
		}, fault.RestoreRefused, "DevCluster management/mgmt has an owner that does not exist", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRestoring(t)
			tc.world(t, r)
			err := restore.Check(t.Context(), r.Input)
			if tc.code == "" && err != nil || tc.code != "" &&
				(fault.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.want) ||
					!strings.Contains(fault.HintOf(err), tc.hint)) {
				t.Errorf("got %v, with code %s and hint\n%s\nwant %s %q", err, fault.CodeOf(err), fault.HintOf(err),
					tc.code, tc.want)
			}
			if tc.code == fault.BackupInvalid && !strings.Contains(err.Error(), "check backup "+r.Path+": ") {
				t.Errorf("it does not name the backup: %v", err)
			}
			if err != nil && strings.Contains(err.Error()+fault.HintOf(err), "hunter2") {
				t.Errorf("it shows a secret: %v", err)
			}
			if r.made > 0 {
				t.Errorf("%d objects were created", r.made)
			}
		})
	}
}

// TestAllReasonsAreSaidAtOnce: one run names whatever a person has to do.
func TestAllReasonsAreSaidAtOnce(t *testing.T) {
	r := newRestoring(t)
	r.old = oldCluster(t, onlyCluster())
	s := target(fixture.Set("Deployment", "capi-controller-manager", "gone", "metadata", "labels",
		"cluster.x-k8s.io/provider"))
	s.crds = func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		return crd.Spec.Group != schema.ParseGroupKind("X.openstack.k-orc.cloud").Group
	}
	r.Target.Client = s.client(t)
	err := restore.Check(t.Context(), r.Input)
	if got := fault.Problems(err); len(got) != 3 {
		t.Errorf("%d problems: %v", len(got), err)
	}
}

// reading is a cluster in which only lists succeed.
func reading(c client.Client, err error) client.Client {
	return interceptor.NewClient(c.(client.WithWatch),
		interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object,
			...client.GetOption) error {
			return err
		}})
}

func listing(c client.Client, err error) client.Client {
	return interceptor.NewClient(c.(client.WithWatch),
		interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList,
			...client.ListOption) error {
			return err
		}})
}
