package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/machineadm"
	"github.com/cluster-init/cluster-init/pkg/source/content"
	"github.com/cluster-init/cluster-init/pkg/wholefile"
)

// What a stock image gets besides Kubernetes. Renovate reads these lines; then run `make sums`.
const (
	// crictlVersion is the newest release for the minor of Kubernetes.
	crictlVersion = "v1.36.0" // github.com/kubernetes-sigs/cri-tools/releases
	// cniPluginsVersion is the newest release.
	cniPluginsVersion = "v1.9.1" // github.com/containernetworking/plugins/releases
)

const (
	chartValues     = "charts/telco-cloud-init/values.yaml"
	kubernetesFiles = "charts/telco-cloud-init/kubernetes-files.json"
)

// knownFiles are the files of each version of Kubernetes.
type knownFiles map[string][]machineadm.KubernetesFile

// writeKubernetesFiles writes what machines install for the chart's default version of Kubernetes, with the digests of
// what fetch returns. Each must be the digest that the publisher states. Other versions of the file stay.
func writeKubernetesFiles(ctx context.Context, root string, fetch content.Fetcher) error {
	version, err := defaultKubernetes(root)
	if err != nil {
		return err
	}
	known, err := readKubernetesFiles(root)
	if err != nil {
		return err
	}
	pinned := known.digests()
	files := filesOf(version)
	for _, file := range files {
		for arch, source := range file.Sources {
			if source.SHA256, err = fetchDigest(ctx, fetch, source.URL); err != nil {
				return err
			}
			if before := pinned[source.URL]; before != "" && before != source.SHA256 {
				return fmt.Errorf("%s has the digest %s, %s has %s: if its publisher changed it for a good reason, "+
					"remove it there first", source.URL, source.SHA256, kubernetesFiles, before)
			}
			file.Sources[arch] = source
		}
	}
	known[version] = files
	return known.write(root)
}

// filesOf lists what machines install for a version, sorted by path, without digests.
func filesOf(version string) []machineadm.KubernetesFile {
	const releases = "https://github.com/%s/releases/download/%s/%s"
	files := []machineadm.KubernetesFile{
		{Path: "/opt/cni/bin", Archive: true, Sources: sourcesOf(fmt.Sprintf(releases, "containernetworking/plugins",
			cniPluginsVersion, "cni-plugins-linux-{arch}-"+cniPluginsVersion+".tgz"))},
		{Path: "/usr/local/bin", Archive: true, Sources: sourcesOf(fmt.Sprintf(releases, "kubernetes-sigs/cri-tools",
			crictlVersion, "crictl-"+crictlVersion+"-linux-{arch}.tar.gz"))},
	}
	for _, name := range []string{"kubeadm", "kubectl", "kubelet"} {
		files = append(files, machineadm.KubernetesFile{Path: "/usr/local/bin/" + name,
			Sources: sourcesOf("https://dl.k8s.io/release/" + version + "/bin/linux/{arch}/" + name)})
	}
	return files
}

// sourcesOf puts each architecture into an address.
func sourcesOf(address string) map[string]machineadm.Source {
	sources := map[string]machineadm.Source{}
	for _, arch := range []string{"amd64", "arm64"} {
		sources[arch] = machineadm.Source{URL: strings.ReplaceAll(address, "{arch}", arch)}
	}
	return sources
}

// fetchDigest returns the digest of what an address serves. It refuses one that the publisher does not state.
func fetchDigest(ctx context.Context, fetch content.Fetcher, address string) (string, error) {
	statement, err := fetch.Fetch(ctx, address+".sha256")
	if err != nil {
		return "", fmt.Errorf("read the digest that the publisher of %s states: %w", address, err)
	}
	stated, err := parseDigest(string(statement), path.Base(address))
	if err != nil {
		return "", fmt.Errorf("read the digest that the publisher of %s states: %w", address, err)
	}
	data, err := fetch.Fetch(ctx, address)
	if err != nil {
		return "", err
	}
	if got := content.Sum(data); got != stated {
		return "", fmt.Errorf("%s has the digest %s, its publisher states %s", address, got, stated)
	}
	return stated, nil
}

// parseDigest reads a digest alone, or one line of sha256sum for the file of that name.
func parseDigest(statement, name string) (string, error) {
	fields := strings.Fields(statement)
	if len(fields) != 1 && len(fields) != 2 {
		return "", errors.New("it is not a digest, nor a digest and a name")
	}
	digest, err := hex.DecodeString(fields[0])
	if err != nil || len(digest) != 32 {
		return "", errors.New("it does not begin with a SHA-256 digest")
	}
	if len(fields) == 2 && path.Base(strings.TrimPrefix(fields[1], "*")) != name {
		return "", fmt.Errorf("it is that of %s", fields[1])
	}
	return hex.EncodeToString(digest), nil
}

// defaultKubernetes returns the version of Kubernetes in the values of the chart of root.
func defaultKubernetes(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(chartValues)))
	if err != nil {
		return "", fmt.Errorf("read the default version of Kubernetes: %w", err)
	}
	var values struct {
		Cluster struct {
			Version string `json:"kubernetes_version"`
		} `json:"cluster"`
	}
	if err := yaml.Unmarshal(text, &values); err != nil {
		return "", fmt.Errorf("read %s: %w", chartValues, err)
	}
	if values.Cluster.Version == "" {
		return "", fmt.Errorf("%s has no cluster.kubernetes_version", chartValues)
	}
	return values.Cluster.Version, nil
}

// readKubernetesFiles reads the chart's file. It refuses fields that writing it again would lose.
func readKubernetesFiles(root string) (knownFiles, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(kubernetesFiles)))
	if err != nil {
		return nil, fmt.Errorf("read the known files of Kubernetes: %w", err)
	}
	var known knownFiles
	if err := yaml.UnmarshalStrict(text, &known); err != nil {
		return nil, fmt.Errorf("read %s: %w", kubernetesFiles, err)
	}
	if known == nil {
		known = knownFiles{}
	}
	return known, nil
}

// digests returns the digest of each address.
func (k knownFiles) digests() map[string]string {
	digests := map[string]string{}
	for _, files := range k {
		for _, file := range files {
			for _, source := range file.Sources {
				digests[source.URL] = source.SHA256
			}
		}
	}
	return digests
}

// write writes the chart's file, sorted.
func (k knownFiles) write(root string) error {
	for _, files := range k {
		slices.SortFunc(files, func(a, b machineadm.KubernetesFile) int { return strings.Compare(a.Path, b.Path) })
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(k); err != nil {
		return fmt.Errorf("write the known files of Kubernetes: %w", err)
	}
	file := filepath.Join(root, filepath.FromSlash(kubernetesFiles))
	if err := wholefile.Write(file, text.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write the known files of Kubernetes: %w", err)
	}
	return nil
}
