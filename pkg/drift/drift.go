// Package drift compares a cluster with what `up` would apply to it. It uses server-side dry runs and changes nothing.
package drift

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// Report lists how the clusters of an environment differ from it, without secrets. Clusters, Parts and Objects are
// never null in JSON.
type Report struct {
	Type          string    `json:"type"` // "diff"
	SchemaVersion int       `json:"schemaVersion"`
	Environment   string    `json:"environment"`
	Note          string    `json:"note,omitempty"` // what is not known, if that does not affect the comparison
	Clusters      []Cluster `json:"clusters"`       // empty if no cluster exists: everything would be created
}

// schemaVersion is the version of the JSON document. Additions do not change it.
const schemaVersion = 1

// New returns a Report of an environment, without clusters yet.
func New(environmentName string) Report {
	return Report{Type: "diff", SchemaVersion: schemaVersion, Environment: environmentName, Clusters: []Cluster{}}
}

// Cluster is how one cluster differs.
type Cluster struct {
	Name   string            `json:"name"` // "bootstrap" or "management"
	Server string            `json:"server,omitempty"`
	Phase  environment.Phase `json:"phase"`
	All    bool              `json:"all,omitempty"`   // nothing of it exists yet: everything would be created
	Note   string            `json:"note,omitempty"`  // explanation for people
	Error  string            `json:"error,omitempty"` // why it could not be compared completely
	Parts  []Part            `json:"parts"`
}

// Part is one compared part: the values, the chart's objects, or a component.
type Part struct {
	Name    string   `json:"name"`           // "values", "chart", or the component's
	All     bool     `json:"all,omitempty"`  // nothing of it was applied for this cluster yet: all of it would be
	Note    string   `json:"note,omitempty"` // explanation for people
	Same    int      `json:"same"`           // objects that do not differ
	Values  []Field  `json:"values,omitempty"`
	Objects []Object `json:"objects"` // those that differ
}

// Change is what `up`, or Flux after it, would do with an object.
type Change string

// What happens to an object.
const (
	Create  Change = "create"
	Update  Change = "update"
	Delete  Change = "delete"
	Leave   Change = "leave"   // it is no longer applied and is not deleted
	Refused Change = "refused" // the API server would refuse it
	Unknown Change = "unknown" // it could not be compared
)

// Object is an object that differs.
type Object struct {
	Change    Change  `json:"change"`
	Kind      string  `json:"kind"`
	Namespace string  `json:"namespace,omitempty"`
	Name      string  `json:"name"`
	Fields    []Field `json:"fields,omitempty"`  // of an update
	Message   string  `json:"message,omitempty"` // why it is refused or unknown
}

// Field is a difference:
//   - From is nil if the field is added.
//   - To is nil if the field is removed.
//   - Both are nil if neither may be shown.
//   - For values, both are short text, and "none" means not set.
type Field struct {
	Path string `json:"path"` // a value's path with dots, or a JSON pointer to an object's field
	From any    `json:"from,omitempty"`
	To   any    `json:"to,omitempty"`
}

// Count returns how many objects have one of these changes.
func (r Report) Count(which ...Change) int {
	n := 0
	for _, c := range r.Clusters {
		for _, p := range c.Parts {
			for _, o := range p.Objects {
				if slices.Contains(which, o.Change) {
					n++
				}
			}
		}
	}
	return n
}

// Values returns how many values differ.
func (r Report) Values() int {
	n := 0
	for _, c := range r.Clusters {
		for _, p := range c.Parts {
			n += len(p.Values)
		}
	}
	return n
}

// Differs reports whether a run would change something.
func (r Report) Differs() bool {
	return r.missing() || r.Values()+r.Count(Create, Update, Delete, Refused) > 0
}

// missing reports whether no cluster exists, or a cluster or a part of one does not exist yet.
func (r Report) missing() bool {
	for _, c := range r.Clusters {
		if c.All || slices.ContainsFunc(c.Parts, func(p Part) bool { return p.All }) {
			return true
		}
	}
	return len(r.Clusters) == 0
}

// Err is an error with the code fault.ClusterUnreachable if something could not be compared.
func (r Report) Err() error {
	var errs []error
	for _, c := range r.Clusters {
		if c.Error != "" {
			errs = append(errs, fmt.Errorf("the %s cluster: %s", c.Name, c.Error))
		}
	}
	if n := r.Count(Unknown); n > 0 {
		errs = append(errs, fmt.Errorf("%s could not be compared", oneline.Count(n, "object")))
	}
	if len(errs) == 0 {
		return nil
	}
	return fault.Retryable(errors.Join(errs...), fault.ClusterUnreachable,
		"Run the same command again when everything answers: what is shown is incomplete.")
}
