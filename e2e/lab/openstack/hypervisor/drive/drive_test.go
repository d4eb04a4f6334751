package drive

import (
	"archive/tar"
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

func TestArchive(t *testing.T) {
	content := Content{
		Metadata: Metadata{
			UUID: "0f6e5a30-58e4-457c-8955-fc6246e1cda2", Name: "Machine A", Hostname: "machine-a",
			AvailabilityZone: "nova",
			ProjectID:        "7e1d", PublicKeys: map[string]string{"mykey": "ssh-ed25519 AAAA me"},
			Meta: map[string]string{"role": "worker"},
		},
		UserData: []byte("#cloud-config\n{}\n"),
	}
	files, order := unpack(t, content)
	golden := "testdata/meta_data.json"
	if *update {
		if err := os.WriteFile(golden, files["seed/openstack/latest/meta_data.json"], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || !bytes.Equal(want, files["seed/openstack/latest/meta_data.json"]) {
		t.Errorf("meta_data.json (%v):\n%s", err, files["seed/openstack/latest/meta_data.json"])
	}
	if got := string(files["seed/openstack/latest/user_data"]); got != string(content.UserData) {
		t.Errorf("user_data: %q", got)
	}
	if got := string(files["seed/openstack/latest/vendor_data.json"]); got != "{}" {
		t.Errorf("vendor_data.json: %q", got)
	}
	for i, name := range []string{"seed/", "seed/openstack/", "seed/openstack/latest/"} {
		if order[i] != name {
			t.Errorf("entry %d is %s, want %s before what is in it", i, order[i], name)
		}
	}
}

func TestAServerWithoutUserDataHasNoSuchFile(t *testing.T) {
	files, _ := unpack(t, Content{Metadata: Metadata{UUID: "u"}})
	if _, found := files["seed/openstack/latest/user_data"]; found {
		t.Error("there is a file")
	}
	if !bytes.Contains(files["seed/openstack/latest/meta_data.json"], []byte(`"public_keys": {}`)) {
		t.Error("without keys there must be an empty list of them")
	}
}

// unpack reads the archive, which only its owner may read.
func unpack(t *testing.T, content Content) (files map[string][]byte, order []string) {
	t.Helper()
	archive, err := content.Archive("seed")
	if err != nil {
		t.Fatal(err)
	}
	files = map[string][]byte{}
	for in := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files, order
		}
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int64{true: 0o700, false: 0o600}[header.Typeflag == tar.TypeDir]; header.Mode != want ||
			header.Uid != 0 {
			t.Errorf("%s has mode %o and owner %d", header.Name, header.Mode, header.Uid)
		}
		order = append(order, header.Name)
		if files[header.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
}
