package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Command returns the command tree, to generate man pages and completions. Its streams are empty: do not run it.
func Command() *cobra.Command {
	return newRoot(Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
}
