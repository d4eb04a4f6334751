package aws

import (
	"context"
	"net/url"
	"strconv"
)

// Image is an AMI.
type Image struct {
	ID           string `xml:"imageId"`
	Name         string `xml:"name"`
	State        string `xml:"imageState"`
	Architecture string `xml:"architecture"`
	RootDevice   string `xml:"rootDeviceName"`
	Devices      []struct {
		Name string `xml:"deviceName"`
		GiB  int    `xml:"ebs>volumeSize"`
	} `xml:"blockDeviceMapping>item"`
}

// RootGiB is the least size of its root volume. Zero means not known.
func (i Image) RootGiB() int {
	for _, device := range i.Devices {
		if device.Name == i.RootDevice {
			return device.GiB
		}
	}
	return 0
}

// Filter is one condition of a list.
type Filter struct{ Name, Value string }

// Images returns the AMIs that pass all filters.
func (c *Client) Images(ctx context.Context, filters ...Filter) ([]Image, error) {
	form := url.Values{}
	for n, filter := range filters {
		form.Set("Filter."+strconv.Itoa(n+1)+".Name", filter.Name)
		form.Set("Filter."+strconv.Itoa(n+1)+".Value.1", filter.Value)
	}
	return c.images(ctx, form)
}

// Image returns the AMIs with this id: one, or an error with a code that begins with InvalidAMIID.
func (c *Client) Image(ctx context.Context, id string) ([]Image, error) {
	return c.images(ctx, listed("ImageId", id))
}

func (c *Client) images(ctx context.Context, form url.Values) ([]Image, error) {
	var found struct {
		Images []Image `xml:"imagesSet>item"`
	}
	err := c.query(ctx, ec2, "DescribeImages", form, &found)
	return found.Images, err
}

// InstanceType is what a machine has.
type InstanceType struct {
	Name          string   `xml:"instanceType"`
	Architectures []string `xml:"processorInfo>supportedArchitectures>item"`
	VCPUs         int      `xml:"vCpuInfo>defaultVCpus"`
}

// InstanceType returns the type of this name. An unknown one is an error with the code InvalidInstanceType.
func (c *Client) InstanceType(ctx context.Context, name string) (InstanceType, error) {
	var found struct {
		Types []InstanceType `xml:"instanceTypeSet>item"`
	}
	if err := c.query(ctx, ec2, "DescribeInstanceTypes", listed("InstanceType", name), &found); err != nil {
		return InstanceType{}, err
	}
	if len(found.Types) == 0 {
		return InstanceType{}, refusal(ec2, "DescribeInstanceTypes", 400, "InvalidInstanceType")
	}
	return found.Types[0], nil
}

// KeyPair returns nil if the key pair exists, and an error with the code InvalidKeyPair.NotFound if not.
func (c *Client) KeyPair(ctx context.Context, name string) error {
	return c.query(ctx, ec2, "DescribeKeyPairs", listed("KeyName", name), nil)
}

// Tagged are resources of one kind by their tags.
type Tagged []struct {
	Tags []struct {
		Key string `xml:"key"`
	} `xml:"tagSet>item"`
}

// With counts those that have a tag with this key.
func (t Tagged) With(key string) int {
	count := 0
	for _, resource := range t {
		for _, tag := range resource.Tags {
			if tag.Key == key {
				count++
			}
		}
	}
	return count
}

// VPCs returns those of the region.
func (c *Client) VPCs(ctx context.Context) (Tagged, error) {
	var found struct {
		VPCs Tagged `xml:"vpcSet>item"`
	}
	err := c.query(ctx, ec2, "DescribeVpcs", nil, &found)
	return found.VPCs, err
}

// ElasticIPs returns those of the region.
func (c *Client) ElasticIPs(ctx context.Context) (Tagged, error) {
	var found struct {
		Addresses Tagged `xml:"addressesSet>item"`
	}
	err := c.query(ctx, ec2, "DescribeAddresses", nil, &found)
	return found.Addresses, err
}
