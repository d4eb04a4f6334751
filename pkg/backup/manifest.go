package backup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Format is the newest version of the layout that this package writes and reads. Format 3 has a snapshot of etcd,
// format 2 workload clusters of other namespaces. A backup has the lowest format that it needs: earlier versions of
// cluster-init read it.
const Format = 3

// ManifestFile is the name of the file that describes a backup.
const ManifestFile = "backup.json"

// maxManifest is the maximum size of that file, in bytes: a backup of 100 clusters has one of about 250 kB.
const maxManifest = 16 << 20

// Section is a folder of a backup.
type Section string

// The sections of a backup.
const (
	Objects     Section = "objects"     // what moves
	References  Section = "references"  // what the objects refer to, and the move leaves
	Environment Section = "environment" // values, release and source of the management cluster
	Workload    Section = "workload"    // values, releases and sources of the workload clusters
	Etcd        Section = "etcd"        // a snapshot, and no objects
)

func sections() []Section { return []Section{Objects, References, Environment, Workload, Etcd} }

// Provider is a provider of Cluster API that ran when the backup was made.
type Provider struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Manifest describes the content of a backup, with the digest of each file.
type Manifest struct {
	Format    int       `json:"format"`
	Created   time.Time `json:"created"`
	CreatedBy string    `json:"createdBy"` // version of cluster-init
	Namespace string    `json:"namespace"`
	Cluster   string    `json:"cluster"`
	// Identity is the cluster's, which survives a move, see IdentityOf. Empty means not known.
	Identity   string     `json:"identity,omitempty"`
	Providers  []Provider `json:"providers,omitempty"`
	Kubernetes string     `json:"kubernetes,omitempty"` // version of the control plane; empty: not known
	// Workloads are the clusters that it also managed and that have a release, or are in another namespace.
	Workloads []WorkloadCluster `json:"workloads,omitempty"`
	Etcd      *EtcdSnapshot     `json:"etcd,omitempty"` // nil without a snapshot
	// Files has the SHA-256 of every file but this one and its signature, in hexadecimal, by its path in the backup.
	Files map[string]string `json:"files"`
}

var digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// parseManifest reads backup.json. Errors name fields and files, and contain nothing else of it.
func parseManifest(text []byte) (Manifest, error) {
	var version struct {
		Format int `json:"format"`
	}
	if len(text) > maxManifest {
		return Manifest{}, fmt.Errorf("%s is larger than %d bytes", ManifestFile, maxManifest)
	}
	if json.Unmarshal(text, &version) != nil {
		return Manifest{}, fmt.Errorf("%s is not the JSON of a backup: it is truncated or was changed", ManifestFile)
	}
	if version.Format > Format {
		return Manifest{}, fmt.Errorf("%s has format %d, but this cluster-init reads formats up to %d", ManifestFile,
			version.Format, Format)
	}
	var m Manifest
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&m) != nil || decoder.More() {
		return Manifest{}, fmt.Errorf("%s is not the JSON of a backup: it is truncated or was changed", ManifestFile)
	}
	if err := m.check(); err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", ManifestFile, err)
	}
	return m, nil
}

func (m Manifest) check() error {
	switch {
	case m.Format < 1:
		return errors.New("it has no format")
	case len(validation.IsDNS1123Label(m.Namespace)) > 0:
		return errors.New("its namespace is not a valid name")
	case len(validation.IsDNS1123Subdomain(m.Cluster)) > 0:
		return errors.New("its cluster is not a valid name")
	case m.Identity != "" && !digestForm.MatchString(strings.TrimPrefix(m.Identity, identityPrefix)):
		return errors.New("its identity is not a digest")
	case m.Created.IsZero():
		return errors.New("it has no time of the backup")
	case !isPrintable(m.Kubernetes):
		return errors.New("its version of Kubernetes is not printable")
	case !isPrintable(m.CreatedBy):
		return errors.New("its version of cluster-init is not printable")
	case slices.ContainsFunc(m.Providers, func(p Provider) bool { return !isPrintable(p.Name + p.Version) }):
		return errors.New("the name or the version of a provider is not printable")
	}
	if err := errors.Join(m.checkWorkloads(), m.checkEtcd()); err != nil {
		return err
	}
	objects := 0
	for name, digest := range m.Files {
		section, err := sectionOf(name)
		if err != nil {
			return err
		}
		if !digestForm.MatchString(digest) {
			return fmt.Errorf("the digest of %s is invalid", name)
		}
		if section == Objects {
			objects++
		}
	}
	if objects == 0 {
		return errors.New("it lists no objects")
	}
	return nil
}

// sectionOf returns the section of a path in a backup. It returns an error for any path that no backup has, because it
// may lead out of the folder.
func sectionOf(name string) (Section, error) {
	folder, file := path.Split(name)
	section := Section(strings.TrimSuffix(folder, "/"))
	if name == snapshotFile {
		return section, nil
	}
	if folder == "" || section == Etcd || !slices.Contains(sections(), section) || !plainName(file) {
		return "", fmt.Errorf("%q is not a path of a file in a backup", name)
	}
	return section, nil
}

// plainName reports whether a name is that of one YAML file on any file system.
func plainName(file string) bool {
	return strings.HasSuffix(file, ".yaml") && !strings.HasPrefix(file, ".") && !strings.ContainsAny(file, `/\`) &&
		isPrintable(file)
}

// names returns the paths of a section, sorted.
func (m Manifest) names(s Section) []string {
	var all []string
	for name := range m.Files {
		if section, err := sectionOf(name); err == nil && section == s {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// Count returns how many files a section has.
func (m Manifest) Count(s Section) int { return len(m.names(s)) }

func (m Manifest) encode() ([]byte, error) {
	text, err := json.MarshalIndent(m, "", "  ")
	return append(text, '\n'), err
}
