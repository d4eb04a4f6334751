//go:build integration && capa

package up

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	ignition "github.com/flatcar/ignition/config/v2_3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/awsstandin"
	awsprovider "github.com/cluster-init/cluster-init/pkg/provider/aws"
)

const (
	awsGroup   = "infrastructure.cluster.x-k8s.io/v1beta2"
	ec2Version = "2016-11-15"
	elbVersion = "2015-12-01"
)

// TestKubeadmCAPAOnAStandIn lets the real controllers make a cluster from the VPC to the instance, in a stand-in for
// AWS. No instance boots: that its node has joined is a patch of this test.
func TestKubeadmCAPAOnAStandIn(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 12*time.Minute)
	defer cancel()
	s := newCAPA(ctx, t)
	env := s.environment(t, s.credentials.Profile(), "cluster.name=standin", "cluster.namespace=standin",
		"cluster.aws.presigned_url_duration=30m")
	aws := &accountScene{capaScene: s, env: env, server: awsstandin.Start(t, capaRegion, env.KubernetesVersion())}
	if !t.Run("the preflight names what is missing, and finds what is there", aws.preflight) {
		t.FailNow()
	}
	before := aws.inventory(t)
	var endpoints []string
	for _, id := range []string{"ec2", "elasticloadbalancing", "s3", "sts", "tagging"} {
		endpoints = append(endpoints, id+"="+aws.server.URL)
	}
	s.runWith(t, env, strings.Join(endpoints, ","))
	for _, object := range s.definition(t, env) {
		if err := shared.Client.ApplyAll(s.ctx, object); err != nil {
			t.Fatal(err)
		}
	}
	if !t.Run("from the VPC to the instance", aws.machines) || !t.Run("the user data is in the bucket", aws.userData) {
		t.FailNow()
	}
	t.Run("its deletion leaves nothing", func(t *testing.T) { aws.deletion(t, before) })
}

// accountScene is a cluster in an account of the stand-in.
type accountScene struct {
	*capaScene
	env    *environment.Environment
	server *awsstandin.Server
}

// preflight creates the instance profiles, as clusterawsadm does.
func (a *accountScene) preflight(t *testing.T) {
	t.Setenv("AWS_ENDPOINT_URL", a.server.URL)
	check := func(env *environment.Environment) (string, error) {
		report := &told{}
		err := awsprovider.New(env).Preflight(a.ctx, report)
		return strings.Join(report.lines, "\n"), err
	}
	profiles := []string{"control-plane.cluster-api-provider-aws.sigs.k8s.io", "nodes.cluster-api-provider-aws.sigs.k8s.io"}
	_, err := check(a.env)
	if fault.CodeOf(err) != fault.CloudLacks || strings.Count(err.Error(), "no instance profile") != len(profiles) {
		t.Errorf("without instance profiles: %v", err)
	}
	for _, name := range profiles {
		a.server.Query(t, "iam", "2010-05-08", "CreateInstanceProfile", url.Values{"InstanceProfileName": {name}})
	}
	said, err := check(a.env)
	if err != nil {
		t.Errorf("all is there: %v", err)
	}
	for _, part := range []string{"account 123456789012, region eu-central-1", "1 AMIs capa-ami-flatcar-stable-?1.36.4-*",
		"does not exist yet"} {
		if !strings.Contains(said, part) {
			t.Errorf("the preflight does not report %q:\n%s", part, said)
		}
	}
	_, err = check(a.environment(t, a.credentials.Profile(), "cluster.image=ami-00000000000000000",
		"cluster.aws.worker_machine_type=t3.colossal", "cluster.worker.replicas=1", "cluster.aws.ssh_key_name=none"))
	for _, part := range []string{"no AMI ami-00000000000000000", "no instance type t3.colossal", `no key pair "none"`} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("nothing says %q: %v", part, err)
		}
	}
	_, err = check(a.environment(t, a.credentials.Profile(), "cluster.kubernetes_version=v1.35.6"))
	if err == nil || !strings.Contains(err.Error(), "no AMI capa-ami-flatcar-stable-?1.35.6-*") {
		t.Errorf("no AMI of this version is published: %v", err)
	}
}

// list returns the cluster's objects of a kind.
func (a *accountScene) list(kind, version string) []unstructured.Unstructured {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(version)
	list.SetKind(kind + "List")
	if err := shared.Client.List(a.ctx, list, client.InNamespace(a.env.ClusterNamespace())); err != nil {
		return []unstructured.Unstructured{{}} // not known: neither ready nor gone
	}
	return list.Items
}

func (a *accountScene) machines(t *testing.T) {
	for _, kind := range []string{"AWSCluster", "AWSMachine"} {
		a.eventually(t, func() bool {
			objects := a.list(kind, awsGroup)
			ready := len(objects) == 1
			for _, object := range objects {
				is, _, _ := unstructured.NestedBool(object.Object, "status", "ready")
				ready = ready && is
			}
			return ready
		}, func() string { return fmt.Sprintf("no %s is ready: %v", kind, a.list(kind, awsGroup)) })
	}
	made := a.inventory(t)
	for kind, least := range map[string]int{"VPC": 2, "subnet": 6, "NAT gateway": 3, "address": 3, "security group": 4,
		"load balancer": 1, "target group": 1, "instance": 1, "bucket": 1, "endpoint": 1} {
		if len(made[kind]) < least {
			t.Errorf("%d of kind %s, want at least %d", len(made[kind]), kind, least)
		}
	}
}

