//go:build integration && capa

package up

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/aws"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/internal/providers"
)

const (
	capaRegion = "eu-central-1"
	capaBound  = 90 * time.Second // of one wait
)

// capaScene is shared by the parts of TestKubeadmCAPA.
type capaScene struct {
	ctx         context.Context
	releases    providers.Releases
	credentials aws.Credentials
	ec2         *httptest.Server
	asked       atomic.Int64 // number of calls to EC2
	nobody      string       // an address without a listener
}

func newCAPA(ctx context.Context, t *testing.T) *capaScene {
	t.Helper()
	s := &capaScene{ctx: ctx, credentials: aws.Credentials{AccessKeyID: "AKIACAPATEST",
		SecretAccessKey: "capa-test-s3cret", Region: capaRegion}}
	var err error
	if s.releases, err = providers.ReadReleases(); err != nil {
		t.Fatal(err)
	}
	s.ec2 = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.asked.Add(1)
		w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `<?xml version="1.0" encoding="UTF-8"?><Response><Errors><Error><Code>AuthFailure</Code>`+
			`<Message>AWS was not able to validate the provided access credentials</Message></Error></Errors><RequestID>1</RequestID></Response>`)
	}))
	t.Cleanup(s.ec2.Close)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.nobody = "http://" + closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	return s
}

// environment loads kubeadm-capa as the CLI does, with these credentials and nothing of this machine.
func (s *capaScene) environment(t *testing.T, profile string, sets ...string) *environment.Environment {
	t.Helper()
	variables := map[string]string{"AWS_REGION": capaRegion, "AWS_S3_BUCKET_NAME": "cluster-api-provider-aws-test",
		"AWS_B64ENCODED_CREDENTIALS": profile}
	env, err := environment.Load(s.ctx, environment.Options{Name: "kubeadm-capa", Content: clusterinit.Content(),
		Sets:      sets,
		Variables: func(name string) (string, bool) { value, ok := variables[name]; return value, ok }})
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// kustomization returns a component's Kustomization as the chart renders it.
func (s *capaScene) kustomization(t *testing.T, env *environment.Environment, name string) *unstructured.Unstructured {
	t.Helper()
	objects, err := env.Render(environment.Bootstrap, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if object.GetKind() == "Kustomization" && object.GetName() == name {
			return object
		}
	}
	t.Fatalf("the chart makes no component %s", name)
	return nil
}

// run installs the components of Cluster API, and runs their managers until the test ends. EC2 refuses credentials.
func (s *capaScene) run(t *testing.T, env *environment.Environment) {
	t.Helper()
	s.runWith(t, env, "ec2="+s.ec2.URL)
}

// runWith is run with these addresses of AWS's services, as the provider's flag takes them.
func (s *capaScene) runWith(t *testing.T, env *environment.Environment, endpoints string) {
	t.Helper()
	chart, err := env.Render(environment.Bootstrap, nil)
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	for _, object := range chart {
		switch object.GetKind() {
		case "Secret", "Namespace":
			if err := shared.Client.ApplyAll(s.ctx, object); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"capi", "cabpk", "capa"} {
		built, err := s.releases.Build(s.ctx, shared.Client, s.kustomization(t, env, name))
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, built...)
	}
	const manager = "capa-controller-manager"
	running, err := providers.Run(s.ctx, shared.Client, objects, providers.Options{
		Folder: t.TempDir(),
		Env:    []string{"AWS_EC2_METADATA_SERVICE_ENDPOINT=" + s.nobody},
		Args:   map[string][]string{manager: {"--service-endpoints=" + capaRegion + ":" + endpoints}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		running.Stop()
		s.secretFree(t, "the manager's output", running.Output(manager))
		if t.Failed() {
			t.Logf("the end of %s:\n%s", manager, running.Output(manager))
		}
	})
}

// definition returns the component `cluster` as Flux applies it.
func (s *capaScene) definition(t *testing.T, env *environment.Environment) []*unstructured.Unstructured {
	t.Helper()
	objects, err := s.releases.Build(s.ctx, shared.Client, s.kustomization(t, env, "cluster"))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// condition waits until a condition of an object of that kind contains part.
func (s *capaScene) condition(t *testing.T, kind, apiVersion, conditionType, part string) {
	t.Helper()
	last := "there is none"
	s.eventually(t, func() bool {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(apiVersion)
		list.SetKind(kind + "List")
		if err := shared.Client.List(s.ctx, list); err != nil {
			last = err.Error()
			return false
		}
		for i := range list.Items {
			last = health.ConditionOf(&list.Items[i], conditionType).String()
			if strings.Contains(last, part) {
				return true
			}
		}
		return false
	}, func() string {
		return fmt.Sprintf("no %s whose condition %s says %q; it says: %s", kind, conditionType, part, last)
	})
}

// bootstrapSecret waits for the user data of the first machine.
func (s *capaScene) bootstrapSecret(t *testing.T, namespace string) *corev1.Secret {
	t.Helper()
	var found *corev1.Secret
	s.eventually(t, func() bool {
		list := &corev1.SecretList{}
		if err := shared.Client.List(s.ctx, list, client.InNamespace(namespace)); err != nil {
			return false
		}
		for i := range list.Items {
			if list.Items[i].Type == "cluster.x-k8s.io/secret" && len(list.Items[i].Data["format"]) > 0 {
				found = &list.Items[i]
			}
		}
		return found != nil
	}, func() string { return "no machine gets user data" })
	return found
}

func (s *capaScene) eventually(t *testing.T, holds func() bool, failure func() string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(s.ctx, 200*time.Millisecond, capaBound, true,
		func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		t.Fatal(failure())
	}
}

// secretFree fails if text contains credentials, as they are or encoded.
func (s *capaScene) secretFree(t *testing.T, where, text string) {
	t.Helper()
	for _, secret := range []string{s.credentials.SecretAccessKey, s.credentials.Profile(),
		base64.StdEncoding.EncodeToString([]byte(s.credentials.SecretAccessKey))} {
		if strings.Contains(text, secret) {
			t.Errorf("%s holds the credentials", where)
		}
	}
}

// told records what a run reports.
type told struct{ lines []string }

func (r *told) Progress(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}
func (r *told) Warn(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}
func (r *told) Log(line string)                             { r.lines = append(r.lines, line) }
func (r *told) Object(o event.Object)                       { r.add(o) }
func (r *told) Waiting(what string, blocked []event.Object) { r.add(map[string]any{what: blocked}) }
func (r *told) add(value any) {
	line, err := json.Marshal(value)
	if err != nil {
		line = []byte(err.Error())
	}
	r.lines = append(r.lines, string(line))
}

// dataURL returns the content in Ignition's address of a file.
func dataURL(source string) (string, error) {
	content, found := strings.CutPrefix(source, "data:,")
	if !found {
		return "", fmt.Errorf("%q is not within the user data", source)
	}
	return url.PathUnescape(content)
}
