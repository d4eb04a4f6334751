package definitions

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
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

// hint says what the file must hold, on one line.
func hint(want Definitions) string {
	text, err := json.Marshal(want)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("Replace the content of %s with: %s", File, text)
}
