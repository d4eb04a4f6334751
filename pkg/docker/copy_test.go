package docker

import (
	"archive/tar"
	"bytes"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file comes out of a container and goes back with its mode, whether the container runs or not.
func TestFilesAreReadAndWritten(t *testing.T) {
	folder := t.TempDir()
	var archive bytes.Buffer
	files := tar.NewWriter(&archive)
	content := "server: x\n"
	if err := files.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "kubelet.conf", Mode: 0o600,
		Size: int64(len(content))}); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "out"), archive.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	c, calls := fakeDocker(t, `if [ "$2" = - ]; then cat >`+folder+`/in; else cat `+folder+`/out; fi`)
	f, err := c.ReadFile(t.Context(), "m", "/etc/kubernetes/kubelet.conf")
	if err != nil || string(f.Content) != content || !f.Regular() || f.Header.Mode != 0o600 {
		t.Fatalf("%+v, %v", f, err)
	}
	f.Content = []byte("server: a longer one\n")
	if err := c.WriteFile(t.Context(), "m", "/etc/kubernetes", f); err != nil {
		t.Fatal(err)
	}
	written, err := os.Open(filepath.Join(folder, "in"))
	if err != nil {
		t.Fatal(err)
	}
	defer written.Close()
	back, err := firstOf(written)
	if err != nil || string(back.Content) != "server: a longer one\n" || back.Header.Mode != 0o600 ||
		back.Header.Name != "kubelet.conf" {
		t.Errorf("written %+v, %v", back, err)
	}
	if got := strings.Join(calls(), "; "); got != "cp m:/etc/kubernetes/kubelet.conf -; cp - m:/etc/kubernetes" {
		t.Errorf("called %s", got)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	for name, tc := range map[string]struct {
		body     string
		notFound bool
		says     string
	}{
		"it is missing": {body: fails(1, "Error response from daemon: Could not find the file /x in container m"),
			notFound: true},
		"no container": {body: fails(1, "Error: No such container:path: m:/x"), notFound: true},
		"no archive":   {body: says("nothing"), says: "unexpected answer"},
		"a large one":  {body: "head -c 9000000 /dev/zero", says: "larger than any such file"},
	} {
		c, _ := fakeDocker(t, tc.body)
		_, err := c.ReadFile(t.Context(), "m", "/x")
		if err == nil || errors.Is(err, ErrNotFound) != tc.notFound || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What the engine says that it does not know is left out.
func TestNetworksHaveSubnetsAndAddresses(t *testing.T) {
	c, _ := fakeDocker(t, `case "$2" in ls) echo a;; *) `+says(`[{"Id":"a","Name":"kind","IPAM":{"Config":[
{"Subnet":"172.18.0.0/16"},{"Subnet":""},{"Subnet":"fd00::/64"}]},"Containers":{"1":{"Name":"x",
"IPv4Address":"172.18.0.2/16","IPv6Address":"fd00::2/64"},"2":{"Name":"y","IPv4Address":"","IPv6Address":""}}}]`)+
		"\n;; esac")
	networks, err := c.Networks(t.Context(), "kind")
	if err != nil || len(networks) != 1 {
		t.Fatalf("%v, %v", networks, err)
	}
	n := networks[0]
	if len(n.Subnets) != 2 || len(n.Attached) != 2 || n.Attached[netip.MustParseAddr("172.18.0.2")] != "x" ||
		n.Attached[netip.MustParseAddr("fd00::2")] != "x" {
		t.Errorf("%+v", n)
	}
}
