package preflight

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/availabilityzones"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/keypairs"
	"github.com/gophercloud/gophercloud/v2/openstack/image/v2/images"

	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// What kubeadm demands of a control plane machine: it counts cores, and refuses less than 1700 MB of memory.
const (
	controlPlaneCores = 2
	controlPlaneRAM   = 2000 // MiB, of a flavor that calls itself 2 GB
)

var uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// named finds what is wanted by id or name among all, and records a problem unless there is exactly one.
func named[T any](i *inspection, what, wanted, hint string, all []T, id func(T) (id, name string)) (T, bool) {
	var found []T
	var names []string
	for _, one := range all {
		oneID, oneName := id(one)
		names = append(names, oneName)
		if uuid.MatchString(wanted) && oneID == wanted || !uuid.MatchString(wanted) && oneName == wanted {
			found = append(found, one)
		}
	}
	switch len(found) {
	case 1:
		return found[0], true
	case 0:
		i.problem(hint, "%s %q does not exist in project %s; there are: %s", what, wanted, i.client.ProjectName,
			some(names))
	default:
		i.problem("Use its id instead of its name.", "%s %q is the name of %d", what, wanted, len(found))
	}
	var none T
	return none, false
}

// some lists names, not too many.
func some(names []string) string {
	const most = 12
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}

// machines are those of all roles; those of the control plane are first.
func (n Needs) machines() []Machines {
	return append([]Machines{n.ControlPlane, n.Workers}, n.Pools...)
}

// flavor is what counts of a flavor; cores is zero when it was not found.
type flavor struct{ cores, ram int }

// machines checks the image and the flavors, and whether they fit each other.
func (i *inspection) machines(ctx context.Context) {
	image, haveImage := i.image(ctx)
	there, err := all(ctx, flavors.ListDetail(i.client.Compute, nil), flavors.ExtractFlavors)
	if !i.asked("flavors", err) {
		return
	}
	i.flavors = make([]flavor, len(i.needs.machines()))
	for n, machines := range i.needs.machines() {
		if machines.Count == 0 {
			continue
		}
		earlier := slices.IndexFunc(i.needs.machines()[:n], func(m Machines) bool {
			return m.Count > 0 && m.Flavor == machines.Flavor
		})
		if n > 1 && earlier >= 0 { // checked and reported already
			i.flavors[n] = i.flavors[earlier]
			continue
		}
		value := cmp.Or(machines.Value, []string{"cluster.openstack.control_plane_flavor",
			"cluster.openstack.worker_flavor"}[min(n, 1)])
		found, ok := named(i, "flavor", machines.Flavor, "Set "+value+" to one of them.", there,
			func(f flavors.Flavor) (string, string) { return f.ID, f.Name })
		if !ok {
			continue
		}
		i.flavors[n] = flavor{found.VCPUs, found.RAM}
		if n == 0 && (found.VCPUs < controlPlaneCores || found.RAM < controlPlaneRAM) {
			i.problem("Set "+value+" to a larger one.", "flavor %q has too little: cores %d, memory "+
				"%d MiB; a control plane machine needs at least %d and %d MiB",
				found.Name, found.VCPUs, found.RAM, controlPlaneCores, controlPlaneRAM)
		}
		if haveImage && (n == 0 || machines.Flavor != i.needs.ControlPlane.Flavor) {
			i.fits(image, found, value)
		}
	}
}

// image finds the image, and records a problem unless exactly one exists and is active.
func (i *inspection) image(ctx context.Context) (images.Image, bool) {
	filter := images.ListOpts{Name: i.needs.Image}
	if uuid.MatchString(i.needs.Image) {
		filter = images.ListOpts{ID: i.needs.Image}
	}
	there, err := all(ctx, images.List(i.client.Image, filter), images.ExtractImages)
	if !i.asked("images", err) {
		return images.Image{}, false
	}
	if len(there) == 0 { // only the problem needs all names
		if there, err = all(ctx, images.List(i.client.Image, images.ListOpts{}), images.ExtractImages); !i.asked(
			"images", err) {
			return images.Image{}, false
		}
	}
	found, ok := named(i, "image", i.needs.Image, "Set cluster.openstack.image to one of them, or upload it.", there,
		func(m images.Image) (string, string) { return m.ID, m.Name })
	if ok && found.Status != images.ImageStatusActive {
		i.problem("Wait until it is active, or use another image.", "image %q is not active but %s", found.Name,
			found.Status)
		return images.Image{}, false
	}
	return found, ok
}

// fits records a problem if an image needs more disk or memory than its machine has.
func (i *inspection) fits(image images.Image, in flavors.Flavor, value string) {
	if in.RAM < image.MinRAMMegabytes {
		i.problem("Set "+value+" to a larger one.",
			"image %q wants %d MiB of memory, and flavor %q has %d", image.Name, image.MinRAMMegabytes, in.Name, in.RAM)
	}
	disk, where, hint := in.Disk, fmt.Sprintf("flavor %q", in.Name), "Set "+value+
		" to one with a larger disk, or cluster.openstack.root_volume.size."
	if size := i.needs.RootVolume.GiB; size > 0 {
		disk, where, hint = size, "the root volume", "Raise cluster.openstack.root_volume.size."
	} else if disk == 0 { // the disk gets the image's size, if the cloud allows it
		i.warn("flavor %q has no disk of its own, which many clouds refuse: set cluster.openstack.root_volume.size",
			in.Name)
		return
	}
	if wants := max(image.MinDiskGigabytes, gibibytes(image.SizeBytes), gibibytes(image.VirtualSize)); disk < wants {
		i.problem(hint, "image %q wants a disk of %d GiB, and %s has %d", image.Name, wants, where, disk)
	}
}

// gibibytes rounds up.
func gibibytes(bytes int64) int { return int((bytes + 1<<30 - 1) >> 30) }

func (i *inspection) keyPair(ctx context.Context) {
	name := i.needs.KeyPair
	if name == "" {
		return
	}
	_, err := keypairs.Get(ctx, i.client.Compute, name, nil).Extract()
	if openstack.Status(err) == http.StatusNotFound {
		there, err := all(ctx, keypairs.List(i.client.Compute, nil), keypairs.ExtractKeyPairs)
		if !i.asked("key pairs", err) {
			return
		}
		var names []string
		for _, pair := range there {
			names = append(names, pair.Name)
		}
		i.problem("Key pairs belong to a user: create it with these credentials' user, or set "+
			"cluster.openstack.ssh_key_name to one of them.",
			"key pair %q does not exist for this user; there are: %s", name, some(names))
		return
	}
	i.asked("key pair "+name, err)
}

// zones checks the availability zones of compute.
func (i *inspection) zones(ctx context.Context) {
	wanted := slices.Concat(i.needs.ControlPlane.Zones, i.needs.Workers.Zones)
	if len(wanted) == 0 {
		return
	}
	there, err := all(ctx, availabilityzones.List(i.client.Compute), availabilityzones.ExtractAvailabilityZones)
	if !i.asked("availability zones", err) {
		return
	}
	var names []string
	for _, zone := range there {
		if zone.ZoneState.Available {
			names = append(names, zone.ZoneName)
		}
	}
	i.inZones("availability zone", wanted, names,
		"Correct control_plane_availability_zones or worker_availability_zone of cluster.openstack.")
}

func (i *inspection) inZones(what string, wanted, there []string, hint string) {
	slices.Sort(wanted)
	for _, zone := range slices.Compact(wanted) {
		if !slices.Contains(there, zone) {
			i.problem(hint, "%s %q is not available; there are: %s", what, zone, some(there))
		}
	}
}
