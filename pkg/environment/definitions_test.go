package environment_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
)

const definitions = "kustomize-components/cluster"

// TestDefinitionsAreKnownToTheChart holds definitions.json of the chart, which is part of the names of machine templates:
// one that changes without it would have to change under its old name, which the API server refuses.
func TestDefinitionsAreKnownToTheChart(t *testing.T) {
	folders, err := fs.ReadDir(clusterinit.Content(), definitions)
	if err != nil {
		t.Fatal(err)
	}
	hashes := map[string]string{}
	for _, folder := range folders {
		at := path.Join(definitions, folder.Name())
		if hash := templatesHash(t, at); hash != "" {
			hashes["./"+at] = hash
		}
	}
	content, err := json.MarshalIndent(hashes, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "../../../charts/telco-cloud-init/definitions.json", append(content, '\n'))
}

// templatesHash is the hash of what is in the templates below a folder, without comments; empty when there are none.
func templatesHash(t *testing.T, folder string) string {
	t.Helper()
	hash, found := sha256.New(), false
	err := fs.WalkDir(clusterinit.Content(), folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".yaml") {
			return err
		}
		text, err := fs.ReadFile(clusterinit.Content(), file)
		if err != nil {
			return err
		}
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			var object map[string]any
			if err := yaml.Unmarshal(document, &object); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			kind, _ := object["kind"].(string)
			if !strings.HasSuffix(kind, "Template") {
				continue
			}
			found = true
			canonical, err := json.Marshal(object)
			if err != nil {
				return err
			}
			hash.Write(canonical)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		return ""
	}
	return fmt.Sprintf("%x", hash.Sum(nil))[:16]
}
