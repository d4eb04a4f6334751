package status

import (
	"context"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// Drift lists the values of the environment that differ from the values last applied to its cluster, without secrets.
type Drift struct {
	Values []Difference `json:"values"`
	// Unknown says why the values could not be compared.
	Unknown string `json:"unknown,omitempty"`
}

// Difference is a value that differs. From is the value in the cluster, To the value that up would apply. Both are
// empty for a secret.
type Difference struct {
	Key  string `json:"key"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// compareValues compares the environment with the cluster that holds the definition. Nil means that there is none, or
// that no values of this environment were applied to it yet.
func compareValues(ctx context.Context, seen up.Outlook, env *environment.Environment) *Drift {
	holder := seen.Holder()
	if holder == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	changes, appliedFor, err := rollout.Differences(ctx, holder, env)
	switch {
	case err != nil:
		return &Drift{Values: []Difference{}, Unknown: err.Error()}
	case appliedFor != env.ClusterName():
		return nil
	}
	d := &Drift{Values: []Difference{}}
	for _, c := range changes {
		d.Values = append(d.Values, Difference{Key: c.Key, From: c.From, To: c.To})
	}
	return d
}

// addressWarning reports an address that the cluster loses with a machine, by the values that the holder was given.
// Where these cannot be read, compareValues says so.
func addressWarning(ctx context.Context, seen up.Outlook, env *environment.Environment) string {
	holder := seen.Holder()
	if holder == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	applied, err := rollout.Applied(ctx, holder, env)
	if err != nil {
		return ""
	}
	return applied.AddressWarning()
}

func printAddress(b *strings.Builder, warning string) {
	if warning != "" {
		oneline.Fprintf(b, "\naddress: %s\n", warning)
	}
}

func printDrift(b *strings.Builder, d *Drift, wide bool) {
	switch {
	case d == nil:
	case d.Unknown != "":
		oneline.Fprintf(b, "\nvalues not compared with the environment: %s\n",
			oneline.Of(d.Unknown, messageLimit(wide)))
	case len(d.Values) > 0:
		oneline.Fprintf(b, "\nvalues of the environment that are not applied yet (cluster-init diff shows all "+
			"differences, up applies them):\n")
		for _, v := range d.Values {
			oneline.Fprintf(b, "  %s\n", v)
		}
	}
}

// String returns the difference as KEY: FROM -> TO. A secret has no values: KEY: changed.
func (d Difference) String() string {
	return environment.Change{Key: d.Key, From: d.From, To: d.To}.String()
}
