package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/redact"
)

const (
	summaryName = "summary.txt"
	eventsName  = "events.jsonl"
	dockerName  = "docker"
	// title begins each summary: by it a folder is known to be one of ours, which may be written anew.
	title    = "cluster-init: what "
	ofARun   = title + "is left of a run that failed"
	onDemand = title + "was collected on demand"
	// CaseName is the file from which a diagnosis can be made again.
	CaseName = "diagnosis.json"
)

// Claim refuses, as a usage error, a folder that holds anything but an earlier run's evidence: files of others are
// neither mixed with it nor removed. It changes nothing.
func Claim(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err == nil {
		head, readErr := os.ReadFile(filepath.Join(dir, summaryName))
		if readErr == nil && strings.HasPrefix(string(head), title) {
			return nil
		}
		err = errors.New("it holds other files")
	}
	return fault.Wrap(fmt.Errorf("the folder for artifacts %s cannot be used: %w", dir, err), fault.Usage, "Name a new or an empty folder with --artifacts.")
}

// folder writes files for their owner only, with secrets taken out, and keeps what the summary tells of them.
type folder struct {
	root     string
	redactor *redact.Redactor
	files    []described
	problems []string
	failed   []error
}

type described struct{ name, what string }

func newFolder(dir string, redactor *redact.Redactor) (*folder, error) {
	if err := Claim(dir); err != nil {
		return nil, err
	}
	for _, left := range []string{summaryName, eventsName, CaseName, "bootstrap", "management", dockerName, machinesName} {
		if err := os.RemoveAll(filepath.Join(dir, left)); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	return &folder{root: dir, redactor: redactor}, os.Chmod(dir, 0o700)
}

// problem notes what could not be collected.
func (f *folder) problem(format string, args ...any) {
	f.problems = append(f.problems, f.redactor.Text(fmt.Sprintf(format, args...)))
}

// text writes text without its secrets. name has slashes.
func (f *folder) text(name, what, content string) { f.write(name, what, f.redactor.Text(content)) }

// objects writes decoded objects without their secrets, as documents of one YAML file; nothing when there are none.
func (f *folder) objects(name, what string, list []map[string]any) {
	if len(list) == 0 {
		return
	}
	var out strings.Builder
	for _, o := range list {
		text, err := yaml.Marshal(f.redactor.Value(o))
		if err != nil {
			f.problem("an object in %s: %v", name, err)
			continue
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	f.write(name, what, out.String())
}

// events writes the run's events. Secrets are taken out of their fields, so that each line stays JSON.
func (f *folder) events(lines []byte) {
	var out bytes.Buffer
	for line := range bytes.Lines(lines) {
		var event any
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.UseNumber()
		if err := decoder.Decode(&event); err != nil {
			f.problem("an event of the run: %v", err)
			continue
		}
		text, err := json.Marshal(f.redactor.Value(event))
		if err != nil {
			f.problem("an event of the run: %v", err)
			continue
		}
		out.Write(append(text, '\n'))
	}
	f.write(eventsName, "every event of the run, one JSON object a line, as of --output json", out.String())
}

func (f *folder) write(name, what, content string) {
	path := filepath.Join(f.root, filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(content), 0o600)
	}
	if err != nil {
		f.failed = append(f.failed, fmt.Errorf("writing %s: %w", name, err))
		f.problem("%s: %v", name, err)
		return
	}
	f.files = append(f.files, described{name, what})
}
