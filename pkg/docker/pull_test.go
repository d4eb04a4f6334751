package docker

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// engineAPI is a docker CLI whose connection to the engine notes the head of a request, and says what an engine would.
func engineAPI(t *testing.T, answer string) (*Client, func() string) {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{"answer": strings.ReplaceAll(answer, "\n", "\r\n"),
		"docker": "#!/bin/sh\n[ \"$*\" = 'system dial-stdio' ] || exit 1\ncd " + folder +
			"\nwhile read -r line; do echo \"$line\" >>request; [ ${#line} -gt 1 ] || break; done\ncat answer\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return &Client{Binary: filepath.Join(folder, "docker")}, func() string {
		text, err := os.ReadFile(filepath.Join(folder, "request"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

const ok = "HTTP/1.1 200 OK\nConnection: close\n\n"

func TestPullSaysHowMuchHasCome(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "config.json")
	t.Setenv("DOCKER_CONFIG", filepath.Dir(keys))
	auth := base64.StdEncoding.EncodeToString([]byte("me:secret"))
	if err := os.WriteFile(keys, []byte(`{"auths":{"r.example:5000":{"auth":"`+auth+`"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c, request := engineAPI(t, ok+`{"status":"Pulling from a/b","id":"v1"}
{"status":"Pulling fs layer","progressDetail":{},"id":"1"}
{"status":"Pulling fs layer","progressDetail":{},"id":"2"}
{"status":"Already exists","progressDetail":{},"id":"3"}
{"status":"Downloading","progressDetail":{"current":10,"total":100},"progress":"[=>] 10B/100B","id":"1"}
{"status":"Downloading","progressDetail":{"current":5,"total":50},"id":"2"}
{"status":"Verifying Checksum","progressDetail":{},"id":"2"}
{"status":"Download complete","progressDetail":{},"id":"2"}
{"status":"Extracting","progressDetail":{"current":7,"total":50},"id":"2"}
{"status":"Downloading","progressDetail":{"current":90,"total":100},"id":"1"}
{"status":"Pull complete","progressDetail":{},"id":"1"}
{"status":"Digest: sha256:12"}
`)
	var heard []string
	err := c.Pull(t.Context(), "r.example:5000/a/b:v1@sha256:"+strings.Repeat("ab", 32),
		func(come, all int64) { heard = append(heard, fmt.Sprint(come, "/", all)) })
	if want := []string{"10/0", "15/150", "60/150", "140/150", "150/150"}; err != nil || !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q, %v", heard, want, err)
	}
	head := request()
	if want := "POST /images/create?fromImage=r.example%3A5000%2Fa%2Fb&tag=sha256%3A" + strings.Repeat("ab", 32) +
		" "; !strings.HasPrefix(head, want) {
		t.Errorf("the request is not %s...:\n%s", want, head)
	}
	_, credentials, _ := strings.Cut(head, "X-Registry-Auth: ")
	credentials, _, _ = strings.Cut(credentials, "\r\n")
	credentials, _, _ = strings.Cut(credentials, "\n")
	if text, err := base64.URLEncoding.DecodeString(strings.TrimSpace(credentials)); err != nil ||
		!strings.Contains(string(text), `"password":"secret"`) || !strings.Contains(string(text), `"username":"me"`) {
		t.Errorf("credentials are %s, %v", text, err)
	}
}

func TestPullOfDockerHub(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	c, request := engineAPI(t, ok)
	if err := c.Pull(t.Context(), "kindest/node:v1", func(int64, int64) {}); err != nil {
		t.Fatal(err)
	}
	if head := request(); !strings.HasPrefix(head, "POST /images/create?fromImage=docker.io%2Fkindest%2Fnode&tag=v1 ") {
		t.Errorf("the request is\n%s", head)
	}
}

func TestPullHeedsTheVariablesOfDocker(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	c, request := engineAPI(t, ok)
	c.Env = []string{"DOCKER_DEFAULT_PLATFORM=linux/arm64"}
	if err := c.Pull(t.Context(), "a/b:v1", func(int64, int64) {}); err != nil ||
		!strings.Contains(request(), "&platform=linux%2Farm64&") {
		t.Errorf("%v, the request is\n%s", err, request())
	}
	for _, on := range []string{"1", "true", "yes", "on"} {
		c.Env = []string{"DOCKER_CONTENT_TRUST=" + on}
		if err := c.Pull(t.Context(), "a/b:v1", func(int64, int64) {}); err == nil {
			t.Errorf("%s: an image was pulled without a check of its signature", on)
		}
	}
}

func TestPullFails(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	cases := map[string]struct{ answer, says string }{
		"the engine refuses": {"HTTP/1.1 404 Not Found\nContent-Length: 26\n\n" +
			`{"message":"no such thing"}`, "no such thing"},
		"it fails while it pulls": {ok +
			`{"status":"Downloading","progressDetail":{"current":10,"total":100},"id":"1"}` + "\n" +
			`{"error":"unexpected EOF of layer"}`, "unexpected EOF of layer"},
		"an error in detail":            {ok + `{"errorDetail":{"message":"manifest unknown"}}`, "manifest unknown"},
		"half a line":                   {ok + `{"status":"Downloading","progressDe`, "unexpected EOF"},
		"an engine that says nothing":   {"", "EOF"},
		"something else than an engine": {"SSH-2.0-x\n\n", "malformed HTTP"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, _ := engineAPI(t, tc.answer)
			err := c.Pull(t.Context(), "a/b:v1", func(int64, int64) {})
			if err == nil || !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), "a/b:v1") {
				t.Errorf("error %v names not the image, or not %q", err, tc.says)
			}
		})
	}
	c, _ := fakeDocker(t, fails(1, "Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?"))
	if err := c.Pull(t.Context(), "a/b:v1", nil); fault.CodeOf(err) != fault.DockerUnreachable {
		t.Errorf("code %q: %v", fault.CodeOf(err), err)
	}
	if err := c.Pull(t.Context(), "A b", nil); err == nil {
		t.Error("a reference that is none was pulled")
	}
}

// The program that knows the CLI's credentials may hang, and its words may be the credentials.
func TestAProgramForCredentials(t *testing.T) {
	for name, tc := range map[string]struct{ script, says string }{
		"that hangs": {"read x <$0.end", "enough"},
		"that fails": {`echo '{"Username":"me","Secret":"hunter2"}'; exit 1`,
			"credentials for r.example cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			t.Setenv("DOCKER_CONFIG", folder)
			t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
			program := filepath.Join(folder, "docker-credential-x")
			for path, text := range map[string]string{filepath.Join(folder, "config.json"): `{"credsStore":"x"}`,
				program: "#!/bin/sh\n" + tc.script + "\n"} {
				if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := syscall.Mkfifo(program+".end", 0o600); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { // for the program to read its end
				if end, err := os.OpenFile(program+".end", os.O_RDWR, 0); err == nil {
					defer end.Close()
					_, _ = end.WriteString("\n")
				}
			})
			c, _ := engineAPI(t, ok)
			ctx, cancel := context.WithTimeoutCause(t.Context(), 500*time.Millisecond, fmt.Errorf("enough"))
			defer cancel()
			err := c.Pull(ctx, "r.example/a:v1", func(int64, int64) {})
			if err == nil || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v", err)
			}
		})
	}
}

// An engine that accepts the request and then sends nothing does not block longer than the context.
func TestPullEndsWithItsContext(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	for name, body := range map[string]string{"before the answer": "cat >/dev/null; exit",
		"amid it": `while read -r line; do [ ${#line} -gt 1 ] || break; done; printf 'HTTP/1.1 200 OK\r\n\r\n{"status":'; cat >/dev/null; exit`} {
		t.Run(name, func(t *testing.T) {
			c, _ := fakeDocker(t, body)
			ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, fmt.Errorf("enough"))
			defer cancel()
			if err := c.Pull(ctx, "a/b:v1", func(int64, int64) {}); err == nil ||
				!strings.Contains(err.Error(), "enough") {
				t.Errorf("%v", err)
			}
		})
	}
}
