package cli

import (
	"cmp"
	"runtime"
	"runtime/debug"
)

// `make release` sets these variables with the linker's -X; see .goreleaser.yaml. No code assigns to them. They are
// empty in other builds.
var (
	version string // of the release, with its v
	commit  string // that it was built from
	date    string // of that commit, RFC 3339: then the same commit gives the same binary
)

// buildIdentity identifies a build of cluster-init.
type buildIdentity struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"` // of the commit, RFC 3339
	Go       string `json:"go"`
	Platform string `json:"platform"` // GOOS/GOARCH
}

// Version returns the version of the release, or of the module that this binary was built from, or the commit, or
// "development".
func Version() string {
	info, _ := debug.ReadBuildInfo()
	return identify(info).Version
}

// identify prefers what the linker set to what Go recorded. info may be nil.
func identify(info *debug.BuildInfo) buildIdentity {
	id := buildIdentity{Version: version, Commit: commit, Date: date, Go: runtime.Version(), Platform: runtime.GOOS +
		"/" + runtime.GOARCH}
	module := ""
	if info != nil {
		module = info.Main.Version
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				id.Commit = cmp.Or(id.Commit, s.Value)
			case "vcs.time":
				id.Date = cmp.Or(id.Date, s.Value)
			}
		}
	}
	if module == "(devel)" {
		module = ""
	}
	id.Version = cmp.Or(id.Version, module, id.Commit, "development")
	return id
}
