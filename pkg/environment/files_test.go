package environment_test

import (
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// contentOfFiles returns the files of a configuration by path: their content, or the Secret with it.
func contentOfFiles(spec map[string]any) map[string]string {
	all := map[string]string{}
	list, _, _ := unstructured.NestedSlice(spec, "files")
	for _, item := range list {
		file := item.(map[string]any)
		text, _ := file["content"].(string)
		if file["encoding"] == "base64" {
			decoded, _ := base64.StdEncoding.DecodeString(text)
			text = string(decoded)
		}
		if secret, _, _ := unstructured.NestedString(file, "contentFrom", "secret", "name"); secret != "" {
			text = secret
		}
		all[file["path"].(string)] = text
	}
	return all
}

// ownersOfFiles returns the owner and the permissions of each file of a configuration by path.
func ownersOfFiles(spec map[string]any) map[string]string {
	all := map[string]string{}
	list, _, _ := unstructured.NestedSlice(spec, "files")
	for _, item := range list {
		file := item.(map[string]any)
		all[file["path"].(string)] = fmt.Sprintf("%s %s", file["owner"], file["permissions"])
	}
	return all
}
