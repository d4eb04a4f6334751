package manifests

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Images are the images of the components' containers, sorted, without duplicates.
func (r Rendered) Images() []string {
	var images []string
	for _, component := range r.Components {
		images = append(images, Images(component.Objects)...)
	}
	slices.Sort(images)
	return slices.Compact(images)
}

// Images are the images of the objects' Pods, with duplicates.
func Images(objects []*unstructured.Unstructured) []string {
	var images []string
	for _, object := range objects {
		images = append(images, imagesOf(object)...)
	}
	return images
}

// imagesOf are the images of a Pod, or of the Pods that a workload makes.
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
