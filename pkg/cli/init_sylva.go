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
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/sylva"
)

// convert returns the files of an environment with the values of a folder of the original telco-cloud-init. An empty
// name means the cluster's name in that folder, or else the name of the new folder.
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

// toSet is what the user still has to set or export for a converted environment.
type toSet struct {
	Problem string `json:"problem"`
	Hint    string `json:"hint,omitempty"`
}

// checkConverted refuses an invalid converted environment. It returns what the user still has to set.
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
		default: // a value, a variable or credentials that the user still has to set
			lacks = append(lacks, toSet{problem.Error(), fault.HintOf(problem)})
		}
	}
	return lacks, fault.Join(problems...)
}

// schemaLine returns the line that names the schema of a values file for editors.
func schemaLine() string { return "# yaml-language-server: $schema=" + environment.SchemaFile + "\n" }

// convertedHeader returns the comment at the top of the converted values: their origin, and what was not converted.
func convertedHeader(seed string, c sylva.Converted) string {
	var b strings.Builder
	b.WriteString(schemaLine())
	oneline.Fprintf(&b, "#\n# Values over those of %s, converted from %s.\n", c.From, filepath.Base(seed))
	if len(c.Left) > 0 {
		fmt.Fprintln(&b, "# Not converted:")
	}
	for _, left := range c.Left {
		oneline.Fprintf(&b, "#   %s: %s\n", left.Key, left.Why)
	}
	return b.String()
}
