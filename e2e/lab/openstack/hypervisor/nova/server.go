package nova

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/gophercloud/gophercloud/v2/openstack/blockstorage/v3/volumes"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/keypairs"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/image/v2/images"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor/drive"
)

// ImageOf returns the name of the image that a server was made of: its own, or that of the volume that it boots from.
// Empty means that there is none, or none any more.
func (c *Cloud) ImageOf(ctx context.Context, server hypervisor.Server) (string, error) {
	switch {
	case server.Image != "":
		return c.remember(server.Image, func() (string, bool, error) {
			image, err := images.Get(ctx, c.image, server.Image).Extract()
			if missing(err) {
				return "", true, nil
			}
			if err != nil {
				return "", false, fmt.Errorf("look at image %s: %w", server.Image, err)
			}
			return image.Name, true, nil
		})
	case server.Volume != "":
		return c.remember(server.Volume, func() (string, bool, error) {
			volume, err := volumes.Get(ctx, c.volume, server.Volume).Extract()
			if missing(err) {
				return "", true, nil
			}
			if err != nil {
				return "", false, fmt.Errorf("look at volume %s: %w", server.Volume, err)
			}
			return volume.VolumeImageMetadata["image_name"], volume.Status == "in-use", nil
		})
	}
	return "", nil // a server that is still being built has no volume yet
}

// remember asks once: the image of neither an image nor a finished volume changes.
func (c *Cloud) remember(id string, ask func() (name string, final bool, err error)) (string, error) {
	if name, known := c.images[id]; known {
		return name, nil
	}
	name, final, err := ask()
	if err == nil && final {
		c.images[id] = name
	}
	return name, err
}

// Gone reports whether nova denies that there is such a server.
func (c *Cloud) Gone(ctx context.Context, id string) (bool, error) {
	err := servers.Get(ctx, c.compute, id).Err
	if missing(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for server %s: %w", id, err)
	}
	return false, nil
}

// Drive returns what nova would put on a server's config drive.
func (c *Cloud) Drive(ctx context.Context, id string) (drive.Content, error) {
	compute := *c.compute
	compute.Microversion = detailed
	server, err := servers.Get(ctx, &compute, id).Extract()
	if err != nil {
		return drive.Content{}, fmt.Errorf("look at server %s: %w", id, err)
	}
	content := drive.Content{Metadata: drive.Metadata{
		UUID: server.ID, Name: server.Name, Hostname: server.Name, AvailabilityZone: server.AvailabilityZone,
		ProjectID: server.TenantID, PublicKeys: map[string]string{}, Meta: server.Metadata,
	}}
	if server.Hostname != nil && *server.Hostname != "" {
		content.Metadata.Hostname = *server.Hostname
	}
	if server.Userdata != nil {
		if content.UserData, err = base64.StdEncoding.DecodeString(*server.Userdata); err != nil {
			// the cause would quote it
			return drive.Content{}, fmt.Errorf("user-data of server %s is not in base 64", id)
		}
	}
	if server.KeyName != "" {
		pair, err := keypairs.Get(ctx, &compute, server.KeyName, keypairs.GetOpts{UserID: server.UserID}).Extract()
		if err != nil && !missing(err) {
			return drive.Content{}, fmt.Errorf("look at key pair %s: %w", server.KeyName, err)
		}
		if err == nil {
			content.Metadata.PublicKeys[pair.Name] = pair.PublicKey
		}
	}
	return content, nil
}
