package kustomize

import (
	"errors"
	"fmt"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// The bounds of the content. kustomize builds a folder as often as it is named, so that a few small files can cause
// endless work.
const (
	mostFolders = 500
	mostBytes   = 64 << 20
	mostMarks   = 1 << 22 // see unpack.Marks
	mostObjects = 2000    // documents, generators, patches and the like: kustomize compares each with each
)

// walker visits all kustomizations that kustomize would visit, checks their entries and copies their files.
type walker struct {
	Options
	root     filesys.ConfirmedDir
	copies   map[string][]byte
	values   map[string]bool // the copies that only generators have named so far: nothing has parsed them
	problems []error
	folders  int // visited, each as often as it is named
	bytes    int
	marks    int
	objects  int
}

func (w *walker) start() {
	root, err := filesys.ConfirmDir(w.Files, w.Root)
	if err != nil {
		w.refuse(fmt.Sprintf("find the folder %s: %v", w.Title(w.Root), err), "Check the path.")
		return
	}
	folder, err := filesys.ConfirmDir(w.Files, w.Folder)
	if err != nil || !folder.HasPrefix(root) {
		w.refuse(fmt.Sprintf("%s is no folder below %s", w.Title(w.Folder), w.Title(w.Root)),
			"Give the path of a folder.")
		return
	}
	w.root = root
	w.visit(folder, nil)
}

func (w *walker) refuse(message, hint string) {
	w.problems = append(w.problems, fault.New(fault.EnvironmentInvalid, message, hint))
}

// visit checks the kustomization of a folder, and those that it names. above are the folders that lead to it.
func (w *walker) visit(folder filesys.ConfirmedDir, above []filesys.ConfirmedDir) {
	if w.folders++; w.folders > mostFolders {
		if w.folders == mostFolders+1 {
			w.refuse(fmt.Sprintf("%s leads to more than %d kustomizations", w.Title(w.Folder), mostFolders),
				"Name each folder once.")
		}
		return
	}
	file, ok := w.kustomizationOf(folder)
	if !ok {
		return
	}
	content, ok := w.copy(folder, file, Kustomization)
	if !ok {
		return
	}
	if line := secondDocument(content); line > 0 {
		w.refuse(fmt.Sprintf("%s: line %d: a second document begins, which kustomize does not read",
			w.Title(folder.Join(file)), line), "Join the documents.")
		return
	}
	// Parsed as kustomize parses it: a difference would leave an entry unchecked.
	var k types.Kustomization
	if err := k.Unmarshal(content); err != nil {
		w.refuse(fmt.Sprintf("read %s: %v", w.Title(folder.Join(file)), err), "Correct the file "+
			w.Title(folder.Join(file))+".")
		return
	}
	k.FixKustomization()
	w.objects += len(k.ConfigMapGenerator) + len(k.SecretGenerator) + len(k.Patches) + len(k.PatchesJson6902) +
		len(k.PatchesStrategicMerge) + len(k.Replacements) + len(k.Images) + len(k.Replicas) + len(k.Labels)
	if err := w.count(nil, Values); err != nil {
		w.refuse(w.Title(folder.Join(file))+": "+err.Error(), "Join them.")
		return
	}
	above = append(above[:len(above):len(above)], folder)
	at := place{walker: w, folder: folder, above: above, file: w.Title(folder.Join(file)), content: content}
	at.checkKustomization(k)
}

// kustomizationOf returns the name of a folder's kustomization file. It refuses a folder without one, or with several.
func (w *walker) kustomizationOf(folder filesys.ConfirmedDir) (string, bool) {
	var found []string
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if path := folder.Join(name); w.Files.Exists(path) && !w.Files.IsDir(path) {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 0:
		w.refuse("there is no kustomization.yaml in "+w.Title(folder.String()),
			"Write one there, or name another folder.")
	case 1:
		return found[0], true
	default:
		w.refuse(fmt.Sprintf("%s has both %s and %s", w.Title(folder.String()), found[0], found[1]),
			"Delete one of them.")
	}
	return "", false
}

// copy reads a file for kustomize, once, and counts it each time. It reads a file of a generator again when something
// else names it: the new role has other checks. The file must be below the folder that names it: kustomize requires
// that too.
func (w *walker) copy(folder filesys.ConfirmedDir, name string, role Role) ([]byte, bool) {
	title := w.Title(folder.Join(name))
	dir, base, err := w.Files.CleanedAbs(folder.Join(name))
	switch {
	case err != nil:
		w.refuse(fmt.Sprintf("there is no file %s", title), "Check the path.")
		return nil, false
	case base == "":
		w.refuse(fmt.Sprintf("%s is a folder, where a file is wanted", title), "Name a file.")
		return nil, false
	case !dir.HasPrefix(folder):
		w.refuse(fmt.Sprintf("%s leads out of its folder", title), "Put a copy of the file in its place.")
		return nil, false
	}
	path := dir.Join(base)
	content, known := w.copies[path]
	if known = known && (role == Values || !w.values[path]); !known {
		content, err = w.Files.ReadFile(path)
	}
	if err == nil {
		err = w.count(content, role)
	}
	if err == nil && !known && role != Values {
		err = unpack.YAML(content)
	}
	if err != nil {
		var coded *fault.Fault
		if !errors.As(err, &coded) {
			err = fault.Wrap(fmt.Errorf("read %s: %w", title, err), fault.EnvironmentInvalid, "Correct the file "+title+
				".")
		}
		w.problems = append(w.problems, err)
		return nil, false
	}
	if known {
		return content, true
	}
	if w.Read != nil {
		if content, err = w.Read(path, role, content); err != nil {
			w.problems = append(w.problems, err)
			return nil, false
		}
	}
	w.copies[path], w.values[path] = content, role == Values
	return content, true
}

// count adds a file to the totals, and checks them.
func (w *walker) count(content []byte, role Role) error {
	w.bytes += len(content)
	if role != Values {
		marks, documents := unpack.Marks(content)
		w.marks, w.objects = w.marks+marks, w.objects+documents
	}
	switch {
	case w.bytes > mostBytes:
		return fmt.Errorf("all files of this kustomization have more than %d MiB, "+
			"each as often as it is named", mostBytes>>20)
	case w.marks > mostMarks:
		return errors.New("all files of this kustomization have too many lines and entries, each as often as it is " +
			"named")
	case w.objects > mostObjects:
		return fmt.Errorf("this kustomization has more than %d objects, generators and patches", mostObjects)
	}
	return nil
}

// resources returns kustomize's own factory, which distinguishes YAML from paths.
func resources() *resmap.Factory {
	return resmap.NewFactory(provider.NewDefaultDepProvider().GetResourceFactory())
}
