package diagnose

import (
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// observedIn lists the problems in an observation, causes before their effects.
func observedIn(o clusters.Observation, bootstrapNode string) []Signals {
	var list []Signals
	for _, m := range o.Machines {
		switch {
		case m.Paused:
			list = append(list, Signals{health.Ref{Kind: "Container", Name: m.Name},
				[]Signal{{Origin: originStopped, Reason: "paused", Message: "is paused"}}})
		case m.Stopped:
			list = append(list, Signals{health.Ref{Kind: "Container", Name: m.Name},
				[]Signal{{Origin: originStopped, Message: "does not run"}}})
		}
	}
	if o.Bootstrap.State == clusters.BootstrapStopped {
		list = append(list, Signals{health.Ref{Kind: "Container", Name: bootstrapNode},
			[]Signal{{Origin: originStopped, Message: "does not run"}}})
	}
	addSilent := func(name, state string, err error) {
		if err != nil {
			list = append(list, Signals{health.Ref{Kind: "APIServer", Name: name},
				[]Signal{{Origin: originError, Reason: state, Message: err.Error()}}})
		}
	}
	addSilent(clusters.BootstrapName, string(o.Bootstrap.State), o.Bootstrap.Err)
	addSilent(clusters.ManagementName, string(o.Management.State), o.Management.Err)
	return list
}

// machinesUnknown returns why the machines could not be listed. It returns nil if they were.
func machinesUnknown(o clusters.Observation, cloud provider.Provider) []string {
	if o.MachinesErr == nil {
		return nil
	}
	return []string{fmt.Sprintf("which machines exist in %s: %v", cloud.Place(), o.MachinesErr)}
}
