package pivot

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// restoreVerbs are the verbs that a restore needs for the objects of a backup.
var restoreVerbs = []string{"get", "list", "create", "patch"}

// prepare checks the backup, the target and the cluster that was backed up, and refuses with all reasons at once.
func (in RestoreInput) prepare(ctx context.Context) (*restoration, error) {
	if err := whole(in.Backup, in); err != nil {
		return nil, in.ofBackup(err)
	}
	identity, err := capi.OwnAuthority(ctx, in.Target.Client)
	if err != nil && !apierrors.IsForbidden(err) { // its kubeconfig identifies it, too
		return nil, unreadableTarget(err)
	}
	if err := in.sameCluster(backup.IdentityOf(identity),
		kube.SameCluster(in.TargetKubeconfig, in.managerKubeconfig())); err != nil {
		return nil, err
	}
	v, err := in.view(ctx)
	if err != nil {
		return nil, unreadableTarget(err)
	}
	old := in.probeFormer(ctx)
	problems := in.lackingKinds(v)
	r := &restoration{in: in, graph: v.source, digest: newDigester()}
	for _, o := range v.source.All() {
		u, _ := v.source.Get(o)
		r.record = append(r.record, r.digest.record(o, u))
	}
	if problems == nil { // otherwise the target's objects cannot be read
		if err := r.observe(ctx); err != nil {
			return nil, unreadableTarget(err)
		}
		if r.stage == RestoreDone {
			if old.state == formerSilent || old.state == formerEmpty { // nothing more is done
				return r, nil
			}
			return r, old.refusal(in)
		}
		problems = append(problems, r.conflict(), in.ofBackup(in.checkUnreadRefs(v)), in.ofBackup(in.unexpected(v)))
	}
	more, err := in.unfit(ctx, v)
	if err != nil {
		return nil, unreadableTarget(err)
	}
	return r, fault.Join(append(problems, more, in.unfinished(), old.refusal(in))...)
}

// ofBackup adds the file or folder to each problem of the backup, because a script may have several backups.
func (in RestoreInput) ofBackup(err error) error {
	var wrong []error
	for _, problem := range fault.Problems(err) {
		wrong = append(wrong, fmt.Errorf("check backup %s: %w", in.Path, problem))
	}
	return fault.Join(wrong...)
}

// view returns what the rules of a move check, with the backup in place of a source.
func (in RestoreInput) view(ctx context.Context) (*view, error) {
	m := in.Backup.Manifest
	v := &view{scope: clusters.Scope{Namespace: m.Namespace, Cluster: m.Cluster}, sourceSide: in.Target,
		targetSide: in.Target,
		denied:     map[schema.GroupKind]bool{}}
	for _, read := range []func() error{
		func() (err error) { v.target, err = capi.Discover(ctx, in.Target.Client, m.Namespace); return },
		func() (err error) { v.targetProviders, err = capi.Providers(ctx, in.Target.Client); return },
		func() (err error) { v.targetUnlabelled, err = capi.UnlabelledCRDs(ctx, in.Target.Client); return },
	} {
		if err := read(); err != nil {
			return nil, fmt.Errorf("target: %w", err)
		}
	}
	v.source = capi.Assemble(in.Backup.Section(backup.Objects), v.target.CRDs, m.Namespace)
	v.moves = v.source.Moves()
	return v, nil
}

// lackingKinds refuses a target without the definitions that clusterctl needs to find the objects, in the version in
// which they were saved.
func (in RestoreInput) lackingKinds(v *view) []error {
	clusters := clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind).GroupKind()
	if !slices.ContainsFunc(slices.Concat(v.target.CRDs, v.targetUnlabelled),
		func(c capi.CRD) bool { return c.GVK.GroupKind() == clusters }) {
		return []error{fault.New(fault.RestoreRefused, "the target has no Cluster API",
			"Name the kubeconfig of a management cluster that cluster-init up has built.")}
	}
	var wrong []error
	for _, u := range in.Backup.Section(backup.Objects) {
		gvk := u.GroupVersionKind()
		if gvk.Group == "" || v.denied[gvk.GroupKind()] {
			continue
		}
		reason, hint := v.lackingKind(gvk)
		if reason == "" {
			continue
		}
		v.denied[gvk.GroupKind()] = true
		wrong = append(wrong, fault.New(fault.RestoreRefused, fmt.Sprintf("%s: %s", gvk.GroupKind(), reason), hint))
	}
	return wrong
}

