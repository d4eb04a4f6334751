"""The lab's provider driver for octavia: load balancers that are rows in its database, of which the API says that all
of it works. The hypervisor bridge makes a proxy of each.

The driver runs within octavia's API, and needs neither octavia's workers nor its driver agent. Octavia itself makes the
port with the address of a load balancer, and deletes it."""

import functools
import threading
import time

from octavia.api.drivers.driver_agent import driver_updater
from octavia.common import constants
from octavia.db import api
from octavia.db import models
from octavia_lib.api.drivers import provider_base
from octavia_lib.common import constants as lib_constants
from oslo_log import log

LOG = log.getLogger(__name__)

# Seconds between two looks at the database after a request, for so many of them, and otherwise.
BUSY, LOOKS, IDLE = 0.1, 30, 10

PENDING = (constants.PENDING_CREATE, constants.PENDING_UPDATE, constants.PENDING_DELETE)


class Finisher(threading.Thread):
    """Ends what requests have begun. All it knows is in the database, and so is what was under way when the API ended.
    """

    def __init__(self):
        super().__init__(name='lab', daemon=True)
        self.asked = threading.Event()

    def run(self):
        while True:
            looks = LOOKS if self.asked.wait(IDLE) else 1
            self.asked.clear()
            for _ in range(looks):  # a request is seen when it is committed, which is after it has asked
                try:
                    finish_all()
                except Exception:
                    LOG.exception('load balancers stay as they are')
                time.sleep(BUSY)


@functools.cache
def finisher():
    """The only one of this process: octavia makes a driver for each request."""
    thread = Finisher()
    thread.start()
    return thread


def finish_all():
    pending = models.LoadBalancer.provisioning_status.in_(PENDING)
    session = api.get_session()  # the rows read from it as long as it lives
    for row in session.query(models.LoadBalancer).filter(pending).all():
        finish(row.to_data_model())


def finish(balancer):
    """Ends what is pending of a load balancer. Octavia takes no other request for it meanwhile."""
    gone = balancer.provisioning_status == constants.PENDING_DELETE
    pools = balancer.pools
    status = {
        constants.MEMBERS: ended([member for pool in pools for member in pool.members], gone),
        constants.HEALTHMONITORS: ended([pool.health_monitor for pool in pools if pool.health_monitor], gone),
        constants.POOLS: ended(pools, gone),
        lib_constants.LISTENERS: ended(balancer.listeners, gone),
        constants.LOADBALANCERS: ended([balancer], gone),
    }
    answer = driver_updater.DriverUpdater().update_loadbalancer_status(status)
    if answer[lib_constants.STATUS_CODE] != lib_constants.DRVR_STATUS_CODE_OK:
        LOG.error('load balancer %s stays %s: %s', balancer.id, balancer.provisioning_status, answer)


def ended(things, gone):
    """What is pending of the things, as octavia's drivers report it. All are deleted with their load balancer."""
    report = []
    for thing in things:
        if gone or thing.provisioning_status == constants.PENDING_DELETE:
            report.append({'id': thing.id, constants.PROVISIONING_STATUS: constants.DELETED})
        elif thing.provisioning_status in PENDING:
            report.append({'id': thing.id, constants.PROVISIONING_STATUS: constants.ACTIVE,
                           constants.OPERATING_STATUS: constants.ONLINE})
    return report


def accept(self, *args, **kwargs):
    finisher().asked.set()


class LabBalancers(provider_base.ProviderDriver):
    """Takes what a proxy of TCP can do. The rest it refuses, as its base does."""

    def __init__(self):
        super().__init__()
        finisher()

    loadbalancer_create = loadbalancer_update = loadbalancer_delete = accept
    listener_create = listener_update = listener_delete = accept
    pool_create = pool_update = pool_delete = accept
    member_create = member_update = member_delete = member_batch_update = accept
    health_monitor_create = health_monitor_update = health_monitor_delete = accept
