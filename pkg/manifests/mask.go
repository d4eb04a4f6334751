package manifests

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/redact"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// Masked returns a copy without secrets: neither values of a Secret, nor any text that known knows. It does not search
// CustomResourceDefinitions.
func (r Rendered) Masked(known *redact.Redactor) Rendered {
	r.Values, r.Chart = masked(r.Values, known), masked(r.Chart, known)
	components := make([]Component, len(r.Components))
	for i, c := range r.Components {
		components[i], components[i].Objects = c, masked(c.Objects, known)
	}
	r.Components = components
	return r
}

func masked(objects []*unstructured.Unstructured, known *redact.Redactor) []*unstructured.Unstructured {
	out := make([]*unstructured.Unstructured, len(objects))
	for i, object := range objects {
		out[i] = object
		switch object.GetKind() {
		case "CustomResourceDefinition": // a schema contains no values, and is long
		case "Secret":
			out[i] = maskedSecret(object)
		default:
			clean, _ := known.Value(object.Object).(map[string]any)
			out[i] = &unstructured.Unstructured{Object: clean}
		}
	}
	return out
}

// maskedSecret keeps the keys of a Secret, and those in the values of an environment.
func maskedSecret(secret *unstructured.Unstructured) *unstructured.Unstructured {
	out := secret.DeepCopy()
	shown := map[string]any{}
	for _, field := range []string{"data", "stringData"} {
		data, _, _ := unstructured.NestedMap(out.Object, field)
		for key, value := range data {
			shown[key] = redact.Mark
			if text, isText := value.(string); isText && field == "stringData" && key == environment.ValuesKey {
				shown[key] = MaskedValues(text)
			}
		}
		delete(out.Object, field)
	}
	out.Object["stringData"] = shown
	out.SetAnnotations(nil) // an annotation may repeat the values
	return out
}

// MaskedValues returns a YAML document of values with its keys, masked by redact.All. For other text it returns
// redact.Mark.
func MaskedValues(text string) string {
	var values map[string]any
	if unpack.Unmarshal([]byte(text), &values) != nil {
		return redact.Mark
	}
	clean, err := yaml.Marshal(redact.All(values))
	if err != nil {
		return redact.Mark
	}
	return string(clean)
}

// untyped converts objects by their JSON form.
func untyped(objects []any) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, object := range objects {
		text, err := json.Marshal(object)
		u := &unstructured.Unstructured{}
		if err == nil {
			err = json.Unmarshal(text, &u.Object)
		}
		if err != nil {
			return nil, fmt.Errorf("render %T: %w", object, err)
		}
		all = append(all, u)
	}
	return all, nil
}

// MaskValues returns values without secrets: it masks what known knows, and what one of the secret documents has at the
// same path, except names.
func MaskValues(values map[string]any, secret []map[string]any, known *redact.Redactor) map[string]any {
	clean, _ := known.Value(values).(map[string]any)
	for _, document := range secret {
		clean = maskWhere(clean, document)
	}
	return clean
}

// maskWhere masks what document contains too, except names, which are public. It changes values.
func maskWhere(values, document map[string]any) map[string]any {
	for key, secret := range document {
		value, there := values[key]
		below, isMap := value.(map[string]any)
		secretBelow, bothAre := secret.(map[string]any)
		switch {
		case !there, isName(key) && !isMap:
		case isMap && bothAre:
			values[key] = maskWhere(below, secretBelow)
		default:
			values[key] = redact.All(value)
		}
	}
	return values
}

// isName reports whether a key is a name, such as cloud_name. The key username is none: it is part of a login.
func isName(key string) bool {
	return key == "name" || strings.HasSuffix(key, "_name") && redact.Public(key)
}
