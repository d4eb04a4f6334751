package resource

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
)

const (
	// ServerImage is an image whose servers become machines.
	ServerImage = "cluster-init-lab"
	// StandinImage is an image whose servers become machines with the stand-in for RKE2.
	StandinImage = "cluster-init-lab-rke2-standin"
	// StockImage is an image whose servers become machines that lack Kubernetes. The servers of any other image are
	// only rows in nova's database.
	StockImage = "cluster-init-lab-stock"
	// PaperImage is an image for servers that need not become machines.
	PaperImage = "paper"
	// imageBytes is the size of the images' content, which is never read.
	imageBytes = 1 << 20
)

// Offer makes what projects find: flavors, images, the external network, a volume type; and quotas and a key pair of
// demo, whose private part it writes to keyFile.
func Offer(ctx context.Context, installation configuration.Installation, keyFile string) error {
	admin, err := connect(ctx, installation, Admin(installation))
	if err != nil {
		return err
	}
	for _, make := range []func(context.Context, cloud) error{offerFlavors, offerNetwork, offerImages, offerVolumes} {
		if err := make(ctx, admin); err != nil {
			return err
		}
	}
	if err := setQuotas(ctx, admin, Demo(installation).Project, generous()); err != nil {
		return err
	}
	demo, err := connect(ctx, installation, Demo(installation))
	if err != nil {
		return err
	}
	return offerKeyPair(ctx, demo.compute, keyFile)
}

// HugeFlavor is one that no hypervisor has the disk for: a server of it ends in ERROR.
const HugeFlavor = "huge"

func offerFlavors(ctx context.Context, admin cloud) error {
	for _, flavor := range []struct {
		name            string
		cpus, ram, disk int // MB, GB
	}{{"m1.tiny", 1, 512, 5}, {"m1.small", 2, 2048, 20}, {"m1.medium", 2, 4096, 40}, {HugeFlavor, 1, 512, 10_000_000}} {
		_, err := ensure(ctx, admin.compute, "flavors", "flavor", map[string]any{
			"name": flavor.name, "vcpus": flavor.cpus, "ram": flavor.ram, "disk": flavor.disk,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// offerNetwork makes the external network, with addresses that are reserved for tests of devices (RFC 2544): those for
// documentation may be in use where package servers are reached through stand-ins.
func offerNetwork(ctx context.Context, admin cloud) error {
	network, err := ensure(ctx, admin.network, "networks", "network", map[string]any{
		"name": "public", "router:external": true,
		"provider:network_type": "flat", "provider:physical_network": "public",
	})
	if err != nil {
		return err
	}
	_, err = ensure(ctx, admin.network, "subnets", "subnet", map[string]any{
		"name": "public", "network_id": network, "ip_version": 4, "enable_dhcp": false,
		"cidr": "198.19.0.0/24", "gateway_ip": "198.19.0.1",
		"allocation_pools": []map[string]any{{"start": "198.19.0.10", "end": "198.19.0.250"}},
	})
	return err
}

// offerImages makes the images. One whose upload was interrupted is recreated.
func offerImages(ctx context.Context, admin cloud) error {
	for name, minDisk := range map[string]int{ServerImage: 10, StandinImage: 10, StockImage: 10, PaperImage: 0} {
		whole, err := find(ctx, admin.image, "images?status=active&name="+name, "images", name)
		if err != nil {
			return err
		}
		if whole != "" {
			continue
		}
		if err := uploadImage(ctx, admin.image, name, minDisk); err != nil {
			return fmt.Errorf("create image %s: %w", name, err)
		}
	}
	return nil
}

func uploadImage(ctx context.Context, client *gophercloud.ServiceClient, name string, minDisk int) error {
	half, err := find(ctx, client, "images?name="+name, "images", name)
	if err != nil {
		return err
	}
	if half != "" {
		if _, err := client.Delete(ctx, client.ServiceURL("images", half), nil); err != nil {
			return err
		}
	}
	var image item
	body := map[string]any{"name": name, "visibility": "public", "disk_format": "raw", "container_format": "bare",
		"min_disk": minDisk}
	if _, err := client.Post(ctx, client.ServiceURL("images"), body, &image, accept(http.StatusCreated)); err != nil {
		return err
	}
	_, err = client.Put(ctx, client.ServiceURL("images", image.ID, "file"), nil, nil, &gophercloud.RequestOpts{
		RawBody:     bytes.NewReader(make([]byte, imageBytes)),
		MoreHeaders: map[string]string{"Content-Type": "application/octet-stream"},
		OkCodes:     []int{http.StatusNoContent},
	})
	return err
}

func offerVolumes(ctx context.Context, admin cloud) error {
	_, err := ensure(ctx, admin.volume, "types", "volume_type", map[string]any{
		"name": "lab", "os-volume-type-access:is_public": true,
		"extra_specs": map[string]string{"volume_backend_name": "lab"},
	})
	return err
}

// offerKeyPair makes key pair lab. Nova gives its private part once; without the file the pair is recreated.
func offerKeyPair(ctx context.Context, compute *gophercloud.ServiceClient, file string) error {
	const name = "lab"
	_, err := compute.Get(ctx, compute.ServiceURL("os-keypairs", name), nil, nil)
	if err != nil && !notFound(err) {
		return fmt.Errorf("look for key pair %s: %w", name, err)
	}
	if _, missing := os.Stat(file); err == nil && missing == nil {
		return nil
	}
	if err == nil {
		if _, err := compute.Delete(ctx, compute.ServiceURL("os-keypairs", name),
			accept(http.StatusAccepted, http.StatusNoContent)); err != nil {
			return fmt.Errorf("delete key pair %s, whose private part is lost: %w", name, err)
		}
	}
	var answer struct {
		KeyPair struct {
			PrivateKey string `json:"private_key"`
		} `json:"keypair"`
	}
	body := map[string]any{"keypair": map[string]any{"name": name}}
	if _, err := compute.Post(ctx, compute.ServiceURL("os-keypairs"), body, &answer,
		accept(http.StatusOK, http.StatusCreated)); err != nil {
		return fmt.Errorf("create key pair %s: %w", name, err)
	}
	return configuration.Write(file, []byte(answer.KeyPair.PrivateKey))
}
