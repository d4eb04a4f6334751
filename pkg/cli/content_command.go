package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

func newContent(streams Streams) *cobra.Command {
	var output outputOptions
	c := &cobra.Command{
		Use:   "content DIR",
		Short: "Write this binary's chart and components into a folder, for a Git repository of your own",
		Long: `content writes the folders charts and kustomize-components of this binary into DIR. A Git repository
with these two folders is what up --source git reads.

DIR must be empty, or not exist yet. A .git in it does not count.`,
		Example: "  cluster-init content ./platform\n  git -C platform init --initial-branch main && git -C platform add --all",
		Args:    exactlyOne("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := output.known(); err != nil {
				return err
			}
			folder, err := filepath.Abs(args[0])
			if err != nil {
				return fault.Wrap(fmt.Errorf("find the folder %s: %w", args[0], err), fault.Usage, "Give a path.")
			}
			files, err := writeContent(folder)
			if err != nil {
				return err
			}
			return output.show(streams, contentLine{Type: "content", SchemaVersion: 1, Folder: folder, Files: files,
				shown: shellWord(args[0])})
		},
	}
	output.formatFlag(c.Flags(), "plain: for people; json: one object")
	return c
}

// writeContent writes the source content of this binary into an empty folder, which it makes if it is missing. It
// returns how many files these are. A folder that cannot be filled is left as it was.
func writeContent(folder string) (int, error) {
	files := map[string][]byte{}
	for _, part := range []string{"charts", "kustomize-components"} {
		tree, err := content.ReadTree(clusterinit.Content(), part)
		if err != nil {
			return 0, err
		}
		for name, data := range tree {
			files[filepath.FromSlash(name)] = data
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fault.Wrap(fmt.Errorf("read the folder %s: %w", folder, err), fault.Usage, "Give another folder.")
	}
	for _, entry := range entries {
		if entry.Name() != ".git" {
			return 0, fault.New(fault.Usage, fmt.Sprintf("%s is not empty: it has %s", folder, entry.Name()),
				"Give another folder, and copy from it what you want.")
		}
	}
	written, err := writeNew(folder, files)
	if err != nil {
		return 0, errors.Join(err, written.takeBack())
	}
	return len(files), nil
}

// contentLine is the output of `content`.
type contentLine struct {
	Type          string `json:"type"` // "content"
	SchemaVersion int    `json:"schemaVersion"`
	Folder        string `json:"folder"`
	Files         int    `json:"files"`

	shown string
}

// Print writes what was made, and the next commands.
func (l contentLine) Print(out io.Writer) error {
	_, err := fmt.Fprintf(out, `%s has charts and kustomize-components, %s.
Next: push it, then read it from there:
  git -C %[3]s init --initial-branch main && git -C %[3]s add --all && git -C %[3]s commit -m "Content of cluster-init"
  git -C %[3]s remote add origin URL && git -C %[3]s push origin main
  cluster-init up ENVIRONMENT --source git --source-url URL
`, l.shown, oneline.Count(l.Files, "file"), l.shown)
	return err
}
