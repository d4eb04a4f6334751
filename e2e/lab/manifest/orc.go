package manifest

import "path/filepath"

// ORC renders the OpenStack Resource Controller as its Makefile does for a release (build-installer). config is its
// config folder.
func ORC(config, image, url string) (Manifest, error) {
	manifest := Manifest{URL: url}
	err := withCopy(config, func(dir string) error {
		if err := replace(filepath.Join(dir, "manager", "manager.yaml"), imageLine, "image: "+image); err != nil {
			return err
		}
		content, err := build(filepath.Join(dir, "default"))
		manifest.Content = content
		return err
	})
	return manifest, err
}
