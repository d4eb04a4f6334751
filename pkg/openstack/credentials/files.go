package credentials

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// cloudsText is the part of a clouds.yaml, secure.yaml or clouds-public.yaml that is read.
type cloudsText struct {
	Clouds map[string]yaml.Node `yaml:"clouds"`
	Public map[string]yaml.Node `yaml:"public-clouds"`

	keys []*yaml.Node // the top-level keys of the file
}

// files are a clouds.yaml and the files that belong to it.
type files struct {
	clouds, secure, public cloudsText
	path                   string // of the clouds.yaml, for errors
}

// usualFolders are those where python-openstackclient looks for a clouds.yaml.
func (f finder) usualFolders() []string {
	folders := []string{"."}
	config := f.get("XDG_CONFIG_HOME")
	if home := f.get("HOME"); config == "" && home != "" {
		config = filepath.Join(home, ".config")
	}
	if config != "" {
		folders = append(folders, filepath.Join(config, "openstack"))
	}
	return append(folders, "/etc/openstack")
}

// cloudsFile returns the path of the clouds.yaml. Empty means none was found. A folder without permission is skipped.
func (f finder) cloudsFile() (string, error) {
	if path := f.get("OS_CLIENT_CONFIG_FILE"); path != "" {
		return path, nil
	}
	for _, folder := range f.folders {
		for _, name := range []string{"clouds.yaml", "clouds.yml"} {
			path := filepath.Join(folder, name)
			_, err := os.Stat(path)
			if err == nil {
				return path, nil
			}
			if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
				return "", missing(fmt.Sprintf("looking for %s: %v", path, err), "")
			}
		}
	}
	return "", nil
}

// readFiles reads the clouds.yaml at path, the secure.yaml next to it or of OS_CLIENT_SECURE_FILE, and the first
// clouds-public.yaml of the searched folders that has profiles.
func (f finder) readFiles(path string) (files, error) {
	in := files{path: path}
	var err error
	if in.clouds, err = readClouds(path, true); err != nil {
		return files{}, err
	}
	secure, named := f.get("OS_CLIENT_SECURE_FILE"), true
	if secure == "" {
		secure, named = filepath.Join(filepath.Dir(path), "secure.yaml"), false
	}
	if in.secure, err = readClouds(secure, named); err != nil {
		return files{}, err
	}
	for _, folder := range f.folders {
		if in.public, err = readClouds(filepath.Join(folder, "clouds-public.yaml"), false); err != nil ||
			len(in.public.Public) > 0 {
			break
		}
	}
	return in, err
}

// readClouds reads a file that may be absent unless it is required.
func readClouds(path string, required bool) (cloudsText, error) {
	text, err := unpack.Named(path, mostOfClouds)
	if errors.Is(err, fs.ErrNotExist) && !required {
		return cloudsText{}, nil
	}
	if err != nil {
		return cloudsText{}, missing(fmt.Sprintf("reading OpenStack credentials: %v", err),
			"Check OS_CLIENT_CONFIG_FILE and the file's permissions.")
	}
	return parseClouds(text, path)
}

// mostOfClouds is the maximum size of a clouds.yaml, in bytes.
const mostOfClouds = 16 << 20

func parseClouds(text []byte, path string) (cloudsText, error) {
	var parsed cloudsText
	if err := unpack.YAML(text); errors.Is(err, unpack.ErrTooLarge) {
		return cloudsText{}, invalid(err, path)
	}
	if err := yaml.Unmarshal(text, &parsed); err != nil {
		return cloudsText{}, invalid(err, path)
	}
	var document yaml.Node
	if yaml.Unmarshal(text, &document) == nil && len(document.Content) == 1 &&
		document.Content[0].Kind == yaml.MappingNode {
		for i := 0; i < len(document.Content[0].Content); i += 2 {
			parsed.keys = append(parsed.keys, document.Content[0].Content[i])
		}
	}
	return parsed, nil
}

var lineNumber = regexp.MustCompile(`line \d+`)

// invalid keeps only the line number of a YAML error: the rest may quote a password.
func invalid(err error, path string) error {
	where := lineNumber.FindString(err.Error())
	if where != "" {
		where = ", " + where
	}
	return missing(fmt.Sprintf("%s%s: this is not a clouds.yaml", path, where),
		"Write it as docs/environments/openstack.md describes.")
}

// entry combines one cloud from its profile, the clouds.yaml, the secure.yaml, and its region.
func (in files) entry(name, region string) (source, error) {
	var e source
	node := in.clouds.Clouds[name]
	if err := node.Decode(&e); err != nil {
		return source{}, invalid(err, in.path)
	}
	if err := in.misplaced(name); err != nil {
		return source{}, err
	}
	if profile := cmp.Or(e.Profile, e.Cloud); profile != "" {
		public, known := in.public.Public[profile]
		if !known {
			return source{},
				missing(fmt.Sprintf("cloud %q in %s has the profile %q, which no clouds-public.yaml contains",
					name, in.path, openstack.Printable(profile)),
					"Copy the profile's content, auth_url above all, into the entry.")
		}
		e = source{}
		if err := errors.Join(public.Decode(&e), node.Decode(&e)); err != nil {
			return source{}, invalid(err, "clouds-public.yaml")
		}
	}
	if secure, there := in.secure.Clouds[name]; there {
		if err := secure.Decode(&e); err != nil {
			return source{}, invalid(err, "secure.yaml")
		}
	}
	e.RegionName = cmp.Or(region, e.RegionName)
	return e, e.region(name, in.path)
}

// region selects the requested region, or the only one.
func (s *source) region(cloud, path string) error {
	var names []string
	for _, node := range s.Regions {
		of := struct {
			Name   string    `yaml:"name"`
			Values yaml.Node `yaml:"values"`
		}{}
		if node.Decode(&of.Name) != nil && node.Decode(&of) != nil {
			return missing(fmt.Sprintf("regions of cloud %q in %s cannot be read", cloud, path),
				"Give a list of names.")
		}
		names = append(names, openstack.Printable(of.Name))
		if of.Name == s.RegionName || s.RegionName == "" && len(s.Regions) == 1 {
			s.RegionName = of.Name
			if of.Values.IsZero() {
				return nil
			}
			if err := of.Values.Decode(s); err != nil {
				return invalid(err, path)
			}
			return nil
		}
	}
	if len(names) > 0 {
		return missing(fmt.Sprintf("cloud %q in %s has regions, and %q is none of them", cloud, path,
			openstack.Printable(s.RegionName)), "Set OS_REGION_NAME to one of: "+strings.Join(names, ", "))
	}
	return nil
}

// expand replaces ~/ in the path of a file that a clouds.yaml names. Relative paths start at the current folder.
func (f finder) expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && f.get("HOME") != "" {
		return filepath.Join(f.get("HOME"), rest)
	}
	return path
}
