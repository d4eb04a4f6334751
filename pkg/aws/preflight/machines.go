package preflight

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/aws"
)

// What Cluster API's provider uses where the environment is silent (v2.13.0, pkg/cloud/services/ec2/ami.go), and the
// architecture that it takes for an instance type that it may not look at.
const (
	defaultOwner  = "819546954734"
	defaultFormat = "capa-ami-{{.BaseOS}}-?{{.K8sVersion}}-*"
	defaultBaseOS = "ubuntu-24.04"
	defaultArch   = "x86_64"
)

// ownImage is the remedy for a missing AMI: none of the published ones has Flatcar and a current Kubernetes.
const ownImage = "Build an AMI with image-builder (`make build-ami-flatcar`, with the same Kubernetes version), and set " +
	"cluster.image to its id: see docs/environments/kubeadm-capa.md."

// machines checks the instance types and the AMI, and whether they fit each other.
func (i *inspection) machines(ctx context.Context) {
	architectures := map[string]string{} // of instance types
	known := true
	for _, machines := range i.roles() {
		if _, done := architectures[machines.Type]; done || i.unreachable {
			continue
		}
		found, err := i.client.InstanceType(ctx, machines.Type)
		architectures[machines.Type] = architecture(found)
		switch {
		case aws.Is(err, "InvalidInstanceType"):
			i.problem("Set cluster.aws.control_plane_machine_type and worker_machine_type to types of this region.",
				"the region %s has no instance type %s", i.client.Region, machines.Type)
			delete(architectures, machines.Type)
		case !i.asked("instance type "+machines.Type, err):
			known = false
		}
		for _, same := range i.roles() {
			if same.Type == machines.Type {
				i.vcpus += same.Count * found.VCPUs
			}
		}
	}
	if !known {
		i.vcpus = 0
	}
	if i.unreachable {
		return
	}
	if i.needs.Image == "" {
		i.lookUp(ctx, architectures)
		return
	}
	images, err := i.client.Image(ctx, i.needs.Image)
	if missing(err) || err == nil && len(images) == 0 {
		i.problem("Set cluster.image to an AMI of this region that this account may use: an AMI is in one region only "+
			"(`aws ec2 copy-image`). "+ownImage, "the region %s has no AMI %s for this account", i.client.Region,
			i.needs.Image)
		return
	}
	if i.asked("AMI "+i.needs.Image, err) {
		i.fits(images[0], architectures, known)
	}
}

// missing reports whether AWS answered that the AMI does not exist.
func missing(err error) bool {
	return aws.Is(err, "InvalidAMIID.NotFound", "InvalidAMIID.Malformed", "InvalidAMIID.Unavailable")
}

// roles are those that have machines.
func (i *inspection) roles() []Machines {
	return slices.DeleteFunc(append([]Machines{i.needs.ControlPlane, i.needs.Workers}, i.needs.Pools...),
		func(m Machines) bool { return m.Count == 0 })
}

// architecture is the one that Cluster API's provider takes.
func architecture(of aws.InstanceType) string {
	for _, one := range of.Architectures {
		if one == defaultArch || one == "arm64" {
			return one
		}
	}
	return defaultArch
}

// fits checks an AMI that is given by its id.
func (i *inspection) fits(image aws.Image, architectures map[string]string, known bool) {
	if image.State != "available" {
		i.problem("Wait until it is available, or set cluster.image to another one.", "AMI %s is %s", image.ID,
			image.State)
	}
	for machines, wanted := range architectures {
		if known && image.Architecture != wanted {
			i.problem("Set cluster.image to an AMI for "+wanted+", or use other instance types.",
				"AMI %s is for %s, and instance type %s is %s", image.ID, image.Architecture, machines, wanted)
		}
	}
	if least := image.RootGiB(); least > i.needs.RootGiB {
		i.problem("Set cluster.aws.root_volume_size to that size or more.",
			"AMI %s needs a disk of %d GiB, and machines get %d GiB", image.ID, least, i.needs.RootGiB)
	}
	i.note("AMI %s: %s", image.ID, cmp.Or(image.Name, "without a name"))
}

// lookUp finds the AMI as Cluster API's provider does, for each architecture.
func (i *inspection) lookUp(ctx context.Context, architectures map[string]string) {
	of := i.needs.Lookup
	owner := cmp.Or(of.Owner, defaultOwner)
	name := strings.NewReplacer("{{.BaseOS}}", cmp.Or(of.BaseOS, defaultBaseOS),
		"{{.K8sVersion}}", strings.TrimPrefix(of.KubernetesVersion, "v")).Replace(cmp.Or(of.Format, defaultFormat))
	if strings.Contains(name, "{{") {
		i.warn("the AMI: not checked: cluster.aws.image_lookup_format has more than {{.BaseOS}} and {{.K8sVersion}}")
		return
	}
	var wanted []string
	for _, one := range architectures {
		wanted = append(wanted, one)
	}
	slices.Sort(wanted)
	for _, one := range slices.Compact(wanted) {
		found, err := i.client.Images(ctx, aws.Filter{Name: "owner-id", Value: owner},
			aws.Filter{Name: "name", Value: name}, aws.Filter{Name: "architecture", Value: one},
			aws.Filter{Name: "state", Value: "available"}, aws.Filter{Name: "virtualization-type", Value: "hvm"})
		if !i.asked("the AMI", err) {
			return
		}
		if len(found) == 0 {
			i.problem(ownImage, "account %s has no AMI %s for %s in region %s", owner, name, one, i.client.Region)
			continue
		}
		i.note("%d AMIs %s for %s: the newest is used", len(found), name, one)
	}
}
