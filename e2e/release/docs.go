package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/cluster-init/cluster-init/pkg/cli"
)

func newDocs() *cobra.Command {
	var version, date string
	c := &cobra.Command{
		Use:   "docs FOLDER",
		Short: "Write the man pages to FOLDER/man and the completions to FOLDER/completions",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			at, err := time.Parse(time.RFC3339, date)
			if err != nil {
				return fmt.Errorf("read --date: %w", err)
			}
			if err := writeManPages(filepath.Join(args[0], "man"), version, at); err != nil {
				return err
			}
			return writeCompletions(filepath.Join(args[0], "completions"))
		},
	}
	c.Flags().StringVar(&version, "version", "development", "version of cluster-init")
	c.Flags().StringVar(&date, "date", time.Now().UTC().Format(time.RFC3339), "date of the commit, RFC 3339")
	return c
}

// writeManPages writes one page for each command that users see. What was in the folder is deleted: a page of a command
// that is gone must not be released.
func writeManPages(folder, version string, date time.Time) error {
	if err := emptyFolder(folder); err != nil {
		return err
	}
	root := cli.Command()
	root.DisableAutoGenTag = true // a line with the day of the build
	header := &doc.GenManHeader{Section: "1", Date: &date, Source: "cluster-init " + version, Manual: "cluster-init"}
	if err := doc.GenManTree(root, header, folder); err != nil {
		return fmt.Errorf("write the man pages: %w", err)
	}
	return nil
}

// writeCompletions writes one file for each shell, named as the shells' own packages name them.
func writeCompletions(folder string) error {
	if err := emptyFolder(folder); err != nil {
		return err
	}
	root := cli.Command()
	for name, generate := range map[string]func(io.Writer) error{
		"cluster-init.bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"_cluster-init":     root.GenZshCompletion,
		"cluster-init.fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
	} {
		if err := writeFile(filepath.Join(folder, name), generate); err != nil {
			return fmt.Errorf("write the completion %s: %w", name, err)
		}
	}
	return nil
}

func emptyFolder(folder string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	return os.MkdirAll(folder, 0o755)
}

// writeFile creates a file and reports also what only closing it finds.
func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
