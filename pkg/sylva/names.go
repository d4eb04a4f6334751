package sylva

const workerFlavor = "cluster.openstack.worker_flavor"

// renamed maps the seed's values to their other names here: one value may set several. Nil means that the base
// environment sets the value.
var renamed = map[string][]string{
	"cluster.infra_provider": nil, "cluster.bootstrap_provider": nil,
	"cluster.flavor.infra_provider": nil, "cluster.flavor.bootstrap_provider": nil,
	"cluster.capi_providers.infra_provider": nil, "cluster.capi_providers.bootstrap_provider": nil,
	"cluster.k8s_version":                                    {"cluster.kubernetes_version"},
	"cluster.control_plane_replicas":                         {"cluster.control_plane.replicas"},
	"cluster.worker_replicas":                                {"cluster.worker.replicas"},
	"cluster.machine_deployment_default.replicas":            {"cluster.worker.replicas"},
	"cluster.capd.docker_host":                               {"cluster.docker_host"},
	"cluster.capd.image_name":                                {"cluster.image"},
	"cluster.capo.image":                                     {"cluster.openstack.image"},
	"cluster.capo.image_name":                                {"cluster.openstack.image"},
	"cluster.capo.flavor_name":                               {"cluster.openstack.control_plane_flavor", workerFlavor},
	"cluster.capo.control_plane_flavor":                      {"cluster.openstack.control_plane_flavor"},
	"cluster.capo.control_plane_flavor_name":                 {"cluster.openstack.control_plane_flavor"},
	"cluster.control_plane.capo.flavor_name":                 {"cluster.openstack.control_plane_flavor"},
	"cluster.capo.worker_flavor":                             {workerFlavor},
	"cluster.capo.worker_flavor_name":                        {workerFlavor},
	"cluster.machine_deployment_default.capo.flavor_name":    {workerFlavor},
	"cluster.machine_deployment_default.capo.failure_domain": {"cluster.openstack.worker_availability_zone"},
	"cluster.capo.ssh_key_name":                              {"cluster.openstack.ssh_key_name"},
	"cluster.capo.network_id":                                {"cluster.openstack.network"},
	"cluster.capo.external_network_id":                       {"cluster.openstack.external_network"},
	"cluster.capo.dns_nameservers":                           {"cluster.openstack.dns_nameservers"},
	"cluster.capo.control_plane_az":                          {"cluster.openstack.control_plane_availability_zones"},
	"cluster.capo.worker_az":                                 {"cluster.openstack.worker_availability_zone"},
	"cluster.capo.rootVolume.diskSize":                       {"cluster.openstack.root_volume.size"},
	"cluster.capo.rootVolume.volumeType":                     {"cluster.openstack.root_volume.type"},
	"cluster.capo.root_volume.size":                          {"cluster.openstack.root_volume.size"},
	"cluster.capo.root_volume.volume_type":                   {"cluster.openstack.root_volume.type"},
	"cluster.capo.root_volume.type":                          {"cluster.openstack.root_volume.type"},
}

// inPool are the values of a worker pool, of which the later form has several.
var inPool = map[string]string{
	"replicas":            "cluster.worker.replicas",
	"capo.flavor_name":    workerFlavor,
	"capo.failure_domain": "cluster.openstack.worker_availability_zone",
	"failure_domain":      "cluster.openstack.worker_availability_zone",
}

// differs are the seed's values without a counterpart, and what to do.
var differs = map[string]string{
	"cluster.capo.cluster_external_ip": externalAddress,
	"cluster.cluster_external_ip":      externalAddress,
	"cluster.cluster_virtual_ip":       externalAddress,
	"cluster.capo.kube_vip_ip":         externalAddress,
	"cluster.kube_vip_ip":              externalAddress,
	"cluster.flavor.hardened":          "machines are made of the image that you give: harden that",
	"cluster.capo.resources_tag":       "all that is made in OpenStack is tagged with the cluster's namespace and name",
	"cluster.capo.storageClass":        storageClass,
	"cluster.capo.storageClass.name":   storageClass,
	"cluster.capo.storageClass.type":   storageClass,
	"cluster.capo.image_key": "the seed fetches that image itself: upload it to Glance, and write its name " +
		"as cluster.openstack.image",
}

const (
	externalAddress = "the seed's machines answer at an address that you reserve, with a service of their own. Here: " +
		"cluster.openstack.api_server.mode vip, floating-ip or octavia, or fixed-ip if you have something answer at it"
	storageClass = "the component cinder-csi makes a StorageClass cinder: make others in a component of your own"
)
