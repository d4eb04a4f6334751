package registry

import (
	"debug/elf"
	"fmt"
	"os"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

const hintBinary = "build cluster-init static (CGO_ENABLED=0 GOOS=linux) for the engine's platform, and name it with --registry-binary if it is not this program"

// staticBinary returns the path of the binary that becomes the registry's image: the given one, or this program.
// It must run on scratch under the engine's kernel: ELF, of its architecture, with no dynamic loader.
func staticBinary(path, arch string) (string, error) {
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			return "", fault.Wrap(fmt.Errorf("find this program's own file: %w", err), fault.Usage, hintBinary)
		}
		path = self
	}
	f, err := elf.Open(path)
	if err != nil {
		err = fmt.Errorf("the registry's binary %s is no linux program: %w", path, err)
		return "", fault.Wrap(err, fault.Usage, hintBinary)
	}
	defer f.Close()
	if got := elfArch(f.Machine); got != arch {
		return "", fault.New(fault.Usage,
			fmt.Sprintf("the registry's binary %s is for %s, the Docker engine is %s", path, got, arch), hintBinary)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return "", fault.New(fault.Usage,
				fmt.Sprintf("the registry's binary %s is not static: it needs a dynamic loader", path), hintBinary)
		}
	}
	return path, nil
}

// elfArch is Go's name of an ELF machine.
func elfArch(m elf.Machine) string {
	switch m {
	case elf.EM_X86_64:
		return "amd64"
	case elf.EM_AARCH64:
		return "arm64"
	case elf.EM_PPC64:
		return "ppc64le"
	case elf.EM_S390:
		return "s390x"
	default:
		return m.String()
	}
}
