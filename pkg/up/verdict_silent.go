package up

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// judgeAbsence returns absent if the evidence shows that the cluster does not exist, else a refusal. A second set of
// machines next to the first would make two clusters of one name.
func (o observation) judgeAbsence(r request, absent verdict) verdict {
	silent := o.Management.State == clusters.ManagementSilent
	switch {
	case silent && o.Management.Answered:
		return o.silentManagement(r, "it has answered to this run before")
	case errors.Is(o.MachinesErr, provider.ErrNotSupported) && !silent:
		return o.perhapsBuilt(r, absent)
	case errors.Is(o.MachinesErr, provider.ErrNotSupported):
		return o.perhapsGone(r, "nothing else shows whether it exists")
	case o.MachinesErr != nil:
		return verdict{decision: refuse, retryable: true, refusal: fault.Wrap(
			fmt.Errorf("it is not known whether machines of %s exist: %w", r.cluster, o.MachinesErr),
			fault.CodeOr(o.MachinesErr, fault.ClusterUnreachable),
			cmp.Or(fault.HintOf(o.MachinesErr),
				"Run the same command again when the cloud or the Docker engine answers."))}
	case len(o.Machines) > 0 && silent:
		return o.silentManagement(r, fmt.Sprintf("machines of it exist (%s)", names(o.Machines)))
	case len(o.Machines) > 0:
		return verdict{decision: refuse, refusal: fault.New(fault.ClusterUnreachable,
			fmt.Sprintf("machines of %s exist in %s (%s), and no cluster holds their definition",
				r.cluster, r.place, names(o.Machines)),
			"If another machine or CI job built that cluster, put its kubeconfig at "+r.kubeconfig+". "+
				clusters.RecoverHint(r.environment)+" If it is not needed: cluster-init cleanup "+r.environment+".")}
	case silent && !o.Management.Proven:
		return o.unproven(r)
	case silent && clusters.Answered(o.Management.Err):
		return o.perhapsGone(r, "something answers at its address")
	case silent && o.LocalEvidence.Err != nil:
		return o.perhapsGone(r, fmt.Sprintf("it is not known whether a pivot was made (%v)", o.LocalEvidence.Err))
	case silent && o.LocalEvidence.Backup != "":
		return o.perhapsGone(r, fmt.Sprintf(
			"there is a backup of its definition (%s): it may manage itself where this run finds no machine",
			o.LocalEvidence.Backup))
	case silent && !o.LocalEvidence.Building:
		return o.perhapsGone(r,
			"nothing but its kubeconfig names it: it may manage itself where this run finds no machine")
	case silent:
		absent.warn(fmt.Sprintf("%s names a cluster that does not answer: as no pivot was made from here and no "+
			"machine of it exists in %s, it counts as gone, and the file is renamed",
			strings.Join(o.Management.Files, ", "), r.place))
	}
	return absent
}

// perhapsBuilt returns absent if the user says that the cluster is new, or the bootstrap cluster of an earlier run
// proves it. The provider cannot list machines: another machine or CI job may have built the cluster. A second cluster
// of its name would work against it.
func (o observation) perhapsBuilt(r request, absent verdict) verdict {
	// An earlier run created the bootstrap cluster, so it passed this check.
	earlier := o.Bootstrap.State != clusters.BootstrapAbsent && r.bootstrapContainer != ""
	if r.confirmedNew || earlier {
		absent.warn(fmt.Sprintf("%s cannot list its machines: if an earlier run made some of %s, stop now", r.place,
			r.cluster))
		return absent
	}
	listHint := ""
	if r.listCommand != "" {
		listHint = " See what exists: " + r.listCommand + "."
	}
	return verdict{decision: refuse, refusal: fault.New(fault.ClusterUnreachable,
		fmt.Sprintf("it is not known whether %s exists already: %s cannot list its machines, and no "+
			"kubeconfig names it", r.cluster, r.place),
		"If another machine or CI job built that cluster, put its kubeconfig at "+r.kubeconfig+"."+listHint+
			" If it is a new cluster, add --new "+r.cluster+".")}
}

