// Package drive is the config drive of a server: what nova gives it to read at its first boot.
package drive

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
)

// Content is what a server finds there.
type Content struct {
	Metadata Metadata
	UserData []byte // secret, as it holds the keys of a cluster; empty for none
}

// Metadata is the part of meta_data.json that cloud-init and its templates read, in the format of OpenStack.
type Metadata struct {
	UUID             string            `json:"uuid"`
	Name             string            `json:"name"`
	Hostname         string            `json:"hostname"`
	AvailabilityZone string            `json:"availability_zone"`
	ProjectID        string            `json:"project_id"`
	LaunchIndex      int               `json:"launch_index"`
	PublicKeys       map[string]string `json:"public_keys"`
	Meta             map[string]string `json:"meta,omitempty"`
}

// Archive returns the drive as a tar archive below the folder root, readable only by the superuser.
func (c Content) Archive(root string) ([]byte, error) {
	if c.Metadata.PublicKeys == nil {
		c.Metadata.PublicKeys = map[string]string{}
	}
	metadata, err := json.MarshalIndent(c.Metadata, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the metadata of server %s: %w", c.Metadata.UUID, err)
	}
	latest := root + "/openstack/latest/"
	entries := []struct {
		name    string
		content []byte
	}{
		{root + "/", nil}, {root + "/openstack/", nil}, {latest, nil},
		{latest + "meta_data.json", metadata},
		{latest + "vendor_data.json", []byte("{}")},
	}
	if len(c.UserData) > 0 {
		entries = append(entries, struct {
			name    string
			content []byte
		}{latest + "user_data", c.UserData})
	}
	var archive bytes.Buffer
	out := tar.NewWriter(&archive)
	for _, entry := range entries {
		header := &tar.Header{Name: entry.name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(entry.content))}
		if entry.content == nil {
			header.Typeflag, header.Mode = tar.TypeDir, 0o700
		}
		if err := out.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("write the config drive of server %s: %w", c.Metadata.UUID, err)
		}
		if _, err := out.Write(entry.content); err != nil {
			return nil, fmt.Errorf("write the config drive of server %s: %w", c.Metadata.UUID, err)
		}
	}
	if err := out.Close(); err != nil {
		return nil, fmt.Errorf("write the config drive of server %s: %w", c.Metadata.UUID, err)
	}
	return archive.Bytes(), nil
}
