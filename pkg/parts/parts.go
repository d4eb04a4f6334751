// Package parts lists the software of others that cluster-init installs and is built from, with versions. It keeps no
// list of its own: it reads the embedded kustomizations and the module list that the Go linker writes into the binary,
// so that what it reports is what is installed.
package parts

import "strings"

// Part is one piece of software at one version.
type Part struct {
	// Name is the component's folder below kustomize-components (cabpk/bootstrap), or the part's own name (flux).
	Name string `json:"name"`
	// Version is as its origin writes it, usually with a v.
	Version string `json:"version"`
	// Origin is a repository (github.com/fluxcd/flux2), an image without its tag, or a Go module.
	Origin string `json:"origin"`
	// Environments are those that use this version. Empty: it does not depend on the environment.
	Environments []string `json:"environments,omitempty"`
}

// FromImage splits an image reference into origin and version. A digest alone, or no tag, gives no version.
func FromImage(name, reference string) Part {
	reference, _, _ = strings.Cut(reference, "@")
	// A colon before the last slash is the port of a registry.
	if at := strings.LastIndex(reference, ":"); at > strings.LastIndex(reference, "/") {
		return Part{Name: name, Version: reference[at+1:], Origin: reference[:at]}
	}
	return Part{Name: name, Origin: reference}
}
