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

// Check refuses content whose definitions.json does not match its definitions: a changed machine template would have to
// change under its old name, which the API server refuses. Its error is a fault EnvironmentInvalid.
func Check(content fs.FS) error {
	want, err := Of(content)
	if err != nil {
		return fault.Wrap(err, fault.EnvironmentInvalid, "")
	}
	text, err := fs.ReadFile(content, File)
	if err != nil {
		return fault.Wrap(fmt.Errorf("read the chart's definitions.json: %w", err), fault.EnvironmentInvalid,
			hint(want))
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
		if known, there := has[at]; !there || !known.fits(want[at]) {
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
	return differs(differ, want)
}

// addOwn adds to want the user's own definitions that the chart knows: components.cluster.path may name any folder. For
// a folder without templates it adds the chart's entry: such a definition may be fetched from another server.
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

// CheckUsed is Check for the one definition that a release uses, at a path as in components.cluster.path: the others do
// no harm. hashed reports whether the chart has a hash of its templates. Without one a changed template keeps its name.
// Only a user's own definition, in another folder, may have none. A path without templates is not checked, and counts
// as hashed.
func CheckUsed(content fs.FS, at string) (hashed bool, err error) {
	if !isFolder(content, path.Clean(at)) { // Flux reports it
		return true, nil
	}
	want, found, err := read(content, path.Clean(at))
	if err != nil {
		return false, fault.Wrap(err, fault.EnvironmentInvalid, "Correct that file in the source.")
	}
	if !found {
		return true, nil
	}
	own := !strings.HasPrefix(at, "./"+folder+"/")
	has := Definitions{}
	if text, err := fs.ReadFile(content, File); err == nil { // a chart without the file knows no hash
		if has, err = Decode(text); err != nil {
			return false, fault.Wrap(err, fault.EnvironmentInvalid, hint(Definitions{at: want}))
		}
	}
	known := has[at]
	switch {
	case known.Templates == "" && own:
		return false, nil
	case known.fits(want):
		return true, nil
	}
	corrected := maps.Clone(has)
	corrected[at] = want
	return false, differs([]string{at}, corrected)
}

// fits reports whether the chart's entry matches a definition. An earlier chart's entry has no commands or lists to
// compare.
func (d Definition) fits(want Definition) bool {
	return d.Templates == want.Templates && (d.hashOnly || slices.Equal(d.Commands, want.Commands)) &&
		(d.Lists == nil || maps.EqualFunc(d.Lists, want.Lists, slices.Equal))
}

// differs is the error about definitions that do not match the chart's entries. want is what the chart must contain.
func differs(at []string, want Definitions) error {
	err := fmt.Errorf("%s does not describe %s: a changed machine template would keep its name, and the API server "+
		"would refuse it", File, strings.Join(at, ", "))
	return fault.Wrap(err, fault.EnvironmentInvalid, hint(want))
}

func isFolder(content fs.FS, at string) bool {
	info, err := fs.Stat(content, at)
	return err == nil && info.IsDir()
}

// hint returns the content that the file must have, on one line.
func hint(want Definitions) string {
	text, err := json.Marshal(want)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("Replace the content of %s with: %s", File, text)
}
