package parts

import "runtime/debug"

// Unknown is the version of a module that the build information does not name. Only `go test` and other build systems
// make binaries without a module list.
const Unknown = "unknown"

// FromModule returns a Go module that the binary was built with, or its replacement. info may be nil.
func FromModule(name, module string, info *debug.BuildInfo) Part {
	if info != nil {
		for _, dependency := range info.Deps {
			if dependency.Path != module {
				continue
			}
			if dependency.Replace != nil {
				dependency = dependency.Replace
			}
			return Part{Name: name, Version: dependency.Version, Origin: dependency.Path}
		}
	}
	return Part{Name: name, Version: Unknown, Origin: module}
}
