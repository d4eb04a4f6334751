package vm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// shortest is the length in bytes from which on a file is compressed. Shorter ones stay readable.
const shortest = 1024

// cloudConfig is what cloud-init reads.
type cloudConfig struct {
	Files []writtenFile `json:"write_files"`
	Run   [][]string    `json:"runcmd"`
}

type writtenFile struct {
	Path        string `json:"path"`
	Permissions string `json:"permissions"`
	Encoding    string `json:"encoding,omitempty"`
	Content     string `json:"content"`
}

// UserData returns the cloud-config document, with the secrets or without. It refuses one of more than limit bytes.
func (m Machine) UserData(secrets bool, limit int) ([]byte, error) {
	files, err := m.public()
	if err != nil {
		return nil, err
	}
	note := "Its secrets are not in here; see cluster-init vm secrets."
	if secrets {
		files = append(files, m.secret()...)
		note = "IT CONTAINS SECRETS, which each process on the machine can read."
	}
	config := cloudConfig{Run: [][]string{{"systemctl", "enable", "--now", "--no-block", "cluster-init-vm.service"}}}
	for _, f := range files {
		written, err := f.written()
		if err != nil {
			return nil, fmt.Errorf("compress %s: %w", f.Path, err)
		}
		config.Files = append(config.Files, written)
	}
	text, err := yaml.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("write the user data: %w", err)
	}
	text = append(fmt.Appendf(nil, "#cloud-config\n# For a disposable machine that builds the management cluster %s, "+
		"by "+
		"cluster-init %s.\n# It boots from an image with Kubernetes. %s\n", m.Cluster,
		strings.Join(strings.Fields(m.Version), " "), note), text...)
	if len(text) > limit {
		return nil, fault.New(fault.Usage, fmt.Sprintf("the user data has %d bytes, and the cloud takes at most %d",
			len(text), limit), "Leave the secrets out (--secrets none), and shorten certificates and patches in the "+
			"values.")
	}
	return text, nil
}

// written compresses a file that is not short.
func (f File) written() (writtenFile, error) {
	w := writtenFile{Path: f.Path, Permissions: "0600", Content: f.Content}
	if len(f.Content) < shortest {
		return w, nil
	}
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return w, err
	}
	if _, err := io.WriteString(zip, f.Content); err != nil {
		return w, err
	}
	if err := zip.Close(); err != nil {
		return w, err
	}
	w.Encoding, w.Content = "gz+b64", base64.StdEncoding.EncodeToString(packed.Bytes())
	return w, nil
}

// WriteSecrets writes a compressed tar archive of the secret files, to be unpacked in the root folder of the machine.
// The file that the machine waits for is its last one: an interrupted copy does not have it.
func (m Machine) WriteSecrets(to io.Writer) error {
	zip := gzip.NewWriter(to)
	archive := tar.NewWriter(zip)
	for _, f := range m.secret() {
		header := &tar.Header{Name: strings.TrimPrefix(f.Path, "/"), Mode: 0o600, Size: int64(len(f.Content)),
			ModTime: time.Unix(0, 0)}
		if err := archive.WriteHeader(header); err != nil {
			return fmt.Errorf("pack %s: %w", f.Path, err)
		}
		if _, err := io.WriteString(archive, f.Content); err != nil {
			return fmt.Errorf("pack %s: %w", f.Path, err)
		}
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("pack the secrets: %w", err)
	}
	return zip.Close()
}
