package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/machineadm"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

const (
	ofKubernetes = "https://dl.k8s.io/release/v1.36.4/bin/linux/"
	ofCrictl     = "https://github.com/kubernetes-sigs/cri-tools/releases/download/v1.36.0/crictl-v1.36.0-linux-"
	ofPlugins    = "https://github.com/containernetworking/plugins/releases/download/v1.9.1/cni-plugins-linux-"
)

// published are made-up files of the publishers, with their statements in the form that each publisher has.
func published() files {
	f := files{}
	for _, arch := range []string{"amd64", "arm64"} {
		for _, name := range []string{"kubeadm", "kubectl", "kubelet"} {
			f[ofKubernetes+arch+"/"+name] = name + " for " + arch
			f[ofKubernetes+arch+"/"+name+".sha256"] = content.Sum([]byte(name + " for " + arch))
		}
		crictl, plugins := ofCrictl+arch+".tar.gz", ofPlugins+arch+"-v1.9.1.tgz"
		f[crictl], f[crictl+".sha256"] = "crictl "+arch, content.Sum([]byte("crictl "+arch))+"\n"
		f[plugins] = "plugins " + arch
		f[plugins+".sha256"] = content.Sum([]byte("plugins "+arch)) + "  cni-plugins-linux-" + arch + "-v1.9.1.tgz\n"
	}
	return f
}

// chart writes a repository with that file of Kubernetes, and returns its root and a function that reads the file.
func chart(t *testing.T, values, known string) (root string, read func() string) {
	t.Helper()
	root = t.TempDir()
	for file, text := range map[string]string{chartValues: values, kubernetesFiles: known} {
		file = filepath.Join(root, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root, func() string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(kubernetesFiles)))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

const (
	defaults = "cluster: {kubernetes_version: v1.36.4}\n"
	// older has a version that is not the default, and one of the default that is replaced.
	older = `{"v1.35.9": [{"path": "/usr/local/bin/kubeadm", "sources": {"amd64": {"url": "https://example.org/?a&b",` +
		`"sha256": "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9"}}}], "v1.36.4": []}`
)

func TestWriteKubernetesFiles(t *testing.T) {
	root, read := chart(t, defaults, older)
	for _, run := range []string{"first", "second"} {
		if err := writeKubernetesFiles(t.Context(), root, published()); err != nil {
			t.Fatalf("the %s time: %v", run, err)
		}
		want, err := os.ReadFile("testdata/kubernetes-files.json")
		if err != nil {
			t.Fatal(err)
		}
		if read() != string(want) {
			t.Errorf("the %s time it wrote\n%s\nwant testdata/kubernetes-files.json", run, read())
		}
	}
	var known map[string]json.RawMessage
	if err := json.Unmarshal([]byte(read()), &known); err != nil {
		t.Fatal(err)
	}
	for version, files := range known {
		config := `{"apiVersion": "` + machineadm.APIVersion + `", "kind": "` + machineadm.ConfigKind +
			`", "kubernetes": {"version": "` + version + `", "files": ` + string(files) + `}}`
		parsed, err := machineadm.Parse([]byte(config))
		if err != nil {
			t.Errorf("machineadm refuses the files of %s: %v", version, err)
		}
		if version == "v1.36.4" && len(parsed.Kubernetes.Files) != 5 {
			t.Errorf("%s has %d files", version, len(parsed.Kubernetes.Files))
		}
	}
}

func TestWriteKubernetesFilesOfNone(t *testing.T) {
	for _, before := range []string{"{}\n", "null"} {
		root, read := chart(t, defaults, before)
		if err := writeKubernetesFiles(t.Context(), root, published()); err != nil {
			t.Fatal(err)
		}
		if text := read(); !strings.HasPrefix(text, "{\n  \"v1.36.4\": [\n") || !strings.HasSuffix(text, "\n}\n") {
			t.Errorf("from %q it wrote %s", before, text)
		}
	}
}

func TestWriteKubernetesFilesRefuses(t *testing.T) {
	const (
		kubelet = ofKubernetes + "arm64/kubelet"
		crictl  = ofCrictl + "amd64.tar.gz"
		plugins = ofPlugins + "amd64-v1.9.1.tgz"
	)
	pinned := `{"v1.36.3": [{"path": "/usr/local/bin", "archive": true, "sources": {"amd64": {"url": "` + crictl +
		`", "sha256": "` + strings.Repeat("0", 64) + `"}}}]}`
	for name, tc := range map[string]struct {
		values, known string
		served        files // over what is published
		missing       string
		want          []string // in the error
	}{
		"another digest than the publisher's": {served: files{kubelet: "changed"},
			want: []string{kubelet, content.Sum([]byte("changed")), content.Sum([]byte("kubelet for arm64"))}},
		"a publisher that states none": {missing: kubelet + ".sha256",
			want: []string{"the publisher of " + kubelet, "404"}},
		"a file that is not there": {missing: plugins, want: []string{"404: " + plugins}},
		"a statement that is a page": {served: files{kubelet + ".sha256": "<html> no </html>"},
			want: []string{kubelet, "not a digest"}},
		"an empty statement": {served: files{kubelet + ".sha256": "\n"}, want: []string{kubelet, "not a digest"}},
		"a statement in SHA-1": {served: files{kubelet + ".sha256": strings.Repeat("0", 40)},
			want: []string{kubelet, "SHA-256"}},
		"a statement of another file": {
			served: files{plugins + ".sha256": content.Sum([]byte("plugins amd64")) + "  other.tgz"},
			want:   []string{plugins, "that of other.tgz"}},
		"a release that changed": {known: pinned, want: []string{crictl, kubernetesFiles, "remove it there"}},
		"a file of another form": {known: `{"v1.36.3": [{"path": "/a", "sources": {}, "mode": "0755"}]}`,
			want: []string{kubernetesFiles, "mode"}},
		"values without a version": {values: "cluster: {}\n", want: []string{chartValues, "cluster.kubernetes_version"}},
	} {
		t.Run(name, func(t *testing.T) {
			serves := published()
			maps.Copy(serves, tc.served)
			delete(serves, tc.missing)
			values, known := tc.values, tc.known
			if values == "" {
				values = defaults
			}
			if known == "" {
				known = older
			}
			root, read := chart(t, values, known)
			err := writeKubernetesFiles(t.Context(), root, serves)
			if err == nil {
				t.Fatalf("it wrote %s", read())
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want one with %q", err, want)
				}
			}
			if read() != known {
				t.Errorf("it wrote %s", read())
			}
		})
	}
}

// After an update of Kubernetes, or of a pin, the files that are known are of no use.
func TestKubernetesFilesOfThisRepository(t *testing.T) {
	version, err := defaultKubernetes("../..")
	if err != nil {
		t.Fatal(err)
	}
	minor := regexp.MustCompile(`^v\d+\.\d+\.`)
	if of := minor.FindString(version); of == "" || minor.FindString(crictlVersion) != of {
		t.Errorf("Kubernetes is %s, crictl %s: want one minor", version, crictlVersion)
	}
	known, err := readKubernetesFiles("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(known) == 0 {
		return // make sums never ran with internet
	}
	digests, wanted := known.digests(), knownFiles{version: filesOf(version)}.digests()
	if len(known[version]) != len(filesOf(version)) {
		t.Errorf("%s does not have the files of %s: run make sums", kubernetesFiles, version)
	}
	for address := range wanted {
		if digests[address] == "" {
			t.Errorf("%s does not have %s: run make sums", kubernetesFiles, address)
		}
	}
}
