package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/redact"
)

const (
	summaryName = "summary.txt"
	eventsName  = "events.jsonl"
	dockerName  = "docker"
	// title begins each summary. It identifies a folder of an earlier run, which may be overwritten.
	title    = "cluster-init: what "
	ofARun   = title + "is left of a run that failed"
	onDemand = title + "was collected on demand"
	// CaseName is the file from which a diagnosis can be made again.
	CaseName = "diagnosis.json"
)

// Claim refuses, as a usage error, a folder with other files than an earlier run's evidence. It changes nothing.
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
	return fault.Wrap(fmt.Errorf("the folder for artifacts %s cannot be used: %w", dir, err), fault.Usage,
		"Name a new or an empty folder with --output-dir.")
}

// folder writes files without secrets that only their owner can read. It keeps the data for the summary.
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
	for _, left := range []string{summaryName, eventsName, CaseName, "bootstrap", "management", dockerName,
		machinesName} {
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
	f.problems = append(f.problems, f.redactor.Text(oneline.Sprintf(format, args...)))
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

// write writes a file inside the folder under a free name, whatever the given name is. It removes control characters,
// because files are shown on terminals.
func (f *folder) write(name, what, content string) {
	name = f.free(name)
	err := f.create(name, oneline.Lines(content))
	if err != nil {
		f.failed = append(f.failed, fmt.Errorf("writing %s: %w", name, err))
		f.problem("%s: %v", name, err)
		return
	}
	f.files = append(f.files, described{name, what})
}

// create writes a file within the folder: the root follows no link out of it.
func (f *folder) create(name, content string) error {
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	return root.WriteFile(name, []byte(content), 0o600)
}

// free returns a valid file name that no other file has.
func (f *folder) free(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = fileName(part)
	}
	wanted := strings.Join(parts, "/")
	free := wanted
	for n := 2; slices.ContainsFunc(f.files, func(d described) bool { return d.name == free }); n++ {
		ending := path.Ext(wanted)
		free = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(wanted, ending), n, ending)
	}
	return free
}

// longestName is the maximum length of a name in bytes. File systems allow 255.
const longestName = 200

// fileName turns a foreign name, such as one from a cloud, into a file name.
func fileName(part string) string {
	part = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-+:@", r) {
			return r
		}
		return '-'
	}, part)
	if strings.Trim(part, ".") == "" || strings.HasPrefix(part, "-") {
		part = "_" + part
	}
	if len(part) > longestName {
		part = part[:longestName/2] + "-" + part[len(part)-longestName/2:]
	}
	return part
}

// inName turns a foreign name into one element of a path.
func inName(name string) string { return strings.ReplaceAll(name, "/", "-") }
