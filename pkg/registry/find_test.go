package registry

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

const notLinux = "\xcf\xfa\xed\xfe, a program of another system"

// writeProgram writes a program for linux on that machine, or for another system when the machine is EM_NONE.
func writeProgram(t *testing.T, path string, machine elf.Machine) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if machine == elf.EM_NONE {
		if err := os.WriteFile(path, []byte(notLinux), 0o755); err != nil {
			t.Fatal(err)
		}
		return
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := binary.Write(f, binary.LittleEndian, elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB),
			byte(elf.EV_CURRENT)},
		Type: uint16(elf.ET_EXEC), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT), Ehsize: 64,
		Phentsize: 56, Shentsize: 64,
	}); err != nil {
		t.Fatal(err)
	}
}

func TestFindBinary(t *testing.T) {
	const amd64, arm64, mac = elf.EM_X86_64, elf.EM_AARCH64, elf.EM_NONE
	for name, tc := range map[string]struct {
		files map[string]elf.Machine // below the folder
		link  string                 // what /link/cluster-init points to; empty: there is none
		self  string
		arch  string
		want  string // below the folder, or
		fails []string
	}{
		"linux on its own architecture": {
			files: map[string]elf.Machine{"a/cluster-init": arm64}, self: "a/cluster-init", arch: "arm64",
			want: "a/cluster-init",
		},
		"a Mac, from the unpacked archive": {
			files: map[string]elf.Machine{"a/cluster-init": mac, "a/lib/cluster-init-linux-arm64": arm64},
			self:  "a/cluster-init", arch: "arm64", want: "a/lib/cluster-init-linux-arm64",
		},
		"a Mac, by a link of Homebrew": {
			files: map[string]elf.Machine{"Cellar/v1/bin/cluster-init": mac,
				"Cellar/v1/lib/cluster-init-linux-arm64": arm64},
			link: "../Cellar/v1/bin/cluster-init", self: "link/cluster-init", arch: "arm64",
			want: "Cellar/v1/lib/cluster-init-linux-arm64",
		},
		"an engine elsewhere, of another architecture": {
			files: map[string]elf.Machine{"a/cluster-init": amd64, "a/lib/cluster-init-linux-arm64": arm64},
			self:  "a/cluster-init", arch: "arm64", want: "a/lib/cluster-init-linux-arm64",
		},
		"nothing is installed": {
			files: map[string]elf.Machine{"a/cluster-init": mac, "a/lib/cluster-init-linux-arm64": arm64},
			self:  "a/cluster-init", arch: "amd64",
			fails: []string{"a/cluster-init is no linux program", "a/lib/cluster-init-linux-amd64 nor ",
				"/lib/cluster-init-linux-amd64"},
		},
		"what is installed is of another architecture than its name": {
			files: map[string]elf.Machine{"a/cluster-init": mac, "a/lib/cluster-init-linux-amd64": arm64,
				"lib/cluster-init-linux-amd64": amd64},
			self: "a/cluster-init", arch: "amd64",
			fails: []string{"a/lib/cluster-init-linux-amd64 is for arm64, the Docker engine is amd64"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for file, machine := range tc.files {
				writeProgram(t, filepath.Join(dir, file), machine)
			}
			if tc.link != "" {
				if err := os.Mkdir(filepath.Join(dir, "link"), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(tc.link, filepath.Join(dir, "link", "cluster-init")); err != nil {
					t.Fatal(err)
				}
			}
			got, err := findBinary(filepath.Join(dir, tc.self), tc.arch)
			if len(tc.fails) == 0 {
				if err != nil || got != filepath.Join(dir, tc.want) {
					t.Errorf("got %s, %v", got, err)
				}
				return
			}
			for _, want := range tc.fails {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want one with %q", err, want)
				}
			}
			if fault.CodeOf(err) != fault.Usage || !strings.Contains(fault.HintOf(err), "--registry-binary") {
				t.Errorf("code %s, hint %q", fault.CodeOf(err), fault.HintOf(err))
			}
		})
	}
}
