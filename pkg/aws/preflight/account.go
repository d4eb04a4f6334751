package preflight

import (
	"context"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/aws"
)

// keyPair checks the key pair, if there is to be one.
func (i *inspection) keyPair(ctx context.Context) {
	name := i.needs.KeyPair
	if name == "" {
		return
	}
	err := i.client.KeyPair(ctx, name)
	if aws.Is(err, "InvalidKeyPair.NotFound") {
		i.problem("Import it (`aws ec2 import-key-pair`), or leave cluster.aws.ssh_key_name empty.",
			"the region %s has no key pair %q", i.client.Region, name)
		return
	}
	i.asked("key pair "+name, err)
}

// profiles checks the instance profiles of both roles: the bucket's policy names both, also without workers.
func (i *inspection) profiles(ctx context.Context) {
	names := []string{i.needs.ControlPlane.Profile, i.needs.Workers.Profile}
	for _, name := range slices.Compact(names) {
		if i.unreachable {
			return
		}
		err := i.client.InstanceProfile(ctx, name)
		if aws.Is(err, "NoSuchEntity") {
			i.problem("Create it with `clusterawsadm bootstrap iam create-cloudformation-stack --config iam.yaml` "+
				"(see docs/environments/kubeadm-capa.md), or set cluster.aws.control_plane_iam_instance_profile and "+
				"worker_iam_instance_profile.", "the account has no instance profile %s", name)
			continue
		}
		i.asked("instance profile "+name, err)
	}
}

// bucket checks whose the bucket is, and where. Cluster API's provider creates it if it does not exist.
func (i *inspection) bucket(ctx context.Context) {
	const another = "Set cluster.aws.s3_bucket_name (AWS_S3_BUCKET_NAME) to another name: it must be unique in all of " +
		"AWS. "
	name := i.needs.Bucket
	found, err := i.client.Bucket(ctx, name)
	if !i.asked("bucket "+name, err) {
		return
	}
	if found.Exists && found.Region != "" && found.Region != i.client.Region {
		i.problem(another+"Or use the bucket's region.", "bucket %s is in region %s, but the cluster is in %s", name,
			found.Region, i.client.Region)
		return
	}
	owned := !found.Forbidden
	if found.Forbidden {
		if owned, err = i.client.OwnsBucket(ctx, name); err != nil {
			i.warn("bucket %s: not checked: it exists, but these credentials lack permission to read it: it may "+
				"belong to another account (%v)", name, err)
			return
		}
	}
	switch {
	case !found.Exists:
		i.note("bucket %s does not exist yet", name)
	case !owned:
		i.problem(another, "bucket %s belongs to another AWS account", name)
	case found.Forbidden:
		i.warn("bucket %s belongs to this account, and these credentials may not read it: machines cannot get "+
			"their user data unless the provider may write to it", name)
	default:
		i.note("bucket %s exists", name)
	}
}

// What a cluster takes of a region's network, with one zone each: the provider uses up to three.
const (
	vpcs  = 1
	zones = 3
)

// tag is the key that Cluster API's provider (v2.13.0) puts on everything that it makes for a cluster.
const tag = "sigs.k8s.io/cluster-api-provider-aws/cluster/"

// quotas warns where a quota leaves too little. It never refuses: patches may use another VPC, fewer zones or spot
// instances.
func (i *inspection) quotas(ctx context.Context) {
	counted := func(list func(context.Context) (aws.Tagged, error), needed int) func() (int, int, error) {
		return func() (int, int, error) {
			all, err := list(ctx)
			return len(all), needed - all.With(tag+i.needs.Cluster), err
		}
	}
	for _, of := range []struct {
		service, code, what string
		count               func() (used, needed int, err error)
	}{
		{"ec2", "L-1216C47A", "vCPUs of on-demand instances (others not counted)",
			func() (int, int, error) { return 0, i.vcpus, nil }},
		{"vpc", "L-F678F1CE", "VPCs", counted(i.client.VPCs, vpcs)},
		{"ec2", "L-0263D0A3", "Elastic IPs, one for each NAT gateway", counted(i.client.ElasticIPs, zones)},
	} {
		limit, err := i.client.Quota(ctx, of.service, of.code)
		var used, needed int
		if err == nil {
			used, needed, err = of.count()
		}
		if err != nil { // no cluster fails for want of this answer, and the next one would be the same
			i.warn("quotas: not checked, from %s on: %v", of.what, err)
			return
		}
		if needed > 0 && used+needed > int(limit) {
			i.warn("quota of %s: %d needed, %d of %d used: request a larger one (Service Quotas, %s)", of.what, needed,
				used, int(limit), of.code)
		}
	}
}
