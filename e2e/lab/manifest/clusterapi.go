package manifest

import (
	"path/filepath"
	"regexp"
)

var (
	imageLine  = regexp.MustCompile(`image: .*`)
	policyLine = regexp.MustCompile(`imagePullPolicy: .*`)
)

// ClusterAPI renders one provider of cluster-api as its Makefile does for a release (set-manifest-image,
// set-manifest-pull-policy, release-manifests). config is the provider's config folder.
func ClusterAPI(config, image, url string) (Manifest, error) {
	manifest := Manifest{URL: url}
	err := withCopy(config, func(dir string) error {
		folder := filepath.Join(dir, "default")
		if err := replace(filepath.Join(folder, "manager_image_patch.yaml"), imageLine, "image: "+image); err != nil {
			return err
		}
		if err := replace(filepath.Join(folder, "manager_pull_policy.yaml"), policyLine,
			"imagePullPolicy: IfNotPresent"); err != nil {
			return err
		}
		content, err := build(folder)
		manifest.Content = content
		return err
	})
	return manifest, err
}
