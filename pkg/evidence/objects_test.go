package evidence

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The size of binary data is that of the data, not of its base64 text.
func TestTheSizeOfBinaryData(t *testing.T) {
	o := unstructured.Unstructured{Object: map[string]any{"kind": "ConfigMap",
		"binaryData": map[string]any{"a": "AAECAwQ="}}}
	got, _, _ := unstructured.NestedString(trimmed(o), "binaryData", "a")
	if want := "(5 bytes are left out)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
