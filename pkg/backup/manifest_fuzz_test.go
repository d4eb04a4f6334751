package backup

import (
	"path/filepath"
	"reflect"
	"testing"
)

// FuzzManifest: whatever is in backup.json, no path of it leads out of the folder, and what is read is written the
// same.
func FuzzManifest(f *testing.F) {
	digest := digestOf(nil)
	good := `{"format":1,"created":"2026-01-02T03:04:05Z","createdBy":"v1","namespace":"ns","cluster":"demo","files":{"objects/a.yaml":"` + digest + `"}}`
	for _, seed := range []string{good, "", "{", "null", "[]", `{"format":2}`, good + good, good[:len(good)-3] +
		`,"objects/../../x.yaml":"` + digest + `"}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parseManifest(text)
		if err != nil {
			return
		}
		for name := range m.Files {
			if !filepath.IsLocal(name) || filepath.Dir(filepath.Dir(name)) != "." {
				t.Errorf("the path %q", name)
			}
		}
		if m.Count(Objects) == 0 {
			t.Error("it has no objects")
		}
		written, err := m.encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseManifest(written)
		if err != nil || !reflect.DeepEqual(m, again) {
			t.Errorf("%+v is read again as %+v, %v", m, again, err)
		}
	})
}
