package manifests

import (
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Print writes all objects as one stream of YAML documents, each part below a comment that names it.
func (r Rendered) Print(out io.Writer) error {
	s := stream{out: out}
	s.part(fmt.Sprintf("values of %s, phase %s", r.Environment, r.Phase), r.Values)
	s.part("chart telco-cloud-init", r.Chart)
	for _, c := range r.Components {
		title := fmt.Sprintf("component %s: %s of %s", c.Name, c.Path, c.Source)
		if c.Note != "" {
			title += ": " + c.Note
		}
		s.part(title, c.Objects)
	}
	return s.err
}

// stream writes until the first error.
type stream struct {
	out io.Writer
	err error
}

func (s *stream) part(title string, objects []*unstructured.Unstructured) {
	s.write("# " + title + "\n")
	for _, object := range objects {
		text, err := yaml.Marshal(object.Object)
		if err != nil && s.err == nil {
			s.err = fmt.Errorf("write %s %s as YAML: %w", object.GetKind(), object.GetName(), err)
		}
		s.write("---\n" + string(text))
	}
}

func (s *stream) write(text string) {
	if s.err == nil {
		_, s.err = io.WriteString(s.out, text)
	}
}
