"""A stand-in for AWS: moto 5.2.1, changed where Cluster API's provider for AWS (v2.13.0) meets what AWS does otherwise.

Usage: server.py NAME ID FILE. NAME and ID are those of the only AMI, FILE is written with the AMI for moto. Prints the
server's port, and serves until it is killed.
"""

import json
import os
import sys

name, ami, path = sys.argv[1:]
with open(path, "w", encoding="utf-8") as f:
    json.dump(
        [
            {
                "ami_id": ami,
                "name": name,
                "owner_id": "819546954734",  # where the provider looks AMIs up
                "state": "available",
                "public": True,
                "architecture": "x86_64",
                "virtualization_type": "hvm",
                "hypervisor": "xen",
                "image_type": "machine",
                "image_location": "stand-in",
                "root_device_type": "ebs",
                "root_device_name": "/dev/xvda",
                "description": "not an image",
                "platform": "",
                "sriov": "simple",
            }
        ],
        f,
    )
os.environ["MOTO_AMIS_PATH"] = path  # moto reads it when it is imported

from moto.ec2.models import security_groups, vpcs  # noqa: E402
from moto.elbv2 import models as elbv2  # noqa: E402
from moto.iam.access_control import PermissionResult  # noqa: E402
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app  # noqa: E402
from moto.s3 import models as s3  # noqa: E402
from werkzeug.serving import make_server  # noqa: E402


def changed(owner, method):
    """Replaces owner's method by the decorated function, whose first argument is the former one."""

    def install(function):
        former = getattr(owner, method)
        setattr(owner, method, lambda *args, **kwargs: function(former, *args, **kwargs))

    return install


@changed(security_groups.SecurityGroupRule, "__init__")
def rule_without_ports(former, self, backend, protocol, group, first, last, *args, **kwargs):
    """moto demands ports for IP in IP (protocol 4), which Calico's rule has; AWS does not."""
    portless = first is None and str(protocol) not in ("-1", "tcp", "udp", "icmp", "icmpv6")
    former(self, backend, protocol, group, 0 if portless else first, 0 if portless else last, *args, **kwargs)
    if portless:
        self.from_port = self.to_port = None


@changed(vpcs.VPCEndPoint, "__init__")
def endpoint_of_default_kind(former, self, backend, id, vpc, service, kind, *args, **kwargs):
    """AWS makes a gateway where no kind is given."""
    former(self, backend, id, vpc, service, kind or "Gateway", *args, **kwargs)


@changed(elbv2.ELBv2Backend, "describe_target_groups")
def target_groups_of_balancer(former, self, arn, arns, names):
    """Of a load balancer without target groups AWS returns an empty list."""
    try:
        return former(self, arn, arns, names)
    except elbv2.TargetGroupNotFoundError:
        if arn:
            return []
        raise


@changed(elbv2.FakeLoadBalancer, "__init__")
def balancer_with_address(former, self, *args, **kwargs):
    """The provider looks the name up, and waits until it resolves."""
    former(self, *args, **{**kwargs, "dns_name": "localhost"})


# moto does not evaluate the conditions of a bucket's policy: it would deny everything that is not sent over TLS.
s3.FakeBucket.get_permission = lambda self, action, resource: PermissionResult.NEUTRAL

server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=True)
print(server.port, flush=True)
server.serve_forever()
