package restore

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/pivot/record"
)

// verbs are those that a restore needs for the objects of a backup.
var verbs = []string{"get", "list", "create", "patch"}

// prepare checks the backup, the target and the cluster that was backed up. It refuses an unusable backup and the same
// cluster first, and then with all other reasons at once.
func (input Input) prepare(ctx context.Context) (*restoration, error) {
	if err := input.checkComplete(); err != nil {
		return nil, input.ofBackup(err)
	}
	authority, err := capi.OwnAuthority(ctx, input.Target.Client)
	if err != nil && !apierrors.IsForbidden(err) { // the kubeconfig identifies the target, too
		return nil, unreadableTarget(err)
	}
	if err := input.refuseSameCluster(backup.IdentityOf(authority),
		kube.SameCluster(input.TargetKubeconfig, input.managerKubeconfig())); err != nil {
		return nil, err
	}
	manifest := input.Backup.Manifest
	scope := clusters.Scope{Namespace: manifest.Namespace, Cluster: manifest.Cluster}
	target, err := pivot.ReadTarget(ctx, input.Target, scope, input.Backup.Section(backup.Objects),
		manifest.Namespaces()[1:]...)
	if err != nil {
		return nil, unreadableTarget(err)
	}
	former := input.probeFormer(ctx)
	problems := input.checkKinds(target)
	r := &restoration{input: input, digest: record.NewDigester()}
	for _, o := range target.Graph().All() {
		u, _ := target.Graph().Get(o)
		r.record = append(r.record, r.digest.Entry(o, u))
	}
	if problems == nil { // otherwise the target's objects cannot be read
		if err := r.observe(ctx); err != nil {
			return nil, unreadableTarget(err)
		}
		if err := r.observeReleases(ctx); err != nil {
			return nil, unreadableTarget(err)
		}
		if r.stage == Done { // a finished restore needs no confirmation
			if err := fault.Join(input.ofBackup(input.unexpectedReleases(ctx)), r.refuseAppliers()); err != nil {
				return nil, err
			}
			if former.state == formerSilent || former.state == formerEmpty {
				return r, nil
			}
			return r, former.refusal(input)
		}
		problems = append(problems, r.conflict(), input.ofBackup(leftOut(target)),
			input.ofBackup(input.unexpected(target.Graph())), input.ofBackup(input.unexpectedReleases(ctx)),
			r.refuseReleases(), r.refuseAppliers())
	}
	more, err := input.checkTarget(ctx, target)
	if err != nil {
		return nil, unreadableTarget(err)
	}
	return r, fault.Join(append(problems, more, input.refuseUnverifiedMove(), former.refusal(input))...)
}

// checkComplete refuses a backup that cannot be restored, and names the objects.
func (input Input) checkComplete() error {
	var wrong []error
	refuse := func(format string, args ...any) {
		wrong = append(wrong, fault.New(fault.BackupInvalid, oneline.Sprintf(format, args...),
			"Use another backup, or another copy of this one."))
	}
	seen := map[string]bool{}
	for _, u := range input.Backup.Section(backup.Objects) {
		switch uid := string(u.GetUID()); {
		case uid == "":
			refuse("%s %s/%s in the backup has no UID: owner references need it", u.GetKind(), u.GetNamespace(),
				u.GetName())
		case seen[uid]:
			refuse("%s %s/%s in the backup has the UID of another object", u.GetKind(), u.GetNamespace(), u.GetName())
		default:
			seen[uid] = true
		}
	}
	manifest := input.Backup.Manifest
	hasOwnCluster := slices.ContainsFunc(input.clusters(), func(o capi.Object) bool {
		return o.Name == manifest.Cluster && o.Namespace == manifest.Namespace
	})
	if !hasOwnCluster {
		refuse("the backup does not hold its own Cluster %s/%s", manifest.Namespace, manifest.Cluster)
	}
	listed := map[string]bool{}
	for _, w := range manifest.Workloads {
		listed[w.String()] = true
		if !slices.ContainsFunc(input.clusters(), func(o capi.Object) bool {
			return o.Namespace == w.Namespace && o.Name == w.Cluster
		}) {
			refuse("the manifest of the backup lists Cluster %s, but the backup does not hold it", w)
		}
	}
	for _, o := range input.clusters() {
		if o.Namespace != manifest.Namespace && !listed[o.Namespace+"/"+o.Name] {
			refuse("the manifest of the backup does not list %s", o)
		}
	}
	return fault.Join(wrong...)
}

