package aws

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	cloud "github.com/cluster-init/cluster-init/pkg/aws"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// heard is what a preflight reports.
type heard struct{ lines []string }

func (h *heard) Progress(format string, args ...any) {
	h.lines = append(h.lines, "progress: "+fmt.Sprintf(format, args...))
}
func (h *heard) Warn(format string, args ...any) {
	h.lines = append(h.lines, "warning: "+fmt.Sprintf(format, args...))
}

// The environment's credentials are checked, not those of the shell, and without keys nobody is asked.
func TestPreflightUsesTheEnvironment(t *testing.T) {
	var asked []string
	// Not AWS: it refuses all.
	standIn := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, "<ErrorResponse><Error><Code>InvalidClientTokenId</Code></Error></ErrorResponse>")
	}))
	defer standIn.Close()
	t.Setenv("AWS_ENDPOINT_URL", standIn.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIASHELL")
	keys := cloud.Credentials{AccessKeyID: "AKIACLUSTER", SecretAccessKey: "s3cret"}
	for name, tc := range map[string]struct {
		profile, region, want string
		code                  fault.Code
		requests              int
	}{
		"keys":                   {keys.Profile(), "eu-central-1", "", fault.CloudRefused, 1},
		"no keys":                {cloud.NoProfile, "eu-central-1", "warning: AWS: not checked: without an access", "", 0},
		"a partition of its own": {keys.Profile(), "us-iso-east-1", "warning: AWS: not checked: region us-iso-east-1", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			asked = nil
			variables := map[string]string{"AWS_REGION": tc.region, "AWS_S3_BUCKET_NAME": "cluster-api-provider-aws-test",
				"AWS_B64ENCODED_CREDENTIALS": tc.profile}
			env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capa",
				Content:   clusterinit.Content(),
				Variables: func(name string) (string, bool) { value, ok := variables[name]; return value, ok }})
			if err != nil {
				t.Fatal(err)
			}
			report := &heard{}
			err = New(env).Preflight(t.Context(), report)
			if tc.code == "" && err != nil || tc.code != "" && fault.CodeOf(err) != tc.code {
				t.Errorf("code %s: %v", fault.CodeOf(err), err)
			}
			if said := strings.Join(report.lines, "\n"); !strings.Contains(said, tc.want) {
				t.Errorf("it reports %q", said)
			}
			if len(asked) != tc.requests || tc.requests > 0 && !strings.Contains(asked[0], "AKIACLUSTER/") {
				t.Errorf("requests %q", asked)
			}
		})
	}
}

// What an environment says reaches the preflight, each value in its place.
func TestNeeds(t *testing.T) {
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capa", Content: clusterinit.Content(),
		Variables: func(string) (string, bool) { return "", false }, Derive: NoCredentials,
		Sets: []string{"cluster.aws.region=eu-central-1", "cluster.aws.s3_bucket_name=bucket",
			"cluster.image=ami-0123456789abcdef0", "cluster.aws.ssh_key_name=key", "cluster.worker.replicas=2",
			"cluster.aws.worker_machine_type=m5.large", "cluster.aws.worker_iam_instance_profile=w",
			"cluster.aws.control_plane_iam_instance_profile=c", "cluster.aws.image_lookup_org=123456789012",
			"cluster.aws.image_lookup_format=f", "cluster.aws.root_volume_size=50", "cluster.workers.gpu.replicas=3",
			"cluster.workers.gpu.flavor=g4dn.xlarge"}})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%+v", needs(env, cloud.Credentials{SessionToken: "t"}))
	const want = "{Cluster:kubeadm-capa ControlPlane:{Count:1 Type:t3.large Profile:c} " +
		"Workers:{Count:2 Type:m5.large Profile:w} Pools:[{Count:3 Type:g4dn.xlarge Profile:w}] " +
		"Image:ami-0123456789abcdef0 " +
		"Lookup:{BaseOS:flatcar-stable Format:f Owner:123456789012 KubernetesVersion:v1.36.4} RootGiB:50 KeyPair:key " +
		"Bucket:bucket Temporary:true}"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
