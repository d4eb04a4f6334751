package pivot

import (
	"github.com/cluster-init/cluster-init/pkg/capi"
)

// documentVersion is the version of the document's format. A new field does not change it.
const documentVersion = 1

// PreviewDocument is what `pivot plan -o json` prints. Its lists are never null.
type PreviewDocument struct {
	Type          string        `json:"type"` // "pivot-plan"
	SchemaVersion int           `json:"schemaVersion"`
	Environment   string        `json:"environment"`
	Namespace     string        `json:"namespace"`
	Cluster       string        `json:"cluster"`
	Phase         Phase         `json:"phase"`
	Stage         Stage         `json:"stage,omitempty"` // of the phase interrupted
	MayStart      bool          `json:"mayStart"`
	Moves         []movedObject `json:"moves"` // in the order in which they are created
	Stays         []stayObject  `json:"stays"`
	Refusals      []refusalLine `json:"refusals"`
	Recovery      []stepLine    `json:"recovery"`
	Notes         []string      `json:"notes"`
}

// objectName names an object.
type objectName struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

type movedObject struct {
	objectName
	Group int         `json:"group"` // from 1: all of a group are created before the next one
	Owner *objectName `json:"owner,omitempty"`
}

type stayObject struct {
	objectName
	NeededBy []objectName `json:"neededBy"`
	Reason   string       `json:"reason"`
	Remedy   string       `json:"remedy,omitempty"`
	Rule     Rule         `json:"rule,omitempty"` // that refuses the move because of it
}

type refusalLine struct {
	Rule   Rule   `json:"rule"`
	Object string `json:"object,omitempty"`
	Reason string `json:"reason"`
	Remedy string `json:"remedy"`
}

type stepLine struct {
	Action  Action       `json:"action"`
	Where   Where        `json:"where"`
	Objects []objectName `json:"objects"`
	Command string       `json:"command,omitempty"`
}

// Document returns the preview for programs. environment is the name of the environment.
func (p Preview) Document(environment string) PreviewDocument {
	d := PreviewDocument{
		Type: "pivot-plan", SchemaVersion: documentVersion, Environment: environment, Namespace: p.Scope.Namespace,
		Cluster: p.Scope.Cluster,
		Phase:   p.State.Phase, Stage: p.State.Stage, MayStart: p.MayStart(),
		Moves: []movedObject{}, Stays: []stayObject{}, Refusals: []refusalLine{}, Recovery: []stepLine{},
		Notes: append([]string{}, p.Notes...),
	}
	for i, group := range p.Groups {
		for _, o := range group {
			moved := movedObject{objectName: nameOf(o), Group: i + 1}
			if owner, owned := p.Parent(o); owned {
				name := nameOf(owner)
				moved.Owner = &name
			}
			d.Moves = append(d.Moves, moved)
		}
	}
	for _, stay := range p.Stays {
		d.Stays = append(d.Stays, stayObject{nameOf(stay.Object), namesOf(stay.NeededBy), stay.Reason, stay.Remedy,
			stay.Rule})
	}
	for _, r := range p.Refusals {
		d.Refusals = append(d.Refusals, refusalLine{r.Rule, r.Object, r.Reason, r.Remedy})
	}
	for _, step := range p.Recovery() {
		d.Recovery = append(d.Recovery, stepLine{step.Action, step.Where, namesOf(step.Objects),
			step.Command(p.Source, p.Target, p.Scope)})
	}
	return d
}

func nameOf(o capi.Object) objectName {
	return objectName{o.APIVersion, o.Kind, o.Namespace, o.Name}
}

func namesOf(objects []capi.Object) []objectName {
	names := []objectName{}
	for _, o := range objects {
		names = append(names, nameOf(o))
	}
	return names
}
