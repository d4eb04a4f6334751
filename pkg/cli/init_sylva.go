package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/sylva"
)

// convert returns the files of an environment that says what a folder of the original telco-cloud-init says. name is
// the cluster's; empty: the folder says it, or the new folder's name is it.
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
	files, err := environment.Scaffold(ctx, environment.Options{Name: c.From, Content: clusterinit.Content(),
		Derive: derive}, folder, "converted")
	if err != nil {
		return nil, c, err
	}
	files[environment.OwnValuesFile] = append([]byte(convertedHeader(seed, c)), c.Values...)
	if c.Secrets != nil {
		files[environment.OwnSecretsFile] = append([]byte(schemaLine()+"#\n# Secret: keep this file out of Git.\n"),
			c.Secrets...)
	}
	return files, c, nil
}

// toSet is what a converted environment lacks until its author has set or exported it.
type toSet struct {
	Problem string `json:"problem"`
	Hint    string `json:"hint,omitempty"`
}

// checkConverted refuses a converted environment that does not load. What it only lacks it returns.
func checkConverted(ctx context.Context, seed, folder string) ([]toSet, error) {
	_, err := environment.Load(ctx, environment.Options{Name: folder, Content: clusterinit.Content(),
		Variables: os.LookupEnv, Derive: derive})
	var problems []error
	var lacks []toSet
	for _, problem := range fault.Problems(err) {
		switch code := fault.CodeOf(problem); {
		case code == fault.ValuesInvalid && !strings.Contains(problem.Error(), " is empty"),
			code == fault.EnvironmentInvalid, code == fault.EnvironmentUnknown, code == fault.ComponentUnknown,
			code == fault.ComponentCycle:
			problems = append(problems, fault.Wrap(fmt.Errorf("convert %s: %w", seed, problem), code,
				"Correct it in a copy of "+seed+", and convert the copy. No file was written."))
		default: // a variable, or credentials, that the environment takes from where it is used
			lacks = append(lacks, toSet{problem.Error(), fault.HintOf(problem)})
		}
	}
	return lacks, fault.Join(problems...)
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
