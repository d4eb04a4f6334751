package preflight

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/aws"
)

const region = "eu-central-1"

// standIn is not AWS: it gives set answers, in the form that AWS documents, and checks no signature.
type standIn struct {
	mu      sync.Mutex
	asked   []string
	answers map[string]answer
	server  *httptest.Server
}

type answer struct {
	status int
	body   string
	header http.Header
}

func ok(body string) answer { return answer{status: 200, body: body} }

// ec2Fails and awsFails are the two forms of errors in query APIs.
func ec2Fails(status int, code string) answer {
	return answer{status: status, body: "<Response><Errors><Error><Code>" + code +
		"</Code><Message>\x1b[2Jsecret-token</Message></Error></Errors></Response>"}
}

func awsFails(status int, code string) answer {
	return answer{status: status, body: "<ErrorResponse><Error><Code>" + code +
		"</Code><Message>the canonical request was secret-token</Message></Error></ErrorResponse>"}
}

func quota(value string) answer { return ok(`{"Quota":{"Value":` + value + `}}`) }

// newStandIn answers as an account that has all that someNeeds needs. The variables of the test's process name it.
func newStandIn(t *testing.T) *standIn {
	t.Helper()
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	instanceType := ok(`<R><instanceTypeSet><item><instanceType>t3.large</instanceType><processorInfo>` +
		`<supportedArchitectures><item>x86_64</item></supportedArchitectures></processorInfo>` +
		`<vCpuInfo><defaultVCpus>2</defaultVCpus></vCpuInfo></item></instanceTypeSet></R>`)
	s := &standIn{answers: map[string]answer{
		"GetCallerIdentity": ok(`<R><GetCallerIdentityResult><Arn>arn:aws:iam::111122223333:user/ci</Arn>` +
			`<Account>111122223333</Account></GetCallerIdentityResult></R>`),
		"DescribeInstanceTypes": instanceType,
		"DescribeImages":        ok(image("x86_64", "available", 20)),
		"DescribeKeyPairs":      ok("<R/>"),
		"GetInstanceProfile":    ok("<R/>"),
		"HEAD":                  {status: 404},
		"GetServiceQuota":       quota("16.0"),
		"DescribeVpcs":          ok("<R><vpcSet><item/></vpcSet></R>"),
		"DescribeAddresses":     ok("<R/>"),
	}}
	s.server = httptest.NewServer(s)
	t.Cleanup(s.server.Close)
	t.Setenv("AWS_ENDPOINT_URL", s.server.URL)
	return s
}

func image(architecture, state string, gib int) string {
	return fmt.Sprintf(`<R><imagesSet><item><imageId>ami-0123456789abcdef0</imageId><name>own</name><imageState>%s`+
		`</imageState><architecture>%s</architecture><rootDeviceName>/dev/xvda</rootDeviceName><blockDeviceMapping>`+
		`<item><deviceName>/dev/xvda</deviceName><ebs><volumeSize>%d</volumeSize></ebs></item></blockDeviceMapping>`+
		`</item></imagesSet></R>`, state, architecture, gib)
}

// ServeHTTP answers by the action, or by the method for S3.
func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(body))
	action := form.Get("Action")
	if _, target, json := strings.Cut(r.Header.Get("X-Amz-Target"), "."); json {
		action = target
	}
	if action == "" {
		action = r.Method
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	scope := strings.Split(r.Header.Get("Authorization"), "/") // access key, day, region, service
	if len(scope) < 4 {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	s.asked = append(s.asked, fmt.Sprintf("%s %s %s %s", scope[3], scope[2], action, form.Encode()))
	given, found := s.answers[action+" "+form.Get("InstanceType.1")+form.Get("InstanceProfileName")]
	if !found {
		given, found = s.answers[action]
	}
	if !found {
		given = awsFails(400, "InvalidAction")
	}
	for name, values := range given.header {
		w.Header()[name] = values
	}
	w.WriteHeader(given.status)
	_, _ = io.WriteString(w, given.body)
}

func (s *standIn) run(t *testing.T, needs Needs) (Report, error) {
	t.Helper()
	client, err := aws.Connect(aws.Credentials{AccessKeyID: "AKIATEST", SecretAccessKey: "s3cret",
		SessionToken: "secret-token"}, region)
	if err != nil {
		t.Fatal(err)
	}
	return Run(t.Context(), client, needs)
}
