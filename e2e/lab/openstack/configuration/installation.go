// Package configuration holds the files that the OpenStack services read, and what an installation has of its own.
package configuration

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"text/template"
)

// Ports of the lab's own RabbitMQ, all on 127.0.0.1. They are not the usual ones: Debian's package may have started
// another.
const (
	MessagePort      = 25671
	DistributionPort = 25673
	NamePort         = 25674
)

// files are the templates of all configuration files, by the name that the file has.
//
//go:embed files
var files embed.FS

// drivers are the lab's own parts of nova, neutron, cinder and octavia.
//
//go:embed python
var drivers embed.FS

// Installation is what differs from one installation to another.
type Installation struct {
	Folder   string // state, with a full path
	Packages string // root of the Debian packages that are unpacked, not installed
	Address  string // of all APIs
	Secrets  Secrets
}

// Secrets are the passwords of one installation.
type Secrets struct {
	Database string `json:"database"`
	Messages string `json:"messages"`
	Admin    string `json:"admin"`
	Service  string `json:"service"` // of the users of all services
	Demo     string `json:"demo"`
}

// OpenSecrets returns the passwords that the file holds; it makes them when there is none.
func OpenSecrets(file string) (Secrets, error) {
	content, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return makeSecrets(file)
	}
	if err != nil {
		return Secrets{}, fmt.Errorf("read the passwords: %w", err)
	}
	var secrets Secrets
	if err := json.Unmarshal(content, &secrets); err != nil {
		return Secrets{}, fmt.Errorf("read the passwords in %s: %w", file, err)
	}
	return secrets, nil
}

func makeSecrets(file string) (Secrets, error) {
	secrets := Secrets{Database: Password(), Messages: Password(), Admin: Password(), Service: Password(),
		Demo: Password()}
	content, err := json.Marshal(secrets)
	if err != nil {
		return Secrets{}, fmt.Errorf("write the passwords: %w", err)
	}
	return secrets, Write(file, content)
}

// Password returns a new password of letters and digits.
func Password() string {
	random := make([]byte, 16)
	_, _ = rand.Read(random) // never fails, says its documentation
	return hex.EncodeToString(random)
}

// File returns the path of a configuration file of the installation.
func (i Installation) File(name string) string { return filepath.Join(i.Folder, "etc", name) }

// Python returns the folder of the lab's own drivers, for PYTHONPATH.
func (i Installation) Python() string { return filepath.Join(i.Folder, "python") }

// Consoles returns the folder with the consoles of the servers that are machines, one file for each.
func (i Installation) Consoles() string { return filepath.Join(i.Folder, ConsolesName) }

// ConsolesName is the name of that folder.
const ConsolesName = "consoles"

// Variable returns the path of something that a service keeps.
func (i Installation) Variable(name string) string { return filepath.Join(i.Folder, "var", name) }

// WriteAll writes all configuration files and the drivers. Only the installation's user can read them.
func (i Installation) WriteAll() error {
	entries, err := files.ReadDir("files")
	if err != nil {
		return fmt.Errorf("list the configuration files: %w", err)
	}
	for _, entry := range entries {
		content, err := i.Render(entry.Name())
		if err != nil {
			return err
		}
		if err := Write(i.File(entry.Name()), content); err != nil {
			return err
		}
	}
	return i.writeDrivers()
}

// Render returns the content of a configuration file.
func (i Installation) Render(name string) ([]byte, error) {
	parsed, err := template.New(name).Funcs(template.FuncMap{
		"credentials": i.credentials, "database": i.Database, "messages": i.messages,
		"messagePort": func() int { return MessagePort },
	}).ParseFS(files, "files/"+name)
	if err != nil {
		return nil, fmt.Errorf("read the template of %s: %w", name, err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, i); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	return out.Bytes(), nil
}

// Write replaces a file in one step. Only its owner can read it; so can only its owner the folder when that is new.
func Write(file string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	temporary := file + ".new"
	if err := os.WriteFile(temporary, content, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	if err := os.Rename(temporary, file); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}
