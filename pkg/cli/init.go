package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/sylva"
)

// initOptions are the flags of `init`.
type initOptions struct {
	name    string
	sylva   string // folder of the original telco-cloud-init
	output  outputOptions
	streams Streams
}

func newInit(streams Streams) *cobra.Command {
	o := &initOptions{streams: streams}
	c := &cobra.Command{
		Use:   "init ENVIRONMENT DIR | init --from-sylva FOLDER DIR",
		Short: "Create your own environment, based on another one",
		Long: `init writes a folder with three files:

  - environment.yaml, with the name of the environment that yours is based on
  - values.yaml, with the values that you must set and the purpose of each
  - the schema of the values, for editors

You need no kustomize. A folder with a kustomization.yaml works as well.

With --from-sylva, init converts an environment of the original telco-cloud-init (Sylva), and names
what has no counterpart here.

init never overwrites a file.`,
		Example: `  cluster-init init kubeadm-capo ./edge-site
  cluster-init up ./edge-site
  cluster-init init --from-sylva ./environment-values/my-capo-env ./edge-site`,
		Args: cobra.ArbitraryArgs, // environment variables set flags only when it runs
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.args(c, args); err != nil {
				return err
			}
			return o.run(c.Context(), args[0], args[len(args)-1])
		},
	}
	c.Flags().StringVar(&o.sylva, "from-sylva", "", "convert this folder of an environment of the original "+
		"telco-cloud-init, instead of using ENVIRONMENT")
	c.Flags().StringVar(&o.name, "name", "", "name of the cluster (default: the name of the folder)")
	o.output.formatFlag(c.Flags(), "plain: for people; json: one object")
	return c
}

// clusterName matches the names of clusters that the chart's schema allows. checkClusterName limits their length.
var clusterName = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)

// args accepts ENVIRONMENT and DIR, or only DIR with --from-sylva.
func (o *initOptions) args(c *cobra.Command, args []string) error {
	if o.sylva != "" {
		return exactlyOne("DIR")(c, args)
	}
	if len(args) != 2 {
		return fault.New(fault.Usage, fmt.Sprintf("%s takes an ENVIRONMENT and a DIR, not %d arguments",
			c.CommandPath(), len(args)), "See "+c.CommandPath()+" --help.")
	}
	return nil
}

// checkClusterName refuses what cannot be the name of a cluster.
func checkClusterName(name string) error {
	if clusterName.MatchString(name) && len(name) <= 40 {
		return nil
	}
	return fault.New(fault.Usage, fmt.Sprintf("%q cannot be the name of a cluster", name),
		"Give one of at most 40 letters (a-z), digits and hyphens: --name NAME")
}

func (o *initOptions) run(ctx context.Context, from, dir string) error {
	if err := o.output.known(); err != nil {
		return err
	}
	folder, err := filepath.Abs(dir)
	if err != nil {
		return fault.Wrap(fmt.Errorf("find the folder %s: %w", dir, err), fault.Usage, "Give a path.")
	}
	made := newEnvironment{Type: "environment", SchemaVersion: 1, Folder: folder, From: from, shown: shellWord(dir)}
	files, err := o.files(ctx, folder, &made)
	if err != nil {
		return err
	}
	written, err := writeNew(folder, files)
	if err == nil && o.sylva != "" {
		made.ToSet, err = checkConverted(ctx, o.sylva, folder)
	}
	if err != nil {
		return errors.Join(err, written.takeBack())
	}
	made.Files = slices.Sorted(maps.Keys(files))
	return o.output.show(o.streams, made)
}

// files returns the files of the new environment. For a converted one, it records in made what was converted and what
// was not.
func (o *initOptions) files(ctx context.Context, folder string, made *newEnvironment) (map[string][]byte, error) {
	if o.sylva != "" {
		files, converted, err := convert(ctx, o.sylva, folder, o.name)
		made.From, made.Converted, made.NotConverted = converted.From, converted.Said, converted.Left
		return files, err
	}
	name := o.name
	if name == "" {
		name = filepath.Base(folder)
	}
	if err := checkClusterName(name); err != nil {
		return nil, err
	}
	return environment.Scaffold(ctx, environment.Options{Name: made.From, Content: clusterinit.Content(),
		Derive: derive}, folder, name)
}

