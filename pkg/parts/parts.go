// Package parts lists the third-party software that cluster-init installs and is built from, with versions. It has no
// list of its own: it reads the embedded kustomizations and the binary's module list, so that it reports what is
// installed.
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
	// Environments are those that use this version. Empty means that the version does not depend on the environment.
	Environments []string `json:"environments,omitempty"`
}

// FromImage splits an image reference into origin and version. A reference without a tag has no version: a digest does
// not count.
func FromImage(name, reference string) Part {
	reference, _, _ = strings.Cut(reference, "@")
	// A colon before the last slash is the port of a registry.
	if at := strings.LastIndex(reference, ":"); at > strings.LastIndex(reference, "/") {
		return Part{Name: name, Version: reference[at+1:], Origin: reference[:at]}
	}
	return Part{Name: name, Origin: reference}
}
