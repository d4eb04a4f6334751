package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func newVerify() *cobra.Command {
	return &cobra.Command{
		Use:   "verify DIST",
		Short: "Check a finished release: checksums, archives, machineadm, SBOMs and image",
		Args:  cobra.ExactArgs(1),
		RunE:  func(c *cobra.Command, args []string) error { return verify(c.Context(), c.OutOrStdout(), args[0]) },
	}
}

// platforms are those that cluster-init is released for.
func platforms() []string { return append(linuxPlatforms(), "darwin_arm64") }

// linuxPlatforms are those of the image and of machineadm.
func linuxPlatforms() []string { return []string{"linux_amd64", "linux_arm64"} }

// verify writes one line for each part that it found good, and stops at the first that is not.
func verify(ctx context.Context, w io.Writer, dist string) error {
	sums, err := readChecksums(dist)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		got, err := sha256Of(filepath.Join(dist, name))
		if err != nil {
			return fmt.Errorf("checksum of %s: %w", name, err)
		}
		if got != sums[name] {
			return fmt.Errorf("checksum of %s: the list has %s, the file %s", name, sums[name], got)
		}
	}
	fmt.Fprintf(w, "checksums  %d files\n", len(sums))
	programs := map[string]program{}
	for _, platform := range platforms() {
		if programs[platform], err = verifyArchive(w, dist, platform, sums); err != nil {
			return err
		}
	}
	mac, linux := programs["darwin_arm64"].registry, programs["linux_arm64"].sum
	if mac != linux {
		return fmt.Errorf("the archive for darwin carries a linux binary %s, the one for linux has %s", mac, linux)
	}
	for _, platform := range platforms() {
		if err := verifySBOM(w, dist, "cluster-init", platform, sums, programs[platform].modules); err != nil {
			return err
		}
	}
	for _, platform := range linuxPlatforms() {
		modules, err := verifyMachineadm(ctx, w, dist, platform, sums)
		if err != nil {
			return err
		}
		if err := verifySBOM(w, dist, "machineadm", platform, sums, modules); err != nil {
			return err
		}
	}
	return verifyImage(w, dist, sums, programs)
}

// readChecksums reads the list that sha256sum --check reads too.
func readChecksums(dist string) (map[string]string, error) {
	found, err := filepath.Glob(filepath.Join(dist, "*_checksums.txt"))
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%d lists of checksums in %s, want one", len(found), dist)
	}
	f, err := os.Open(found[0])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sums := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) != 2 {
			return nil, fmt.Errorf("read %s: %q is not a checksum and a name", found[0], lines.Text())
		}
		sums[fields[1]] = fields[0]
	}
	return sums, lines.Err()
}

// released returns the one file of a program with that ending that the list of checksums names.
func released(dist, program, ending string, sums map[string]string) (string, error) {
	var found []string
	for name := range sums {
		if strings.HasPrefix(name, program+"_") && strings.HasSuffix(name, ending) {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("the list of checksums has %d files %s_*%s, want one", len(found), program, ending)
	}
	return filepath.Join(dist, found[0]), nil
}

func sha256Of(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
