package preflight

import (
	"context"

	"github.com/gophercloud/gophercloud/v2/openstack/blockstorage/v3/availabilityzones"
	"github.com/gophercloud/gophercloud/v2/openstack/blockstorage/v3/volumetypes"
)

// volumes checks the type and the zone of root volumes.
func (i *inspection) volumes(ctx context.Context) {
	volume := i.needs.RootVolume
	if volume.GiB == 0 || i.client.BlockStorage == nil {
		return
	}
	if volume.Type != "" {
		there, err := all(ctx, volumetypes.List(i.client.BlockStorage, volumetypes.ListOpts{}),
			volumetypes.ExtractVolumeTypes)
		if i.asked("volume types", err) {
			named(i, "volume type", volume.Type, "Set cluster.openstack.root_volume.type to one of them, or leave it "+
				"empty for the cloud's default.", there,
				func(t volumetypes.VolumeType) (string, string) { return t.ID, t.Name })
		}
	}
	if volume.Zone != "" {
		there, err := all(ctx, availabilityzones.List(i.client.BlockStorage),
			availabilityzones.ExtractAvailabilityZones)
		if i.asked("availability zones of volumes", err) {
			var names []string
			for _, zone := range there {
				if zone.ZoneState.Available {
					names = append(names, zone.ZoneName)
				}
			}
			i.inZones("availability zone of volumes", []string{volume.Zone}, names,
				"Correct cluster.openstack.root_volume.availability_zone, or leave it empty.")
		}
	}
}
