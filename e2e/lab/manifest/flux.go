package manifest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Controller is one Flux controller: its name, version and the folder of its module.
type Controller struct{ Name, Version, Dir string }

// Flux makes manifests.tar.gz and install.yaml of a Flux release as its release scripts do, but with the given
// controllers only. manifests is the folder of that name in the module of flux2, release the address of both files. The
// bases fetch two files from each controller's release; here they are rendered from the controller's module.
func Flux(manifests string, controllers []Controller, release string) (archive, install Manifest, err error) {
	files := map[string][]byte{}
	err = withCopy(manifests, func(dir string) error {
		for _, controller := range controllers {
			content, err := fluxController(dir, controller)
			if err != nil {
				return fmt.Errorf("render Flux's %s: %w", controller.Name, err)
			}
			files[controller.Name+".yaml"] = content
		}
		for _, folder := range []string{"rbac", "policies"} {
			content, err := build(filepath.Join(dir, folder))
			if err != nil {
				return err
			}
			files[folder+".yaml"] = content
		}
		install.Content, err = fluxInstall(filepath.Join(dir, "install"), controllers)
		return err
	})
	if err != nil {
		return Manifest{}, Manifest{}, err
	}
	archive.URL, install.URL = release+"/manifests.tar.gz", release+"/install.yaml"
	archive.Content, err = packFiles(files)
	return archive, install, err
}

// baseLine is a line of a kustomization that names the base of a controller.
var baseLine = regexp.MustCompile(`(?m)^\s*- \.\./bases/(\S+)\n`)

// fluxInstall renders all of Flux, without the controllers that are not given.
func fluxInstall(dir string, controllers []Controller) ([]byte, error) {
	file := filepath.Join(dir, "kustomization.yaml")
	kustomization, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	kept := 0
	text := baseLine.ReplaceAllStringFunc(string(kustomization), func(line string) string {
		name := baseLine.FindStringSubmatch(line)[1]
		if !slices.ContainsFunc(controllers, func(c Controller) bool { return c.Name == name }) {
			return ""
		}
		kept++
		return line
	})
	if kept != len(controllers) {
		return nil, fmt.Errorf("%s has changed: it names %d of %d controllers", file, kept, len(controllers))
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return nil, err
	}
	return build(dir)
}

// fluxController renders the base of one controller.
func fluxController(dir string, controller Controller) ([]byte, error) {
	base := filepath.Join(dir, "bases", controller.Name)
	file := filepath.Join(base, "kustomization.yaml")
	kustomization, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	text := string(kustomization)
	for part, folder := range map[string]string{"crds": "crd", "deployment": "manager"} {
		content, err := renderCopy(filepath.Join(controller.Dir, "config", folder))
		if err != nil {
			return nil, err
		}
		local := controller.Name + "." + part + ".yaml"
		remote := fmt.Sprintf("https://github.com/fluxcd/%s/releases/download/%s/%s", controller.Name,
			controller.Version, local)
		if !strings.Contains(text, remote) {
			return nil, fmt.Errorf("flux2 does not go with %s %s: its base does not name %s", controller.Name,
				controller.Version, remote)
		}
		text = strings.ReplaceAll(text, remote, local)
		if err := os.WriteFile(filepath.Join(base, local), content, 0o644); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return nil, err
	}
	return build(base)
}

// renderCopy renders a folder that needs no edits.
func renderCopy(source string) (content []byte, err error) {
	err = withCopy(source, func(dir string) error {
		content, err = build(dir)
		return err
	})
	return content, err
}

// packFiles makes an archive that is the same for the same files.
func packFiles(files map[string][]byte) ([]byte, error) {
	var buffer bytes.Buffer
	zip := gzip.NewWriter(&buffer)
	out := tar.NewWriter(zip)
	for _, name := range sortedKeys(files) {
		header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name])), ModTime: time.Unix(0, 0),
			Typeflag: tar.TypeReg}
		if err := out.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := out.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}
