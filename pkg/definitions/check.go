package definitions

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Check refuses content whose chart knows other definitions than those beside it: a machine template that changed would have to change under
// its old name, which the API server refuses. Its error is a fault EnvironmentInvalid.
func Check(content fs.FS) error {
	want, err := Of(content)
	if err != nil {
		return fault.Wrap(err, fault.EnvironmentInvalid, "")
	}
	text, err := fs.ReadFile(content, File)
	if err != nil {
		return fault.Wrap(fmt.Errorf("read the definitions that the chart knows: %w", err), fault.EnvironmentInvalid, hint(want))
	}
	has, err := Decode(text)
	if err != nil {
		return fault.Wrap(err, fault.EnvironmentInvalid, hint(want))
	}
	if err := addOwn(content, want, has); err != nil {
		return fault.Wrap(err, fault.EnvironmentInvalid, "")
	}
	var differ []string
	for _, at := range slices.Sorted(maps.Keys(want)) {
		if known, there := has[at]; !there || known.Templates != want[at].Templates || !known.hashOnly && !slices.Equal(known.Commands, want[at].Commands) {
			differ = append(differ, at)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(has)) {
		if _, there := want[at]; !there {
			differ = append(differ, at)
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return fault.New(fault.EnvironmentInvalid, fmt.Sprintf("%s does not describe %s: a changed machine template would keep its name, and the API server would refuse it",
		File, strings.Join(differ, ", ")), hint(want))
}

// addOwn adds to want the user's own definitions that the chart knows: components.cluster.path may name any folder.
// Where a folder has no templates, as they come from another server, there is nothing to compare.
func addOwn(content fs.FS, want, has Definitions) error {
	for at := range has {
		own := path.Clean(at)
		if _, known := want[at]; known || !isFolder(content, own) {
			continue
		}
		d, found, err := read(content, own)
		if err != nil {
			return err
		}
		if !found {
			d = has[at]
		}
		want[at] = d
	}
	return nil
}

// Unnamed reports whether content has a definition at a path, as components.cluster.path has it, that its chart does
// not name: a machine template that changes there keeps its name.
func Unnamed(content fs.FS, at string) bool {
	text, err := fs.ReadFile(content, File)
	if err != nil {
		return false
	}
	has, err := Decode(text)
	if err != nil {
		return false
	}
	own := path.Clean(at)
	for named := range has {
		if path.Clean(named) == own {
			return false
		}
	}
	if !isFolder(content, own) {
		return false
	}
	_, found, err := read(content, own)
	return err == nil && found
}

func isFolder(content fs.FS, at string) bool {
	info, err := fs.Stat(content, at)
	return err == nil && info.IsDir()
}

// hint says what the file must hold, on one line.
func hint(want Definitions) string {
	text, err := json.Marshal(want)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("Replace the content of %s with: %s", File, text)
}
