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
	side := func(name string, state fmt.Stringer, err error) {
		if err != nil {
			list = append(list, Signals{health.Ref{Kind: "APIServer", Name: name},
				[]Signal{{Origin: originError, Reason: state.String(), Message: err.Error()}}})
		}
	}
	side(clusters.BootstrapName, text(o.Bootstrap.State), o.Bootstrap.Err)
	side(clusters.ManagementName, text(o.Management.State), o.Management.Err)
	return list
}

type text string

func (t text) String() string { return string(t) }

// machinesUnknown says why the machines could not be listed, if so.
func machinesUnknown(o clusters.Observation, of provider.Provider) []string {
	if o.MachinesErr == nil {
		return nil
	}
	return []string{fmt.Sprintf("which machines exist in %s: %v", of.Place(), o.MachinesErr)}
}
