package cli_test

import (
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/sshgit"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// setup gives each script the environment variables and files of the surroundings that it cannot make itself.
func setup(t *testing.T) func(*testscript.Env) error {
	t.Helper()
	plain, secure := sourceServer(t, httptest.NewServer), sourceServer(t, httptest.NewTLSServer)
	program, err := exec.LookPath("cluster-init")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(hostOf(plain))
	if err != nil {
		t.Fatal(err)
	}
	ssh := sshgit.Start(t, t.TempDir())
	return func(e *testscript.Env) error {
		e.Setenv("GOGC", "400") // a script starts dozens of short processes
		e.Setenv("SSH_ADDRESS", ssh.Address)
		e.Setenv("SSH_PASSPHRASE", ssh.Passphrase)
		for variable, file := range map[string]string{"SSH_KEY": ssh.Key, "SSH_ENCRYPTED_KEY": ssh.EncryptedKey,
			"SSH_OTHER_KEY":   ssh.OtherKey,
			"SSH_KNOWN_HOSTS": ssh.KnownHosts, "SSH_OTHER_KNOWN_HOSTS": ssh.OtherKnownHosts} {
			e.Setenv(variable, file)
		}
		e.Setenv("CLUSTER_INIT_BIN", filepath.Dir(program)) // a PATH on which there is nothing else
		e.Setenv("SOURCE_URL", plain.URL)
		e.Setenv("SOURCE_HOST", hostOf(plain))
		e.Setenv("SOURCE_TLS_URL", secure.URL)
		e.Setenv("SOURCE_TLS_HOST", hostOf(secure))
		e.Setenv("TAKEN_PORT", port)
		if err := writeStaticBinary(filepath.Join(e.WorkDir, "static-binary")); err != nil {
			return err
		}
		return writeBundle(filepath.Join(e.WorkDir, "bundle"))
	}
}

// sourceServer answers /401/... and /404/..., also below /v2 as a registry does, with that status, /hang never,
// /git/... as a git server with the branch main, and all else with a page.
func sourceServer(t *testing.T, start func(http.Handler) *httptest.Server) *httptest.Server {
	t.Helper()
	s := start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch first := strings.Split(strings.TrimPrefix(r.URL.Path, "/v2/"), "/"); {
		case r.URL.Path == "/v2/":
			w.WriteHeader(http.StatusOK)
		case strings.HasPrefix(r.URL.Path, "/401/") || first[0] == "401":
			w.WriteHeader(http.StatusUnauthorized)
		case strings.HasPrefix(r.URL.Path, "/404/") || first[0] == "404":
			w.WriteHeader(http.StatusNotFound)
		case strings.HasPrefix(r.URL.Path, "/git/"):
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			_, _ = io.WriteString(w, sshgit.Refs)
		case strings.HasPrefix(r.URL.Path, "/hang/"):
			<-r.Context().Done()
		default:
			_, _ = io.WriteString(w, "<html>please log in</html>")
		}
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of clients that do not trust its certificate
	t.Cleanup(s.Close)
	return s
}

func hostOf(s *httptest.Server) string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

// writeBundle writes a bundle that is complete for kubeadm-capd as far as can be seen before Docker is asked: no
// images, and every manifest that this version needs.
func writeBundle(dir string) error {
	env, err := environment.Load(context.Background(), environment.Options{Name: "kubeadm-capd",
		Content: clusterinit.Content()})
	if err != nil {
		return err
	}
	paths, err := env.ComponentPaths()
	if err != nil {
		return err
	}
	tree, err := content.ReadTree(clusterinit.Content(), "kustomize-components")
	if err != nil {
		return err
	}
	urls, err := content.RemoteFiles(context.Background(), tree, paths)
	if err != nil {
		return err
	}
	index := bundle.Index{Environments: []string{"kubeadm-capd"}, KubernetesVersion: "v1.36.4",
		NodeImage: "kindest/node:v1.36.4"}
	sum := sha256.Sum256(nil)
	for _, u := range append(urls, flux.ManifestsURL) {
		index.Manifests = append(index.Manifests,
			bundle.Manifest{URL: u, Path: "empty", SHA256: hex.EncodeToString(sum[:])})
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, content := range map[string]string{
		"empty": "", "oci-layout": `{"imageLayoutVersion":"1.0.0"}`, "index.json": `{"schemaVersion":2,"manifests":[]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	return bundle.WriteIndex(dir, index)
}

// writeStaticBinary writes what passes for a static linux program, which the test's own need not be.
func writeStaticBinary(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return binary.Write(f, binary.LittleEndian, elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB),
			byte(elf.EV_CURRENT)},
		Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT), Ehsize: 64,
		Phentsize: 56, Shentsize: 64,
	})
}
