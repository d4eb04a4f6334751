#!/bin/sh
# Installs rke2-standin, the lab's stand-in for RKE2, from a folder of this machine. It takes the variables of RKE2's own
# installer that matter without internet:
#   INSTALL_RKE2_ARTIFACT_PATH  folder of the artifacts; it must be given, as there is nothing to download
#   INSTALL_RKE2_TYPE           server (default) or agent: which systemd unit is installed
#   INSTALL_RKE2_TAR_PREFIX     where to install; default /usr/local
#   INSTALL_RKE2_SKIP_RELOAD    anything: do not have systemd read its units again
set -eu

fail() {
	echo "install.sh (rke2-standin): $*" >&2
	exit 1
}

folder=${INSTALL_RKE2_ARTIFACT_PATH:-}
type=${INSTALL_RKE2_TYPE:-server}
prefix=${INSTALL_RKE2_TAR_PREFIX:-/usr/local}

[ -n "$folder" ] || fail "INSTALL_RKE2_ARTIFACT_PATH is not set: the stand-in installs from a folder only (agentConfig.airGapped)"
case $type in
server | agent) ;;
*) fail "INSTALL_RKE2_TYPE is $type, not server or agent" ;;
esac
case $(uname -m) in
x86_64) arch=amd64 ;;
aarch64) arch=arm64 ;;
*) fail "no artifacts for $(uname -m)" ;;
esac

tarball=rke2.linux-$arch.tar.gz
sums=sha256sum-$arch.txt
for file in "$tarball" "$sums"; do
	[ -r "$folder/$file" ] || fail "$folder/$file is not there"
done
expected=$(awk -v name="$tarball" '$2 == name {print $1}' "$folder/$sums")
[ -n "$expected" ] || fail "$folder/$sums does not name $tarball"
actual=$(sha256sum "$folder/$tarball" | awk '{print $1}')
[ "$actual" = "$expected" ] || fail "$folder/$tarball has the checksum $actual, expected $expected"

mkdir -p "$prefix"
tar -xzf "$folder/$tarball" -C "$prefix" bin/rke2 "lib/systemd/system/rke2-$type.service"
[ -n "${INSTALL_RKE2_SKIP_RELOAD:-}" ] || systemctl daemon-reload
echo "installed: $("$prefix/bin/rke2" --version)"
