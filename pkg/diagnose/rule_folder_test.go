package diagnose

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/health"
)

func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// A user's rule comes before those of the binary, and takes the place of one of its name.
func TestRulesOfTheUser(t *testing.T) {
	more, err := ReadRules(folderOf(t, map[string]string{"ours.yaml": "signal: ^waiting$\nmessage: 'image " +
		"\"(?P<image>[^\"]+)\"'\ncause: ${image} is not in our registry\nremedy: ask the platform team\n",
		"suspended.yaml": "signal: ^suspended$\ncause: it sleeps\nremedy: wake it\n", "README.md": "none of them"}))
	if err != nil {
		t.Fatal(err)
	}
	rules := withMore(readRules(t), more)
	for _, row := range []struct {
		object health.Ref
		signal Signal
		rule   string
		cause  string
	}{
		{health.Ref{Kind: "Pod", Namespace: "a", Name: "b"}, Signal{Origin: "waiting", Reason: "ErrImagePull",
			Message: `container c: image "x": 429 Too Many Requests`}, "ours", "x is not in our registry"},
		{health.Ref{Kind: "Kustomization", Namespace: "a", Name: "b"}, Signal{Origin: "suspended"}, "suspended",
			"it sleeps"},
	} {
		if f, found := firstMatch(rules, row.object, []Signal{row.signal}); !found || f.Rule != row.rule ||
			f.Cause != row.cause {
			t.Errorf("%+v", f)
		}
	}
}

func TestRulesThatAreNone(t *testing.T) {
	const good = "signal: ^event$\ncause: a\nremedy: b\n"
	for name, row := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no file": {map[string]string{"a.yml": good}, "has no file NAME.yaml"},
		"a key that is none": {map[string]string{"good.yaml": good, "bad.yaml": good + "severity: c\n"},
			`bad.yaml: error unmarshaling JSON: while decoding JSON: json: unknown field "severity"`},
		"keys of an earlier version": {map[string]string{"bad.yaml": "from: x\ncause: a\ncure: b\nlikely: true\n"},
			"bad.yaml: the key cure is now remedy; the key from is now signal; the key likely is now confidence"},
		"no confidence": {map[string]string{"bad.yaml": good + "confidence: certain\n"},
			`bad.yaml: confidence "certain" is neither high nor low`},
		"no regular expression": {map[string]string{"bad.yaml": "signal: '('\ncause: a\nremedy: b\n"},
			"bad.yaml: error parsing regexp"},
		"no cause":  {map[string]string{"bad.yaml": "signal: x\nremedy: b\n"}, "bad.yaml: it has no cause"},
		"no remedy": {map[string]string{"bad.yaml": "signal: x\ncause: b\n"}, "bad.yaml: it has no remedy"},
		"it matches all": {map[string]string{"bad.yaml": "cause: a\nremedy: b\n"},
			"bad.yaml: it matches everything"},
	} {
		_, err := ReadRules(folderOf(t, row.files))
		if fault.CodeOf(err) != fault.Usage || fault.HintOf(err) == "" || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadRules(filepath.Join(t.TempDir(), "none")); fault.CodeOf(err) != fault.Usage {
		t.Error(err)
	}
}

// A foreign rule must not make its reader wait, or run out of memory.
func TestRulesAreReadWithinBounds(t *testing.T) {
	device := t.TempDir()
	if err := os.Symlink("/dev/zero", filepath.Join(device, "a.yaml")); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]string{
		device: "no regular file",
		folderOf(t, map[string]string{"a.yaml": strings.Repeat("# x\n", 1<<20)}): "more than 1 MiB",
		folderOf(t, map[string]string{"a.yaml": "a: &a " + strings.Repeat("x", 1<<19) + "\nb: [" +
			strings.Repeat("*a,", 200) + "]\n"}): "too large",
	} {
		if _, err := ReadRules(folder); fault.CodeOf(err) != fault.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %.300v", want, err)
		}
	}
}
