package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Command returns the command tree, for those who make man pages and completions from it. Its streams are empty: it is
// not there to be run.
func Command() *cobra.Command {
	return newRoot(Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
}