// ofBackup adds the file or folder to each problem of the backup, because a script may have several backups.
func (input Input) ofBackup(err error) error {
	var wrong []error
	for _, problem := range fault.Problems(err) {
		wrong = append(wrong, fmt.Errorf("check backup %s: %w", input.Path, problem))
	}
	return fault.Join(wrong...)
}

// checkKinds refuses a target without the CRDs that clusterctl needs to create the objects, in the version in which
// they were saved.
func (input Input) checkKinds(target *pivot.Target) []error {
	if !target.HasClusterAPI() {
		return []error{fault.New(fault.RestoreRefused, "the target has no Cluster API",
			"Give the kubeconfig of a management cluster that cluster-init up has built.")}
	}
	var wrong []error
	seen := map[schema.GroupKind]bool{}
	for _, u := range input.Backup.Section(backup.Objects) {
		gvk := u.GroupVersionKind()
		reason, hint := target.Lacks(gvk)
		if reason == "" || seen[gvk.GroupKind()] {
			continue
		}
		seen[gvk.GroupKind()] = true
		wrong = append(wrong, fault.New(fault.RestoreRefused, fmt.Sprintf("%s: %s", gvk.GroupKind(), reason), hint))
	}
	return wrong
}

// leftOut refuses what clusterctl would leave out silently.
func leftOut(target *pivot.Target) error {
	var wrong []error
	for _, o := range target.Left() {
		wrong = append(wrong, fault.New(fault.BackupInvalid,
			o.String()+" would be left out: nothing in the backup owns it, or an owner of it is missing there",
			"Use another backup, or install the providers that the backup lists: their CRDs need clusterctl's labels."))
	}
	return fault.Join(wrong...)
}

// conflict refuses a target whose objects of the backup differ from those that a restore leaves.
func (r *restoration) conflict() error {
	if r.stage != Conflict {
		return nil
	}
	var wrong []error
	for _, reason := range r.reasons() {
		wrong = append(wrong, fault.New(fault.RestoreRefused, "the target is not empty: "+reason,
			"Build a management cluster with another cluster.name: the target must hold nothing of the backup, or "+
				"only what an earlier restore created, unchanged."))
	}
	return fault.Join(wrong...)
}

// checkTarget refuses providers that are missing, of another version or not ready. It also refuses what the rules about
// permissions and webhooks refuse.
func (input Input) checkTarget(ctx context.Context, observed *pivot.Target) (error, error) {
	m := input.Backup.Manifest
	target := backup.Target{Namespace: m.Namespace, Cluster: m.Cluster} // the target is another cluster by design
	var wrong []error
	for _, p := range observed.Providers() {
		target.Providers = append(target.Providers, backup.Provider{Name: p.Name, Version: p.Version})
		used := slices.ContainsFunc(m.Providers, func(other backup.Provider) bool { return other.Name == p.Name })
		if used && !p.Ready {
			wrong = append(wrong, fault.Retryable(fmt.Errorf("provider %s is not ready on the target: %s", p.Name,
				p.Message), fault.RestoreRefused, "Wait until it is ready, and run the same command again."))
		}
	}
	wrong = append(wrong, input.ofBackup(m.Fits(target)))
	refusals, err := observed.Refusals(ctx, verbs)
	if err != nil {
		return nil, err
	}
	for _, refusal := range refusals {
		wrong = append(wrong, fault.New(fault.RestoreRefused, refusal.Error(), refusal.Remedy))
	}
	return fault.Join(wrong...), nil
}

func unreadableTarget(err error) error {
	err = fmt.Errorf("read the target of the restore: %w", err)
	if apierrors.IsForbidden(err) {
		return fault.Wrap(err, fault.RestoreRefused, "Nothing was changed. Use the kubeconfig of an administrator.")
	}
	return fault.Retryable(err, fault.ClusterUnreachable, "Nothing was changed. Check that the API server of the "+
		"target answers, and run the same command again.")
}
