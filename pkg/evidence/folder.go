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
	// title begins each summary. It identifies evidence of an earlier run, which may be overwritten.
	title     = "cluster-init: what "
	failedRun = title + "is left of a run that failed"
	onDemand  = title + "was collected on demand"
	// CaseName is the file from which a diagnosis can be made again.
	CaseName = "diagnosis.json"
)

// CheckDir refuses, as a usage error, a folder that is neither new, nor empty, nor has the summary of an earlier run.
// It changes nothing.
func CheckDir(dir string) error {
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
	files    []fileEntry
	problems []string // what could not be collected, for the summary
	failed   []error  // write errors, which Collect returns
}

// fileEntry is a line of the summary: a file and what it contains.
type fileEntry struct{ name, what string }

// newFolder checks the folder, removes earlier evidence, and makes it private.
func newFolder(dir string, redactor *redact.Redactor) (*folder, error) {
	if err := CheckDir(dir); err != nil {
		return nil, err
	}
	for _, name := range []string{summaryName, eventsName, CaseName, "bootstrap", "management", dockerName,
		machinesName} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
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

// text writes text without its secrets. name is a slash-separated path.
func (f *folder) text(name, what, content string) { f.write(name, what, f.redactor.Text(content)) }

// objects writes decoded objects without their secrets, as documents of one YAML file. It writes no empty file.
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

// events writes the run's events. It removes secrets from decoded fields, so that each line stays JSON.
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

// write writes a file inside the folder, under a valid and unique name. It removes control characters, because people
// print files on terminals. It does not remove secrets.
func (f *folder) write(name, what, content string) {
	name = f.uniqueName(name)
	err := f.create(name, oneline.Lines(content))
	if err != nil {
		f.failed = append(f.failed, fmt.Errorf("write %s: %w", name, err))
		f.problem("%s: %v", name, err)
		return
	}
	f.files = append(f.files, fileEntry{name, what})
}

// create writes a file inside the folder. os.Root refuses links that leave the folder.
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

// uniqueName returns a valid path that no other file has.
func (f *folder) uniqueName(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = fileName(part)
	}
	valid := strings.Join(parts, "/")
	unique := valid
	for n := 2; slices.ContainsFunc(f.files, func(e fileEntry) bool { return e.name == unique }); n++ {
		extension := path.Ext(valid)
		unique = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(valid, extension), n, extension)
	}
	return unique
}

// maxNameLength is the maximum length of a file name in bytes. File systems allow 255.
const maxNameLength = 200

// fileName turns any name, such as one from a cloud, into a valid file name.
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
	if len(part) > maxNameLength {
		const half = maxNameLength / 2
		part = part[:half] + "-" + part[len(part)-half+1:]
	}
	return part
}

// pathElement turns any name into one element of a path.
func pathElement(name string) string { return strings.ReplaceAll(name, "/", "-") }