// userData follows the way of an instance: its user data, the link in it, what is there.
func (a *accountScene) userData(t *testing.T) {
	instance := a.inventory(t)["instance"][0]
	answer := a.server.Query(t, "ec2", ec2Version, "DescribeInstanceAttribute",
		url.Values{"InstanceId": {instance}, "Attribute": {"userData"}})
	encoded := awsstandin.Elements(t, answer, "value")
	if len(encoded) != 1 {
		t.Fatalf("the instance has the user data %s", answer)
	}
	text, err := base64.StdEncoding.DecodeString(encoded[0])
	if err != nil {
		t.Fatal(err)
	}
	pointer, report, err := ignition.Parse(text)
	if err != nil || report.IsFatal() || len(pointer.Ignition.Config.Append) != 1 {
		t.Fatalf("Ignition refuses the user data: %v %s\n%s", err, report.String(), text)
	}
	link := pointer.Ignition.Config.Append[0].Source
	if !strings.HasPrefix(link, a.server.URL+"/cluster-api-provider-aws-test/control-plane/standin-") ||
		!strings.Contains(link, "X-Amz-Expires=1800") {
		t.Fatalf("the user data points to %s", link)
	}
	if bytes.Contains(text, []byte("kubeadm")) {
		t.Error("the user data itself has what belongs into the bucket")
	}
	status, object := a.server.Get(t, link)
	meant := a.bootstrapSecret(t, a.env.ClusterNamespace()).Data["value"]
	if status != 200 || !bytes.Equal(object, meant) {
		t.Fatalf("the bucket answers %d with %d bytes, and %d are meant", status, len(object), len(meant))
	}
	config, _, err := ignition.Parse(object)
	if err != nil {
		t.Fatal(err)
	}
	checkUserData(t, config)

	// It stays until the node is known, and is gone then.
	machines := a.list("Machine", "cluster.x-k8s.io/v1beta2")
	if len(machines) != 1 {
		t.Fatalf("%d machines", len(machines))
	}
	joined := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"nodeRef":{"name":"ip-10-0-64-1"}}}`))
	if err := shared.Client.Status().Patch(a.ctx, &machines[0], joined); err != nil {
		t.Fatal(err)
	}
	a.eventually(t, func() bool { status, _ = a.server.Get(t, link); return status == 404 },
		func() string { return fmt.Sprintf("the node has joined, and its user data is there still: %d", status) })
}

// deletion deletes the Cluster. moto keeps the network interfaces of load balancers and NAT gateways: they are not
// compared.
func (a *accountScene) deletion(t *testing.T, before map[string][]string) {
	cluster := &unstructured.Unstructured{}
	cluster.SetAPIVersion("cluster.x-k8s.io/v1beta2")
	cluster.SetKind("Cluster")
	cluster.SetNamespace(a.env.ClusterNamespace())
	cluster.SetName(a.env.ClusterName())
	if err := shared.Client.Delete(a.ctx, cluster); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"AWSMachine", "AWSCluster"} {
		a.eventually(t, func() bool { return len(a.list(kind, awsGroup)) == 0 },
			func() string { return fmt.Sprintf("%s stays: %v", kind, a.list(kind, awsGroup)) })
	}
	after := a.inventory(t)
	for _, kind := range slices.Sorted(maps.Keys(after)) {
		if !slices.Equal(after[kind], before[kind]) {
			t.Errorf("of kind %s there were %q, and there are %q", kind, before[kind], after[kind])
		}
	}
}

// inventory are the ids of all that the account has, by kind. What AWS lists as deleted for an hour is left out.
func (a *accountScene) inventory(t *testing.T) map[string][]string {
	t.Helper()
	alive := func(name string, states ...string) url.Values {
		filter := url.Values{"Filter.1.Name": {name}}
		for n, state := range states {
			filter.Set(fmt.Sprintf("Filter.1.Value.%d", n+1), state)
		}
		return filter
	}
	found := map[string][]string{}
	for kind, of := range map[string]struct {
		service, action, id string
		filter              url.Values
	}{
		"VPC":              {"ec2", "DescribeVpcs", "vpcId", nil},
		"subnet":           {"ec2", "DescribeSubnets", "subnetId", nil},
		"internet gateway": {"ec2", "DescribeInternetGateways", "internetGatewayId", nil},
		"route table":      {"ec2", "DescribeRouteTables", "routeTableId", nil},
		"security group":   {"ec2", "DescribeSecurityGroups", "groupId", nil},
		"address":          {"ec2", "DescribeAddresses", "allocationId", nil},
		"endpoint": {"ec2", "DescribeVpcEndpoints", "vpcEndpointId",
			alive("vpc-endpoint-state", "pending", "available")},
		"NAT gateway": {"ec2", "DescribeNatGateways", "natGatewayId", alive("state", "pending", "available")},
		"instance": {"ec2", "DescribeInstances", "instanceId",
			alive("instance-state-name", "pending", "running", "stopping", "stopped")},
		"load balancer": {"elasticloadbalancing", "DescribeLoadBalancers", "LoadBalancerArn", nil},
		"target group":  {"elasticloadbalancing", "DescribeTargetGroups", "TargetGroupArn", nil},
	} {
		version := ec2Version
		if of.service != "ec2" {
			version = elbVersion
		}
		answer := a.server.Query(t, of.service, version, of.action, of.filter)
		ids := awsstandin.Elements(t, answer, of.id)
		slices.Sort(ids)
		found[kind] = slices.Compact(ids)
	}
	_, buckets := a.server.Get(t, a.server.URL+"/")
	found["bucket"] = awsstandin.Elements(t, buckets, "Name")
	return found
}
