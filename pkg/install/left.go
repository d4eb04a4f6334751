package install

import (
	"slices"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// stays describes what the run leaves in the cluster.
func (i inventory) stays() []string {
	var all []string
	if !i.installed {
		return nil
	}
	for key, stays := range i.leaves {
		if stays {
			all = append(all, "the objects of component "+key.Name+": the cluster's own nodes use them")
		}
	}
	for _, o := range i.lost() {
		if why := i.shared(o); o.Kind == "Namespace" && !isSystem(o.Name) && why != "" {
			all = append(all, "Namespace "+o.Name+": "+why)
		}
	}
	for _, name := range i.byHelm {
		all = append(all, "Namespace "+name+": Helm created it for a chart, and leaves it")
	}
	components := map[string][]object{}
	for _, o := range i.orphans {
		components[applier(o).Name] = append(components[applier(o).Name], o)
	}
	for name, objects := range components {
		all = append(all, "what component "+name+" applied, which the release no longer has: "+abbreviated(objects))
	}
	charts := map[string][]object{}
	for _, o := range i.charted {
		if isLeftByHelm(o) {
			charts[chartOf(o).Name] = append(charts[chartOf(o).Name], o)
		}
	}
	for name, objects := range charts {
		all = append(all, "what Helm leaves of chart "+name+": "+abbreviated(objects))
	}
	if i.fluxIsUsed() {
		all = append(all, "Flux: it is used by "+abbreviatedNames(i.fluxUsers))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// prove fails if the cluster still has something that install put there, other than the mark and the namespace of Flux.
func (i inventory) prove() error {
	var left []object
	for _, o := range slices.Concat(i.lost(), i.inputs) {
		if !i.keeps(o) && !(o.Kind == "Namespace" && o.GetLabels()[partOf] == "flux") {
			left = append(left, o)
		}
	}
	if len(left) == 0 {
		return nil
	}
	return fault.New(fault.CleanupFailed, "still in the cluster: "+abbreviated(left),
		"Run the same command again: another process recreated it.")
}
