package readiness

import "fmt"

// judgeRegistry finds registries that do not run although a source reads from them: Flux fetches nothing new, and a
// restarted source-controller has no artifact for the Kustomizations.
func judgeRegistry(v *view) []Finding {
	var found []Finding
	for _, p := range v.probes(RegistryRuns) {
		if p.OK {
			continue
		}
		name := p.Object.Name
		f := Finding{ID: "registry-stopped", Object: p.Object, Severity: Blocking, Certain: true, Message: p.Message,
			Cause: fmt.Sprintf("the registry %s does not run, and a source of Flux reads from it: %s", name,
				p.Message),
			Remedy: "Run `cluster-init up`, or start it: docker start " + name}
		switch p.Message {
		case RegistryAbsent:
			f.ID = "registry-missing"
			f.Cause = fmt.Sprintf("the registry %s does not exist any more, and a source of Flux reads from it", name)
			f.Remedy = "Run `cluster-init up`, which creates it again with its content"
		case RegistryPaused:
			f.ID = "registry-paused"
			f.Cause = fmt.Sprintf("the registry %s is paused, and a source of Flux reads from it", name)
			f.Remedy = "Unpause it: docker unpause " + name
		}
		found = append(found, f)
	}
	return found
}