// shellWord returns a folder as an argument for a shell, with ./ before a name without a separator.
func shellWord(dir string) string {
	if !strings.ContainsRune(dir, filepath.Separator) {
		dir = "." + string(filepath.Separator) + dir
	}
	return oneline.Shell(dir)
}

// writtenFiles are the paths that this run created: folders from the outermost on, and then the files.
type writtenFiles []string

// takeBack deletes them, the outermost folder last.
func (w writtenFiles) takeBack() (err error) {
	for _, path := range slices.Backward(w) {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// makeFolder makes a folder and the missing ones above, and returns those that it has made.
func makeFolder(folder string) (made writtenFiles, err error) {
	err = os.Mkdir(folder, 0o755)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(folder) != folder {
		if made, err = makeFolder(filepath.Dir(folder)); err == nil {
			err = os.Mkdir(folder, 0o755)
		}
	}
	if err == nil {
		return append(made, folder), nil
	}
	if info, statErr := os.Stat(folder); statErr == nil && info.IsDir() {
		return made, nil
	}
	return made, err
}

// writeNew writes files into a folder that has none of them. If it fails, it returns what it has created before.
func writeNew(folder string, files map[string][]byte) (written writtenFiles, err error) {
	if written, err = makeFolder(folder); err != nil {
		return written, fault.Wrap(fmt.Errorf("make the folder %s: %w", folder, err), fault.Usage,
			"Give the path of a folder that you may write to.")
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(folder, name)
		made, err := makeFolder(filepath.Dir(path))
		written = append(written, made...)
		if err != nil {
			return written, fault.Wrap(fmt.Errorf("make the folder of %s: %w", path, err), fault.Usage,
				"Give the path of a folder that you may write to.")
		}
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, modeOf(name))
		if errors.Is(err, fs.ErrExist) {
			return written, fault.New(fault.Usage, path+" exists", "Give another folder, or move the file away.")
		}
		if err != nil {
			return written, fault.Wrap(fmt.Errorf("write %s: %w", path, err), fault.Usage,
				"Give the path of a folder that you may write to.")
		}
		written = append(written, path)
		_, err = file.Write(files[name])
		if err = errors.Join(err, file.Close()); err != nil {
			return written, fault.Wrap(fmt.Errorf("write %s: %w", path, err), fault.Usage, "Make room on the disk.")
		}
	}
	return written, nil
}

// modeOf returns the mode of a file. Only its owner may read a file of secrets.
func modeOf(name string) fs.FileMode {
	if name == environment.OwnSecretsFile {
		return 0o600
	}
	return 0o644
}

// newEnvironment is the output of `init`.
type newEnvironment struct {
	Type          string   `json:"type"` // "environment"
	SchemaVersion int      `json:"schemaVersion"`
	Folder        string   `json:"folder"`
	From          string   `json:"from"`
	Files         []string `json:"files"`
	// Converted and NotConverted list what --from-sylva took over under another name, and what it did not.
	Converted    []sylva.Said `json:"converted,omitempty"`
	NotConverted []sylva.Left `json:"notConverted,omitempty"`
	ToSet        []toSet      `json:"toSet,omitempty"`
	shown        string       // the folder as an argument of up
}

// Print says what was converted, and what to do next.
func (e newEnvironment) Print(out io.Writer) error {
	var b strings.Builder
	for _, said := range e.Converted {
		oneline.Fprintf(&b, "converted: %s is %s\n", said.Key, said.As)
	}
	for _, left := range e.NotConverted {
		oneline.Fprintf(&b, "not converted: %s: %s\n", left.Key, left.Why)
	}
	for _, set := range e.ToSet {
		oneline.Fprintf(&b, "to set: %s\n", cmp.Or(set.Hint, set.Problem))
	}
	oneline.Fprintf(&b, "wrote %s in %s\n  set what must be set: %s\n  see what comes of it:  cluster-init show "+
		"values %s --show-origin\n  build it:              cluster-init up %s\n",
		strings.Join(e.Files, ", "), e.Folder, filepath.Join(e.Folder, "values.yaml"), e.shown, e.shown)
	_, err := io.WriteString(out, b.String())
	return err
}
