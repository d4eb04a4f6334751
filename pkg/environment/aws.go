package environment

import (
	"cmp"
	"maps"
	"slices"
)

// AWS is what an environment requests of AWS (infra_provider capa).
type AWS struct {
	// Region of everything.
	Region string
	// ControlPlane and Workers are the machines.
	ControlPlane, Workers AWSMachines
	// Pools are the further pools of workers, in the order of their names.
	Pools []AWSMachines
	// Image is the id of the machines' AMI. Empty means that it is looked up.
	Image string
	// LookupBaseOS, LookupFormat and LookupOwner say which AMI is looked up. Empty means the provider's default.
	LookupBaseOS, LookupFormat, LookupOwner string
	// RootVolumeGiB is the size of each machine's disk.
	RootVolumeGiB int
	// SSHKeyName is the key pair of all machines; empty means none.
	SSHKeyName string
	// Bucket has the machines' user data.
	Bucket string
}

// AWSMachines are machines of one sort.
type AWSMachines struct {
	Count int
	// Type is an instance type, Profile the name of an IAM instance profile.
	Type, Profile string
}

// awsValues are the chart's values below cluster.aws.
type awsValues struct {
	Region              string `json:"region"`
	Credentials         string `json:"credentials"`
	SSHKeyName          string `json:"ssh_key_name"`
	Bucket              string `json:"s3_bucket_name"`
	ControlPlaneType    string `json:"control_plane_machine_type"`
	WorkerType          string `json:"worker_machine_type"`
	RootVolumeGiB       int    `json:"root_volume_size"`
	ControlPlaneProfile string `json:"control_plane_iam_instance_profile"`
	WorkerProfile       string `json:"worker_iam_instance_profile"`
	LookupBaseOS        string `json:"image_lookup_base_os"`
	LookupFormat        string `json:"image_lookup_format"`
	LookupOwner         string `json:"image_lookup_org"`
}

// AWS returns what the environment requests of AWS. It is meaningful if InfraProvider is capa.
func (e *Environment) AWS() AWS {
	values := e.aws
	workers := func(pool Pool) AWSMachines {
		return AWSMachines{Count: pool.Count(), Type: cmp.Or(pool.Flavor, values.WorkerType),
			Profile: values.WorkerProfile}
	}
	var pools []AWSMachines
	for _, name := range slices.Sorted(maps.Keys(e.spec.Cluster.Workers)) {
		pools = append(pools, workers(e.spec.Cluster.Workers[name]))
	}
	return AWS{
		Region: values.Region, Image: e.spec.Cluster.Image, SSHKeyName: values.SSHKeyName, Bucket: values.Bucket,
		LookupBaseOS: values.LookupBaseOS, LookupFormat: values.LookupFormat, LookupOwner: values.LookupOwner,
		RootVolumeGiB: values.RootVolumeGiB,
		ControlPlane: AWSMachines{Count: e.spec.Cluster.ControlPlane.Replicas, Type: values.ControlPlaneType,
			Profile: values.ControlPlaneProfile},
		Workers: workers(e.spec.Cluster.Worker), Pools: pools,
	}
}

// AWSCredentials returns the provider's credentials, as clusterawsadm encodes them. Nothing else of the environment has
// them.
func (e *Environment) AWSCredentials() string { return e.aws.Credentials }
