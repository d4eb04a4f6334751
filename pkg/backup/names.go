package backup

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

var kindForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,62}$`)

// checkNames refuses an object with names that no API server accepts: messages repeat names. The error repeats none.
func checkNames(u *unstructured.Unstructured) error {
	wrong := wrongType(u.GetAPIVersion(), u.GetKind())
	switch {
	case wrong != "":
	case len(validation.IsDNS1123Subdomain(u.GetName())) > 0:
		wrong = "name"
	case u.GetNamespace() != "" && len(validation.IsDNS1123Label(u.GetNamespace())) > 0:
		wrong = "namespace"
	}
	if wrong != "" {
		return fmt.Errorf("its %s is not valid", wrong)
	}
	for _, owner := range u.GetOwnerReferences() {
		wrong := wrongType(owner.APIVersion, owner.Kind)
		if wrong == "" && len(validation.IsDNS1123Subdomain(owner.Name)) > 0 {
			wrong = "name"
		}
		if wrong != "" {
			return fmt.Errorf("the %s of an owner is not valid", wrong)
		}
	}
	return nil
}

// wrongType returns the field of a kind that is not valid; "" if all are.
func wrongType(apiVersion, kind string) string {
	gv, err := schema.ParseGroupVersion(apiVersion)
	switch {
	case err != nil, len(validation.IsDNS1123Label(gv.Version)) > 0,
		gv.Group != "" && len(validation.IsDNS1123Subdomain(gv.Group)) > 0:
		return "apiVersion"
	case !kindForm.MatchString(kind):
		return "kind"
	}
	return ""
}

// errUnprintable refuses a file or folder of a backup: messages repeat names.
var errUnprintable = errors.New("it holds a file or folder whose name is not printable")

// isPrintable reports whether a terminal shows a text as it is, on one line.
func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
