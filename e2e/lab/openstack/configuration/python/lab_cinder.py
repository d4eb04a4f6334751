"""The lab's volume driver for cinder: volumes that are rows in its database, with nothing behind them."""

from cinder import interface
from cinder.volume import driver

GIGABYTES = 10000


def nothing(self, *args, **kwargs):
    """For what a disk would have to be changed, if there were one."""


@interface.volumedriver
class LabVolumes(driver.VolumeDriver):

    VERSION = '1'

    do_setup = check_for_setup_error = nothing
    create_volume = delete_volume = extend_volume = nothing
    create_snapshot = delete_snapshot = nothing
    create_volume_from_snapshot = create_cloned_volume = nothing
    ensure_export = create_export = remove_export = nothing
    terminate_connection = nothing
    copy_image_to_volume = copy_volume_to_image = nothing

    def get_volume_stats(self, refresh=False):
        pool = {
            'pool_name': 'lab',
            'total_capacity_gb': GIGABYTES,
            'free_capacity_gb': GIGABYTES,
            'provisioned_capacity_gb': 0,
            'reserved_percentage': 0,
            'max_over_subscription_ratio': '20.0',
            'thin_provisioning_support': True,
            'thick_provisioning_support': False,
            'multiattach': True,
        }
        return {
            'volume_backend_name': 'lab',
            'vendor_name': 'cluster-init',
            'driver_version': self.VERSION,
            'storage_protocol': 'iSCSI',
            'pools': [pool],
        }

    def clone_image(self, context, volume, image_location, image_meta, image_service):
        """Says that the volume holds the image: otherwise cinder would fetch and convert it."""
        return {}, True

    def initialize_connection(self, volume, connector, initiator_data=None):
        return {
            'driver_volume_type': 'iscsi',
            'data': {
                'access_mode': 'rw',
                'target_discovered': False,
                'target_portal': '127.0.0.1:3260',
                'target_iqn': 'iqn.2026-01.lab:%s' % volume['id'],
                'target_lun': 1,
            },
        }
