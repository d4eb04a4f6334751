package registry

import (
	"debug/elf"
	"fmt"
	"os"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// staticBinary returns the path of the binary that becomes the registry's image on an engine of that architecture:
// path, or else the one that findBinary finds.
func staticBinary(path, arch string) (string, error) {
	if path != "" {
		return path, checkStatic(path, arch)
	}
	self, err := os.Executable()
	if err != nil {
		return "", fault.Wrap(fmt.Errorf("find this program's executable: %w", err), fault.Usage, hintBinary(arch))
	}
	return findBinary(self, arch)
}

// checkStatic returns an error unless the file runs on scratch under the engine's kernel: an ELF file of its
// architecture, without a dynamic loader.
func checkStatic(path, arch string) error {
	f, err := elf.Open(path)
	if err != nil {
		err = fmt.Errorf("the registry's binary %s is no linux program: %w", path, err)
		return fault.Wrap(err, fault.Usage, hintBinary(arch))
	}
	defer f.Close()
	if got := elfArch(f.Machine); got != arch {
		return fault.New(fault.Usage,
			fmt.Sprintf("the registry's binary %s is for %s, the Docker engine is %s", path, got, arch),
			hintBinary(arch))
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return fault.New(fault.Usage,
				fmt.Sprintf("the registry's binary %s is not static: it needs a dynamic loader", path),
				hintBinary(arch))
		}
	}
	return nil
}

// elfArch returns Go's name of an ELF machine.
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