func (v *view) lackingKind(gvk schema.GroupVersionKind) (reason, hint string) {
	byKind := func(c capi.CRD) bool { return c.GVK.GroupKind() == gvk.GroupKind() }
	const same = "Install the providers that the backup was made with."
	if i := slices.IndexFunc(v.target.CRDs, byKind); i >= 0 {
		// clusterctl uses the stored version of a kind
		if stored := v.target.CRDs[i].GVK.Version; stored != gvk.Version {
			return fmt.Sprintf("the target stores version %s of it, and the backup has %s", stored, gvk.Version), same
		}
		return "", ""
	}
	if i := slices.IndexFunc(v.targetUnlabelled, byKind); i >= 0 {
		return "its CRD has no label " + capi.MoveLabel + " on the target",
			v.labelCRD(v.targetSide, v.targetUnlabelled[i].Name)
	}
	return "the target does not have this kind, or its CRD has no label " + capi.MoveLabel, same
}

// checkUnreadRefs refuses what clusterctl would leave out silently.
func (in RestoreInput) checkUnreadRefs(v *view) error {
	planned := map[capi.Key]bool{}
	for _, o := range v.moves {
		planned[o.Key()] = true
	}
	var wrong []error
	for _, o := range v.source.All() {
		if !planned[o.Key()] {
			wrong = append(wrong, fault.New(fault.BackupInvalid,
				o.String()+" would be left out: nothing in the backup owns it, or an owner of it is missing there",
				"Use another backup, and install the providers that it was made with: the labels of their CRDs count."))
		}
	}
	return fault.Join(wrong...)
}

// conflict refuses a target whose objects of the backup differ from those that a restore leaves.
func (r *restoration) conflict() error {
	if r.stage != RestoreConflict {
		return nil
	}
	var wrong []error
	for _, reason := range r.reasons() {
		wrong = append(wrong, fault.New(fault.RestoreRefused, "the target is not empty: "+reason,
			"Use a management cluster that holds nothing of the backup: build one with another cluster.name. What was "+
				"restored earlier and has changed since is not restored again."))
	}
	return fault.Join(wrong...)
}

// unfit refuses other versions of providers, and what the rules of a move refuse on a target.
func (in RestoreInput) unfit(ctx context.Context, v *view) (error, error) {
	m := in.Backup.Manifest
	target := backup.Target{Namespace: m.Namespace, Cluster: m.Cluster} // the target is another cluster by design
	var wrong []error
	for _, p := range v.targetProviders {
		target.Providers = append(target.Providers, backup.Provider{Name: p.Name, Version: p.Version})
		used := slices.ContainsFunc(m.Providers, func(of backup.Provider) bool { return of.Name == p.Name })
		if used && !p.Ready {
			wrong = append(wrong, fault.Retryable(fmt.Errorf("provider %s is not ready on the target: %s", p.Name,
				p.Message), fault.RestoreRefused, "Wait until it is ready, and run the same command again."))
		}
	}
	wrong = append(wrong, in.ofBackup(m.Fits(target)))
	v.moves = slices.DeleteFunc(slices.Clone(v.moves), func(o capi.Object) bool { return v.denied[o.Key().GroupKind] })
	refusals, err := v.missing(ctx, AtTarget, in.Target, restoreVerbs)
	if err != nil {
		return nil, err
	}
	webhooks, err := checkWebhooks(ctx, v)
	if err != nil {
		return nil, err
	}
	for _, refusal := range slices.Concat(refusals, webhooks) {
		wrong = append(wrong, fault.New(fault.RestoreRefused, refusal.Error(), refusal.Remedy))
	}
	return fault.Join(wrong...), nil
}

func unreadableTarget(err error) error {
	err = fmt.Errorf("look at the target of the restore: %w", err)
	if apierrors.IsForbidden(err) {
		return fault.Wrap(err, fault.RestoreRefused, "Nothing was changed. Use the kubeconfig of an administrator.")
	}
	return fault.Retryable(err, fault.ClusterUnreachable, "Nothing was changed. Check that the API server of the "+
		"target answers, and run the same command again.")
}
