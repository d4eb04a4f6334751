// Package awsstandin starts a stand-in for AWS: EC2, ELBv2, S3, IAM and STS by moto, which runs on this machine and
// makes nothing. It checks no signature and no permission, and no instance of it boots.
package awsstandin

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/internal/prerequisite"
)

// requirement is what pip installs: the version that server.py changes.
const requirement = "moto[server,ec2,s3,iam,sts]==5.2.1"

// installTime bounds each step of the installation.
const installTime = 5 * time.Minute

//go:embed server.py
var program []byte

// AMI is the only image, whose name is that of a published one for kubernetesVersion (with its v).
const AMI = "ami-0123456789abcdef0"

// Server is a running stand-in. It ends with the test.
type Server struct {
	URL    string
	region string
}

// Start starts a stand-in for one region. Without Python, or where pip cannot install moto, the test ends as with
// prerequisite.Missing.
func Start(t testing.TB, region, kubernetesVersion string) *Server {
	t.Helper()
	python := install(t)
	folder := t.TempDir()
	script := filepath.Join(folder, "server.py")
	if err := os.WriteFile(script, program, 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(python, script, "capa-ami-flatcar-stable-"+kubernetesVersion+"-standin", AMI,
		filepath.Join(folder, "amis.json"))
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	command.Stderr = log
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill() // it has no other end
		_ = command.Wait()
		_ = log.Close()
	})
	port, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("the stand-in for AWS does not start: %v\n%s", err, text)
	}
	return &Server{URL: "http://127.0.0.1:" + strings.TrimSpace(port), region: region}
}

// install returns a Python that has moto: in a virtual environment, which takes what the machine has already.
func install(t testing.TB) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	name := strings.NewReplacer("[", "-", "]", "-", ",", "-", "==", "").Replace(requirement)
	folder := filepath.Join(cache, "cluster-init", "awsstandin-"+name)
	python := filepath.Join(folder, "bin", "python")
	installed := filepath.Join(folder, "installed")
	if _, err := os.Stat(installed); err == nil {
		return python
	}
	for _, command := range [][]string{
		{prerequisite.Program(t, "python3"), "-m", "venv", "--clear", "--system-site-packages", folder},
		{python, "-m", "pip", "install", "--quiet", requirement},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), installTime)
		output, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput()
		cancel()
		if err != nil {
			prerequisite.Missing(t, fmt.Sprintf("%s: %v\n%s", strings.Join(command, " "), err, output))
		}
	}
	if err := os.WriteFile(installed, []byte(requirement), 0o600); err != nil {
		t.Fatal(err)
	}
	return python
}

// Query calls an action of a query API (ec2, elasticloadbalancing, iam), as anybody, and returns the answer.
func (s *Server) Query(t testing.TB, service, version, action string, parameters url.Values) []byte {
	t.Helper()
	form := url.Values{"Action": {action}, "Version": {version}}
	for name, values := range parameters {
		form[name] = values
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20260101/"+s.region+"/"+service+
		"/aws4_request, SignedHeaders=host, Signature=0") // moto finds the service in it
	status, answer := do(t, request)
	if status != http.StatusOK {
		t.Fatalf("the stand-in for AWS answers %s with %d: %s", action, status, answer)
	}
	return answer
}

// Get reads an address of the stand-in. The status is that of the answer.
func (s *Server) Get(t testing.TB, address string) (status int, body []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return do(t, request)
}

func do(t testing.TB, request *http.Request) (status int, body []byte) {
	t.Helper()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }() // it is read
	if body, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, body
}

// Elements returns the text of all elements of this name in an answer.
func Elements(t testing.TB, answer []byte, name string) (all []string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(string(answer)))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == name {
			var text string
			if err := decoder.DecodeElement(&text, &start); err != nil {
				t.Fatal(err)
			}
			all = append(all, text)
		}
	}
}
