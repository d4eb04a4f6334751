package inventory

import (
	"time"

	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// row is what the lists of Neutron, and of Octavia, have in common.
type row struct {
	ID, Name, Description, Status string
	Tags                          []string
	Project                       string `json:"project_id"`
	Created                       string `json:"created_at"`
}

func (r row) resource(kind openstack.Kind) entry {
	return entry{Resource: openstack.Resource{Ref: openstack.Ref{Kind: kind, ID: r.ID}, Name: r.Name,
		Description: r.Description, Status: r.Status, Project: r.Project,
		Tags: r.Tags, Created: parseTime(r.Created)}}
}

// parseTime reads the forms that the services use; those without a zone mean UTC.
func parseTime(text string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05.999999"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

type serverRow struct {
	row
	Created  string // Nova has its own names for these two fields
	Tenant   string `json:"tenant_id"`
	Metadata map[string]string
	Volumes  []struct {
		ID                  string
		DeleteOnTermination bool `json:"delete_on_termination"`
	} `json:"os-extended-volumes:volumes_attached"`
}

type volumeRow struct {
	row
	Tenant      string `json:"os-vol-tenant-attr:tenant_id"`
	Metadata    map[string]string
	Attachments []struct {
		Server string `json:"server_id"`
	}
}

type snapshotRow struct {
	row
	Project  string `json:"os-extended-snapshot-attributes:project_id"`
	Volume   string `json:"volume_id"`
	Metadata map[string]string
}

type portRow struct {
	row
	Network  string `json:"network_id"`
	Device   string `json:"device_id"`
	Owner    string `json:"device_owner"`
	FixedIPs []struct {
		Subnet  string `json:"subnet_id"`
		Address string `json:"ip_address"`
	} `json:"fixed_ips"`
	Pairs []struct {
		Address string `json:"ip_address"`
	} `json:"allowed_address_pairs"`
	SecurityGroups []string `json:"security_groups"`
}

type subnetRow struct {
	row
	Network string `json:"network_id"`
	CIDR    string
	Gateway string `json:"gateway_ip"`
}

type networkRow struct {
	row
	Shared bool
}

type floatingIPRow struct {
	row
	Network string `json:"floating_network_id"`
	Address string `json:"floating_ip_address"`
	Port    string `json:"port_id"`
	Router  string `json:"router_id"`
}

type trunkRow struct {
	row
	Port     string `json:"port_id"`
	Subports []struct {
		Port string `json:"port_id"`
	} `json:"sub_ports"`
}

type securityGroupRow struct {
	row
	Rules []struct {
		Remote string `json:"remote_group_id"`
	} `json:"security_group_rules"`
}

type loadBalancerRow struct {
	row
	Status string `json:"provisioning_status"`
	Port   string `json:"vip_port_id"`
}

type serverGroupRow struct {
	row
	Members []string
}
