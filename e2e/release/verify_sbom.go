package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
)

// verifySBOM checks that the CycloneDX document of a binary names each module that the binary was built with.
func verifySBOM(w io.Writer, dist, program, platform string, sums map[string]string, modules []string) error {
	name, err := released(dist, program, "_"+platform+".sbom.json", sums)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var document struct {
		BOMFormat, SpecVersion string
		Components             []struct {
			Name, Version string
			Evidence      struct {
				Licenses []json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(content, &document); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if document.BOMFormat != "CycloneDX" {
		return fmt.Errorf("%s is no CycloneDX document, but %q", name, document.BOMFormat)
	}
	known, licensed := map[string]bool{}, 0
	for _, component := range document.Components {
		known[component.Name+"@"+component.Version] = true
		if len(component.Evidence.Licenses) > 0 {
			licensed++
		}
	}
	for _, module := range modules {
		if !known[module] {
			return fmt.Errorf("%s does not name %s", name, module)
		}
	}
	fmt.Fprintf(w, "SBOM       %s: CycloneDX %s, %d components, %d with a license\n",
		path.Base(name), document.SpecVersion, len(document.Components), licensed)
	return nil
}
