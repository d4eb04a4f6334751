#!/bin/sh
# shellcheck disable=SC1091,SC2154 # settings and variables are written next to it
# cluster-init: builds a bootstrap cluster with kubeadm on this machine, and the management cluster from it. It may run
# again at any time, and resumes: systemctl restart cluster-init-vm. Its log is also in: journalctl -u cluster-init-vm
set -eu
. /etc/cluster-init/settings
work=/opt/cluster-init
mkdir -p "$work"

say() { echo "cluster-init: $*"; }
fail() {
  say "$*" >&2
  exit 1
}

for program in containerd curl kubeadm kubelet sha256sum systemctl tar; do
  command -v "$program" >/dev/null || fail "this image has no $program: boot one with Kubernetes and containerd"
done
for plugin in host-local loopback ptp; do
  test -x "/opt/cni/bin/$plugin" || fail "this image has no /opt/cni/bin/$plugin: boot one with the CNI plugins"
done

if ! test -e /etc/cluster-init/complete; then
  say "waiting for the secrets: cluster-init vm secrets ENVIRONMENT | ssh USER@ADDRESS sudo tar -xzf - -C /"
  until test -e /etc/cluster-init/complete; do sleep 2; done
fi
set -a
. /etc/cluster-init/variables
set +a
if test -n "${no_proxy-}"; then # this machine's own addresses
  no_proxy=$no_proxy,$(hostname -I | tr -s ' ' ,)
fi

# The binary: what was downloaded has the digest, or is downloaded again.
download=$work/download
matches() { echo "$binary_sha256  $download" | sha256sum --check --status 2>/dev/null; }
if ! matches; then
  say "downloading $binary_url"
  curl --fail --silent --show-error --location --proto '=http,https' --retry 10 --retry-connrefused --max-time 1800 \
    --output "$download" "$binary_url"
  matches || fail "the file of $binary_url does not have the SHA-256 digest $binary_sha256"
fi
binary=$download
if test "$binary_form" = archive; then
  mkdir -p "$work/archive"
  tar -xzf "$download" -C "$work/archive"
  binary=$(find "$work/archive" -type f -name cluster-init | head -n 1)
  test -n "$binary" || fail "the archive of $binary_url has no file cluster-init"
fi
cp "$binary" "$work/cluster-init"
chmod 755 "$work" "$work/cluster-init"

if ! test -e "$work/initialized"; then
  say "making the bootstrap cluster"
  sh -eu /etc/cluster-init/prepare
  systemctl daemon-reload
  systemctl restart containerd
  modprobe -a br_netfilter overlay 2>/dev/null || true # in the kernel, or loaded
  case "$pod_cidr" in
  *:*) sysctl -q -w net.ipv6.conf.all.forwarding=1 ;;
  *) sysctl -q -w net.ipv4.ip_forward=1 ;;
  esac
  mtu=$(cat /sys/class/net/*/mtu | sort -n | head -n 1)
  mkdir -p /etc/cni/net.d
  sed "s/\"mtu\": 0/\"mtu\": $mtu/" /etc/cluster-init/network.conflist >/etc/cni/net.d/10-cluster-init.conflist
  login=/var/lib/kubelet/config.json # for registries; kubeadm reset deletes it
  if test -e "$login"; then cp "$login" "$work/login.json"; fi
  if test -e /etc/kubernetes/admin.conf; then
    kubeadm reset --force # an earlier run was interrupted
  fi
  if test -e "$work/login.json"; then install -D -m 600 "$work/login.json" "$login"; fi
  # The images in the machine's image are of its own version.
  { cat /etc/cluster-init/kubeadm.yaml && echo "kubernetesVersion: $(kubeadm version -o short)"; } >"$work/kubeadm.yaml"
  kubeadm init --config "$work/kubeadm.yaml" --skip-token-print
  touch "$work/initialized"
fi

say "building the management cluster"
up
touch "$work/done"
say "the kubeconfig of the management cluster: $kubeconfig"
if test "$afterwards" = poweroff; then
  systemctl poweroff
fi
