package manifests

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Images are those of the containers that the components make, sorted, each once.
func (r Rendered) Images() []string {
	var images []string
	for _, component := range r.Components {
		images = append(images, Images(component.Objects)...)
	}
	slices.Sort(images)
	return slices.Compact(images)
}

// Images are those of the pods of objects, each as often as it is named.
func Images(objects []*unstructured.Unstructured) []string {
	var images []string
	for _, object := range objects {
		images = append(images, imagesOf(object)...)
	}
	return images
}

// imagesOf are those of a workload's pods.
func imagesOf(object *unstructured.Unstructured) []string {
	var images []string
	for _, pod := range [][]string{{"spec"}, {"spec", "template", "spec"}, {"spec", "jobTemplate", "spec", "template",
		"spec"}} {
		for _, list := range []string{"initContainers", "containers"} {
			containers, _, _ := unstructured.NestedSlice(object.Object, append(slices.Clone(pod), list)...)
			for _, each := range containers {
				container, _ := each.(map[string]any)
				if image, _ := container["image"].(string); image != "" {
					images = append(images, image)
				}
			}
		}
	}
	return images
}
