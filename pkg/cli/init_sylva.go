package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/sylva"
)

// convert returns the files of an environment that says what a folder of the seed project says. name is the cluster's; empty: the folder says it, or the new folder's name
// is it.
func convert(ctx context.Context, seed, folder, name string) (map[string][]byte, sylva.Converted, error) {
	keys, err := environment.Keys(clusterinit.Content())
	if err != nil {
		return nil, sylva.Converted{}, err
	}
	c, err := sylva.Convert(seed, name, filepath.Base(folder), environment.List(clusterinit.Content()), keys)
	if err != nil {
		return nil, c, err
	}
	if err := checkClusterName(c.Name); err != nil && !strings.Contains(c.Name, "${") {
		return nil, c, err
	}
	files, err := environment.Scaffold(ctx, environment.Options{Name: c.From, Content: clusterinit.Content(), Derive: derive}, folder, "converted")
	if err != nil {
		return nil, c, err
	}
	files[environment.OwnValuesFile] = append([]byte(convertedHeader(seed, c)), c.Values...)
	if c.Secrets != nil {
		files[environment.OwnSecretsFile] = append([]byte(schemaLine()+"#\n# Secret: keep this file out of Git.\n"), c.Secrets...)
	}
	return files, c, nil
}

// schemaLine tells editors where the schema of a file of values is.
func schemaLine() string { return "# yaml-language-server: $schema=" + environment.SchemaFile + "\n" }

// convertedHeader says in the file what its author needs to know.
func convertedHeader(seed string, c sylva.Converted) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s#\n# Values over those of %s, converted from %s.\n", schemaLine(), c.From, filepath.Base(seed))
	if len(c.Left) > 0 {
		fmt.Fprintln(&b, "# Not converted:")
	}
	for _, left := range c.Left {
		fmt.Fprintf(&b, "#   %s: %s\n", left.Key, left.Why)
	}
	return b.String()
}
