package workload

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// CheckAddress refuses a cluster whose address could not be deleted after it. It changes nothing.
func (d Deletion) CheckAddress(ctx context.Context) error {
	_, err := d.checkAddress(ctx)
	return err
}

// checkAddress returns what deletes the address that Apply made for the API server: no controller does. It refuses,
// before anything is deleted, if the stored values do not say whether there is one, or if it cannot be deleted. Nil
// means that there is none to delete.
func (d Deletion) checkAddress(ctx context.Context) (provider.AddressDeleter, error) {
	given, err := d.storedValues(ctx)
	if errors.Is(err, errNotStored) {
		ended, endedErr := d.hasOnlyRelease(ctx)
		if ended || endedErr != nil {
			return nil, endedErr
		}
		return nil, d.refuseStored(ctx, err)
	}
	if err != nil {
		return nil, fault.Retryable(d.notDeleted(err), fault.CodeOr(err, fault.ClusterUnreachable),
			"Run the same command again when the management cluster answers.")
	}
	from, err := d.Provider(given)
	if err != nil {
		return nil, d.refuseStored(ctx, err)
	}
	deleter, is := from.(provider.AddressDeleter)
	if !is {
		return nil, nil
	}
	err = deleter.CheckDeleteAddress(ctx)
	if missing := d.missingSecrets(given); err != nil && len(missing) > 0 {
		return nil, d.refuseStored(ctx, fmt.Errorf("%s: %w", strings.Join(missing, ", "), err))
	}
	if err != nil {
		return nil, d.notDeleted(err)
	}
	return deleter, nil
}

func (d Deletion) notDeleted(err error) error {
	return fmt.Errorf("workload cluster %s was not deleted, because the address of its API server could not be "+
		"deleted later: %w", d.Key, err)
}

// refuseStored explains what to do about stored values that are missing, or of no use.
func (d Deletion) refuseStored(ctx context.Context, err error) error {
	hint := "Store the values again: run cluster-init workload apply with the flags of its last run (from Git: let " +
		"Flux apply its file). Then run the same command again."
	if cluster, ownErr := clusters.Own(ctx, d.Management, d.scope()); ownErr == nil && cluster == nil {
		// apply would create the cluster again
		hint = fmt.Sprintf("Its Cluster is gone. List what the infrastructure has of it with %s, and delete that. "+
			"Then delete the release: kubectl -n %s delete helmreleases.helm.toolkit.fluxcd.io %s.", d.cleanupCommand(),
			d.Key.Namespace, d.Key.Name)
	}
	return fault.Wrap(d.notDeleted(err), fault.CodeOr(err, fault.CleanupRefused), hint)
}

func (d Deletion) missingSecrets(given environment.Objects) []string {
	named := environment.WorkloadObjects(d.Key.Namespace, d.Key.Name)
	var missing []string
	if given.Secrets == nil {
		missing = append(missing, fmt.Sprintf("Secret %s does not exist", client.ObjectKeyFromObject(named.Secrets)))
	}
	if given.InfraSecrets == nil {
		missing = append(missing, fmt.Sprintf("Secret %s does not exist",
			client.ObjectKeyFromObject(named.InfraSecrets)))
	}
	return missing
}

// hasOnlyRelease reports whether nothing but the HelmRelease is left: no Cluster, and no source. Only Run deletes the
// sources, right before the values, after the address and the Cluster.
func (d Deletion) hasOnlyRelease(ctx context.Context) (bool, error) {
	cluster, err := clusters.Own(ctx, d.Management, d.scope())
	if err != nil || cluster != nil {
		return false, err
	}
	for _, kind := range []string{sourcev1.GitRepositoryKind, sourcev1.OCIRepositoryKind} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(sourcev1.GroupVersion.WithKind(kind + "List"))
		if err := d.Management.List(ctx, list, client.InNamespace(d.Key.Namespace),
			client.MatchingLabels{Label: d.Key.Name}); err != nil {
			return false, fmt.Errorf("list %s of namespace %s: %w", kind, d.Key.Namespace, err)
		}
		if len(list.Items) > 0 {
			return false, nil
		}
	}
	return true, nil
}

// deleteAddress deletes the address once the machines are gone.
func (d Deletion) deleteAddress(ctx context.Context, deleter provider.AddressDeleter, report pipeline.Reporter) error {
	if deleter == nil {
		return nil
	}
	deleted, err := deleter.DeleteAddress(ctx)
	if len(deleted) > 0 {
		report.Progress("deleted the address of the API server: %s", strings.Join(deleted, ", "))
	}
	if err != nil {
		return fmt.Errorf("delete the address of the API server of %s: %w", d.Key, err)
	}
	return nil
}