// unproven refuses because the given kubeconfig may be another cluster's: it would be overwritten.
func (o observation) unproven(r request) verdict {
	v := o.silentManagement(r, "nothing proves which cluster that kubeconfig belongs to")
	v.refusal = fault.Wrap(v.refusal, fault.CodeOf(v.refusal),
		o.ifGone(r)+" Else start its machines, or give --kubeconfig another file.")
	return v
}

// perhapsGone refuses because a named cluster does not answer, and the machines of this run's provider prove nothing.
// Another run may have built it in another cloud, on another engine, or with another provider. Only a person can know
// that it is gone.
func (o observation) perhapsGone(r request, because string) verdict {
	v := o.silentManagement(r, because)
	v.refusal = fault.Wrap(v.refusal, fault.CodeOf(v.refusal),
		o.AnswerHint(r.environment, waitHint+" Else use the cluster.infra_provider and the cloud project or Docker "+
			"engine that it was made with, and start its machines.")+" "+o.ifGone(r)+
			" Then run the same command again. If nothing of the environment is needed: cluster-init cleanup "+
			r.environment+".")
	return v
}

// ifGone returns the hint how a person confirms that the cluster is gone: by removing the kubeconfigs that name it.
func (o observation) ifGone(r request) string {
	var remove []string
	if len(o.Management.Files) > 0 {
		remove = append(remove, "rm '"+strings.Join(o.Management.Files, "' '")+"'")
	}
	if o.Bootstrap.Kubeconfig != nil {
		remove = append(remove, pivot.Kubectl(r.source, r.scope())+" delete secret "+r.cluster+"-kubeconfig")
	}
	if len(remove) == 0 {
		return "Make its kubeconfig readable. " + clusters.RecoverHint(r.environment)
	}
	return "If its cluster is gone, remove its kubeconfig: " + strings.Join(remove, " && ") + "."
}

// waitHint helps most often: an API server is silent while its machine is replaced or busy.
const waitHint = "Wait a few minutes, and run the same command again: it resumes."

// silentManagement refuses because a named cluster does not answer.
func (o observation) silentManagement(r request, because string) verdict {
	hint := o.AnswerHint(r.environment, waitHint+
		" Else start its machines, or restore the network in between. Its kubeconfig is "+o.Management.Named+".")
	if !o.Management.Answered { // a cluster that answered a moment ago is not gone: do not suggest cleanup
		hint += " If nothing of the environment is needed: cluster-init cleanup " + r.environment + "."
	}
	err := fmt.Errorf("the management cluster %s does not answer, and %s: %w", r.cluster, because, o.Management.Err)
	if clusters.Rejects(o.Management.Err) {
		return verdict{decision: refuse, retryable: true, refusal: fault.Wrap(err, fault.ClusterUnreachable, hint)}
	}
	return verdict{decision: refuse, retryable: true, refusal: fault.Retryable(err, fault.ClusterUnreachable, hint)}
}

func (o observation) silentBootstrap(r request) verdict {
	what := "the bootstrap cluster exists, and its content is not known"
	if o.Bootstrap.NotChecked {
		what = "it is not known whether a bootstrap cluster exists, and what it holds"
	}
	return verdict{decision: refuse, retryable: fault.CodeOf(o.Bootstrap.Err) != fault.Usage, refusal: fault.Wrap(
		fmt.Errorf("%s: %w", what, o.Bootstrap.Err), fault.CodeOr(o.Bootstrap.Err, fault.ClusterUnreachable),
		bootstrapHint(o, r))}
}

func bootstrapHint(o observation, r request) string {
	if o.Bootstrap.Remedy != "" {
		return o.Bootstrap.Remedy
	}
	if r.bootstrapContainer == "" {
		return fault.HintOf(o.Bootstrap.Err)
	}
	if o.Management.State == clusters.ManagementActive {
		return "See why: docker logs " + r.bootstrapContainer +
			". The management cluster holds its own definition: if the bootstrap cluster held nothing else, " +
			"delete it with docker rm -f -v " + r.bootstrapContainer + ", and run the same command again."
	}
	return "See why: docker logs " + r.bootstrapContainer +
		". It may hold the only definition of the management cluster, so do not " +
		"delete it: run docker restart " + r.bootstrapContainer +
		" and the same command again. If nothing of the environment is needed, run cluster-init cleanup " +
		r.environment + "."
}
