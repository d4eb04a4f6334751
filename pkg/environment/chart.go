package environment

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/definitions"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/helm"
)

// Namespace is where Flux, the release, its Kustomizations and the objects of an environment live.
const Namespace = "flux-system"

// ReleaseName is the name of the chart, of its release and of its source.
const ReleaseName = "telco-cloud-init"

const chartFolder = "charts/telco-cloud-init"

// loadChart reads the chart from the content, and the values of those phases that have a file of their own.
func loadChart(content fs.FS) (*helm.Chart, map[Phase][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(content, chartFolder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[strings.TrimPrefix(name, chartFolder+"/")], err = fs.ReadFile(content, name)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", chartFolder, err)
	}
	if err := putDefinitions(files, content); err != nil {
		return nil, nil, err
	}
	loaded, err := helm.Load(files)
	if err != nil {
		return nil, nil, fmt.Errorf("load %s: %w", chartFolder, err)
	}
	phased := map[Phase][]byte{}
	for _, phase := range []Phase{Bootstrap, Workload} {
		phased[phase] = files[string(phase)+".values.yaml"]
	}
	return loaded, phased, nil
}

// putDefinitions gives the chart the hashes of the definitions next to it, if any, whatever its own file says. The
// chart is published in this form.
func putDefinitions(files map[string][]byte, content fs.FS) error {
	known, err := definitions.Of(content)
	if err != nil || len(known) == 0 {
		return err
	}
	files[path.Base(definitions.File)], err = known.Encode()
	return err
}

// Values returns the values that the chart uses in a phase, including its own defaults. The map is a copy.
func (e *Environment) Values(phase Phase) map[string]any { return copyMap(e.settled[phase]) }

// settle sets the values of the environment, and all that is read from them.
func (e *Environment) settle(effective documents) {
	e.effective = effective.normalized()
	e.stored, e.rendered = e.effective, nil
	e.settled = map[Phase]map[string]any{}
	for _, phase := range e.phases() {
		e.settled[phase] = e.coalesced(phase)
	}
	lasting := e.settled[e.lasting()]
	e.spec, e.git = decode[Spec](lasting), decode[gitValues](lasting)
	cluster, _ := lasting["cluster"].(map[string]any)
	openstack, _ := cluster["openstack"].(map[string]any)
	e.openstack = decode[openStackValues](openstack)
	aws, _ := cluster["aws"].(map[string]any)
	e.aws = decode[awsValues](aws)
}

// coalesced are the values as the chart sees them.
func (e *Environment) coalesced(phase Phase) map[string]any {
	values, err := e.chart.Values(e.given(phase))
	if err != nil {
		// Only a chart with broken dependencies can fail here, and this one has none.
		return nil
	}
	return values
}

// given are the values as the HelmRelease passes them to the chart.
func (e *Environment) given(phase Phase) map[string]any {
	values := map[string]any{}
	if own := e.phased[phase]; len(own) > 0 {
		values, _ = helm.ReadValues(own)
	}
	return merge(merge(values, e.effective.merged()), map[string]any{"phase": string(phase)})
}

// phases are the phases of the chart in which the environment is used.
func (e *Environment) phases() []Phase {
	switch {
	case e.workload:
		return []Phase{Workload}
	case e.installed:
		return []Phase{Management}
	}
	return []Phase{Bootstrap, Management}
}

// lasting is the phase of the cluster that stays.
func (e *Environment) lasting() Phase {
	phases := e.phases()
	return phases[len(phases)-1]
}

// release is what templates see of the HelmRelease of a phase.
func (e *Environment) release(phase Phase) helm.Release {
	if phase == Workload {
		return helm.Release{Name: e.ClusterName(), Namespace: e.ClusterNamespace()}
	}
	return helm.Release{Name: ReleaseName, Namespace: Namespace}
}

// Render returns the objects that the chart makes in a phase. overrides is the HelmRelease's own spec.values, which win
// over all others. The error is a fault.
func (e *Environment) Render(phase Phase, overrides map[string]any) ([]*unstructured.Unstructured, error) {
	if kept, is := e.rendered[phase]; is && len(overrides) == 0 {
		objects := make([]*unstructured.Unstructured, len(kept.objects))
		for i, object := range kept.objects {
			objects[i] = object.DeepCopy()
		}
		return objects, nil
	}
	given := merge(e.given(phase), overrides)
	settled, err := e.chart.Values(given)
	if err != nil {
		return nil, fault.Join(e.explain(phase, err)...)
	}
	if err := e.checkSchema(settled); err != nil {
		return nil, err
	}
	r, err := e.render(phase, e.chart, given)
	return r.objects, err
}

// checkUnique refuses two objects of one name: Helm would refuse them later, or apply only one of them.
func checkUnique(objects []*unstructured.Unstructured) error {
	seen := map[string]bool{}
	var problems []error
	for _, o := range objects {
		name := o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
		if seen[name] {
			problems = append(problems, fault.New(fault.ValuesInvalid, "two parts of the values would both be the "+
				name,
				"Give one of the components, namespaces or repositories in that name another one."))
		}
		seen[name] = true
	}
	return fault.Join(problems...)
}
