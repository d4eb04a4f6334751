package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// apiServer answers every request in the same way and keeps what was asked.
func apiServer(t *testing.T, status int, answer string) (api kubeAPI, asked *[]string) {
	t.Helper()
	asked = &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			t.Error(err)
		}
		*asked = append(*asked, strings.TrimSpace(request.Method+" "+request.URL.String()+" "+request.Header.Get(
			"Content-Type")+" "+string(body)))
		w.WriteHeader(status)
		if _, err := io.WriteString(w, answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return kubeAPI{address: server.URL, client: server.Client()}, asked
}

func TestPatchNodeTouchesOnlyWhatItNames(t *testing.T) {
	api, asked := apiServer(t, 200, "{}")
	if err := api.patchNode(context.Background(), "two", nil, map[string]any{removedAnnotation: "two-x",
		memberAnnotation: nil}); err != nil {
		t.Fatal(err)
	}
	want := `PATCH /api/v1/nodes/two application/merge-patch+json ` +
		`{"metadata":{"annotations":{"etcd.rke2.cattle.io/node-name":null,"etcd.rke2.cattle.io/removed-node-name":"two-x"}}}`
	if got := (*asked)[0]; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAnnounce(t *testing.T) {
	api, asked := apiServer(t, 200, "{}")
	if err := api.announce(context.Background(), machine{name: "one", address: "10.0.0.1"}, "one-x", []byte("c"),
		[]byte("k")); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(*asked, "\n")
	for _, part := range []string{
		`"node-role.kubernetes.io/control-plane":"true"`, `"node-role.kubernetes.io/etcd":"true"`,
		`"node-role.kubernetes.io/master":"true"`,
		`"etcd.rke2.cattle.io/node-name":"one-x"`, `POST /api/v1/namespaces/kube-system/secrets`,
		`"name":"rke2-serving"`,
	} {
		if !strings.Contains(got, part) {
			t.Errorf("it did not send %s:\n%s", part, got)
		}
	}
}

func TestCreateTellsWhatIsThere(t *testing.T) {
	api, _ := apiServer(t, 409, `{"message":"secrets \"rke2-serving\" already exists"}`)
	if err := api.create(context.Background(), "kube-system", "secrets", map[string]any{}); !errors.Is(err, errExists) {
		t.Errorf("got %v", err)
	}
	api, _ = apiServer(t, 403, `{"message":"nodes is forbidden"}`)
	if _, err := api.nodes(context.Background(), etcdNodes); err == nil ||
		!strings.Contains(err.Error(), "403 Forbidden: nodes is forbidden") {
		t.Errorf("got %v", err)
	}
}

func TestNodes(t *testing.T) {
	api, asked := apiServer(t, 200, `{"items":[{"metadata":{"name":"one","annotations":{"a":"b"}}}]}`)
	list, err := api.nodes(context.Background(), etcdNodes)
	if err != nil || len(list) != 1 || list[0].Metadata.Name != "one" || list[0].Metadata.Annotations["a"] != "b" {
		t.Errorf("got %+v (%v)", list, err)
	}
	if !strings.Contains((*asked)[0], "labelSelector=node-role.kubernetes.io%2Fetcd%3Dtrue") {
		t.Errorf("asked %s", *asked)
	}
}

func TestAdmit(t *testing.T) {
	api, asked := apiServer(t, 201, "{}")
	p := paths{root: t.TempDir()}
	conf, err := kubeconfig("https://lb:6443", []byte("ca"), map[string]any{"client-key-data": []byte("s3cret")})
	if err != nil {
		t.Fatal(err)
	}
	if err := writeFile(p.adminConf(), conf); err != nil {
		t.Fatal(err)
	}
	admitted, err := api.admit(context.Background(), p)
	if err != nil || admitted.APIServer != "https://lb:6443" || string(admitted.Authority) != "ca" {
		t.Fatalf("got %+v (%v)", admitted, err)
	}
	id, secret, _ := strings.Cut(admitted.Token, ".")
	for _, part := range []string{`"name":"bootstrap-token-` + id + `"`, `"token-secret":"` + secret + `"`,
		`"type":"bootstrap.kubernetes.io/token"`} {
		if len(id) != 6 || len(secret) != 16 || !strings.Contains((*asked)[0], part) {
			t.Errorf("it did not send %s: %s", part, (*asked)[0])
		}
	}
	if err := os.WriteFile(p.adminConf(), []byte("client-key-data: s3cret\n\t"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := api.admit(context.Background(), p); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
}

func TestBootstrapSecretEnds(t *testing.T) {
	made := bootstrapSecret(bootstrapToken{id: "a", secret: "b"},
		time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600)))
	if got := made["stringData"].(map[string]any)["expiration"]; got != "2026-01-02T02:04:05Z" {
		t.Errorf("it ends at %v", got)
	}
}

func TestKubeconfigOfTheAdministrator(t *testing.T) {
	p := newAuthorities(t)
	if _, err := administrator(p); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(p.kubeconfig())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v (%v)", info, err)
	}
	var content struct {
		CurrentContext string `json:"current-context"`
		Users          []struct {
			User struct {
				Certificate []byte `json:"client-certificate-data"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := yaml.Unmarshal(read(t, p.kubeconfig()), &content); err != nil {
		t.Fatal(err)
	}
	if content.CurrentContext != "default" || !strings.HasPrefix(string(content.Users[0].User.Certificate),
		"-----BEGIN CERTIFICATE-----") {
		t.Errorf("got %+v", content)
	}
}
