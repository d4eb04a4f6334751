// Package drift says how what a cluster holds differs from what `up` would apply to it. It asks API servers for dry
// runs, and changes nothing.
package drift

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Report is how the clusters of an environment differ from it. No secret is in it. Its lists are never null.
type Report struct {
	Type          string    `json:"type"` // "diff"
	SchemaVersion int       `json:"schemaVersion"`
	Environment   string    `json:"environment"`
	Note          string    `json:"note,omitempty"` // what could not be known, and does not stand in the way
	Clusters      []Cluster `json:"clusters"`       // none: nothing is there, all would be made
}

// schemaVersion is that of the document. What is added to it leaves the version as it is.
const schemaVersion = 1

// New returns a Report of an environment, of no cluster yet.
func New(environmentName string) Report {
	return Report{Type: "diff", SchemaVersion: schemaVersion, Environment: environmentName, Clusters: []Cluster{}}
}

// Cluster is how one cluster differs.
type Cluster struct {
	Name   string            `json:"name"` // "bootstrap" or "management"
	Server string            `json:"server,omitempty"`
	Phase  environment.Phase `json:"phase"`
	All    bool              `json:"all,omitempty"`   // nothing of it is there yet: all would be made
	Note   string            `json:"note,omitempty"`  // why it was not compared, and need not be
	Error  string            `json:"error,omitempty"` // why it could not be compared, or only in part
	Parts  []Part            `json:"parts"`
}

// Part is the values, the objects of the chart, or a component.
type Part struct {
	Name    string   `json:"name"`           // "values", "chart", or the component's
	All     bool     `json:"all,omitempty"`  // nothing of it is there yet: all would be made
	Note    string   `json:"note,omitempty"` // what was not compared, and why
	Same    int      `json:"same"`           // objects that are as they would be applied
	Values  []Field  `json:"values,omitempty"`
	Objects []Object `json:"objects"` // those that differ
}

// Change is what `up`, or Flux after it, would do about an object.
type Change string

// What happens to an object.
const (
	Create  Change = "create"
	Update  Change = "update"
	Delete  Change = "delete"
	Leave   Change = "leave"   // it is no longer applied, and not deleted either
	Refused Change = "refused" // the API server would refuse it
	Unknown Change = "unknown" // it could not be compared
)

// Object is one that differs.
type Object struct {
	Change    Change  `json:"change"`
	Kind      string  `json:"kind"`
	Namespace string  `json:"namespace,omitempty"`
	Name      string  `json:"name"`
	Fields    []Field `json:"fields,omitempty"`  // of an update
	Message   string  `json:"message,omitempty"` // why it is refused or unknown
}

// Field is a difference. From is nil where nothing was there, To where nothing will be; both are where neither may be
// shown.
type Field struct {
	Path string `json:"path"` // of a value with dots, of an object's field as a JSON pointer
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

// Differs says whether a run would change something.
func (r Report) Differs() bool {
	return r.missing() || r.Values()+r.Count(Create, Update, Delete, Refused) > 0
}

// missing says whether there is no cluster, or one or a part of one of which nothing is there yet.
func (r Report) missing() bool {
	for _, c := range r.Clusters {
		if c.All || slices.ContainsFunc(c.Parts, func(p Part) bool { return p.All }) {
			return true
		}
	}
	return len(r.Clusters) == 0
}

// Err is an error with the code fault.ClusterUnreachable where something could not be compared: nothing is said of
// that.
func (r Report) Err() error {
	var errs []error
	for _, c := range r.Clusters {
		if c.Error != "" {
			errs = append(errs, fmt.Errorf("the %s cluster: %s", c.Name, c.Error))
		}
	}
	if n := r.Count(Unknown); n > 0 {
		errs = append(errs, fmt.Errorf("%d objects could not be compared", n))
	}
	if len(errs) == 0 {
		return nil
	}
	return fault.Retryable(errors.Join(errs...), fault.ClusterUnreachable,
		"What is shown is what is known. Run the same command again when all of it answers.")
}
