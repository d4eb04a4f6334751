// Package openstack is the adapter to OpenStack: it logs in to a cloud, deletes resources, and explains its errors.
// Packages below find the credentials (credentials), list the resources of a project (inventory), and check whether a
// cluster can be made (preflight).
package openstack

import (
	"fmt"
	"log/slog"
)

// Cloud is one self-contained entry of a clouds.yaml. It never shows itself in formatted text or logs.
type Cloud struct {
	// Name is the entry's name.
	Name string
	// Config is a clouds.yaml with that entry only, secrets included, that names no file of this machine.
	Config []byte
	// CACert are the certificates, in PEM, that may sign those of the endpoints. Empty means those of the system.
	CACert []byte
}

const hidden = "OpenStack credentials (hidden)"

// Format writes no part of the cloud, whatever the verb.
func (Cloud) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// LogValue holds no part of the cloud.
func (Cloud) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalJSON holds no part of the cloud.
func (Cloud) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }
