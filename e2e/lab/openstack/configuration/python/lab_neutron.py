"""The lab's mechanism driver for neutron's ML2: a network without agents, of which the API says that all of it works."""

from neutron.services.trunk.drivers import base as trunk_base
from neutron_lib import constants
from neutron_lib.api.definitions import portbindings
from neutron_lib.callbacks import events
from neutron_lib.callbacks import registry
from neutron_lib.callbacks import resources
from neutron_lib.plugins import constants as plugins
from neutron_lib.plugins import directory
from neutron_lib.plugins.ml2 import api
from neutron_lib.services.trunk import constants as trunk_constants

VIF = portbindings.VIF_TYPE_OVS


class LabTrunks(trunk_base.DriverBase):
    """Neutron's trunk plugin does not start unless a driver offers to carry trunks."""

    is_loaded = True


class LabNetworks(api.MechanismDriver):

    connectivity = portbindings.CONNECTIVITY_L2

    def initialize(self):
        self._trunks = LabTrunks('lab', (VIF,), (trunk_constants.SEGMENTATION_TYPE_VLAN,), can_trunk_bound_port=True)
        for event in (events.AFTER_CREATE, events.AFTER_UPDATE):
            registry.subscribe(self._floating_ip_changed, resources.FLOATING_IP, event)

    def bind_port(self, context):
        """Every port, on every host, at once."""
        segment = context.segments_to_bind[0]
        context.set_binding(segment[api.ID], VIF, {portbindings.CAP_PORT_FILTER: True},
                            status=constants.PORT_STATUS_ACTIVE)

    def _floating_ip_changed(self, resource, event, trigger, payload):
        """Sets what an L3 agent would report: ACTIVE with a port, DOWN without.

        That is written after the request's own answer was made up, which therefore still has the status before, as with
        an agent.
        """
        now = payload.latest_state
        status = constants.FLOATINGIP_STATUS_ACTIVE if now['port_id'] else constants.FLOATINGIP_STATUS_DOWN
        if now['status'] != status:
            directory.get_plugin(plugins.L3).update_floatingip_status(
                payload.context.elevated(), payload.resource_id, status)
