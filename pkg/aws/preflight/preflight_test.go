package preflight

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/aws"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

func someNeeds() Needs {
	return Needs{Cluster: "mgmt", ControlPlane: Machines{1, "t3.large", "control-plane.x"},
		Workers: Machines{1, "t3.large", "nodes.x"}, Image: "ami-0123456789abcdef0", RootGiB: 40, KeyPair: "telco",
		Bucket: "cluster-api-provider-aws-telco", Lookup: Lookup{BaseOS: "flatcar-stable", KubernetesVersion: "v1.36.4"}}
}

func TestPreflight(t *testing.T) {
	const none = "<R/>"
	is := func(key string, given answer) func(*standIn) {
		return func(s *standIn) { s.answers[key] = given }
	}
	all := func(changes ...func(*standIn)) func(*standIn) {
		return func(s *standIn) {
			for _, change := range changes {
				change(s)
			}
		}
	}
	inRegion := func(status int, name string) answer {
		return answer{status: status, header: http.Header{"X-Amz-Bucket-Region": {name}}}
	}
	buckets := func(name string) answer {
		return ok("<R><Buckets><Bucket><Name>" + name + "</Name></Bucket></Buckets></R>")
	}
	withoutImage := func(n *Needs) { n.Image = "" }
	cases := map[string]struct {
		needs    func(*Needs)
		account  func(*standIn)
		code     fault.Code // of the error; empty: none
		problems []string   // parts of the problems and their hints
		warnings []string   // one part of each
		notes    string
	}{
		"all is there": {notes: "account 111122223333, region eu-central-1, as arn:aws:iam::111122223333:user/ci"},
		"session credentials": {needs: func(n *Needs) { n.Temporary = true },
			warnings: []string{"they expire"}},
		"expired": {account: is("GetCallerIdentity", awsFails(403, "ExpiredToken")), code: fault.CloudRefused,
			problems: []string{"session credentials have expired", "aws sso login"}},
		"an unknown key": {account: is("GetCallerIdentity", awsFails(403, "InvalidClientTokenId")),
			code: fault.CloudRefused, problems: []string{"does not know the access key", "AWS_ACCESS_KEY_ID"}},
		"a wrong secret": {account: is("GetCallerIdentity", awsFails(403, "SignatureDoesNotMatch")),
			code: fault.CloudRefused, problems: []string{"clock"}},
		"STS fails": {account: is("GetCallerIdentity", answer{status: 503}), code: fault.CloudUnreachable,
			problems: []string{"the answer is 503", "again later"}},
		"a page of a proxy": {account: is("GetCallerIdentity", ok("<html><br>")), code: fault.CloudUnreachable,
			problems: []string{"the answer is not AWS's", "proxy"}},
		"a region that is not enabled": {account: is("DescribeInstanceTypes", ec2Fails(401, "AuthFailure")),
			code: fault.CloudRefused, problems: []string{"cannot use EC2 in this region", "Enable the region"}},
		"no such AMI": {account: is("DescribeImages", ec2Fails(400, "InvalidAMIID.NotFound")), code: fault.CloudLacks,
			problems: []string{"no AMI ami-0123456789abcdef0", "image-builder"}},
		"an AMI without an entry": {account: is("DescribeImages", ok(none)), code: fault.CloudLacks,
			problems: []string{"no AMI ami-0123456789abcdef0"}},
		"an AMI of another architecture": {account: is("DescribeImages", ok(image("arm64", "available", 8))),
			code: fault.CloudLacks, problems: []string{"is for arm64, and instance type t3.large is x86_64"}},
		"an AMI that is pending": {account: is("DescribeImages", ok(image("x86_64", "pending", 8))),
			code: fault.CloudLacks, problems: []string{"is pending"}},
		"a small disk": {account: is("DescribeImages", ok(image("x86_64", "available", 80))), code: fault.CloudLacks,
			problems: []string{"needs a disk of 80 GiB, and machines get 40 GiB", "root_volume_size"}},
		"AMIs must not be listed": {account: is("DescribeImages", ec2Fails(403, "UnauthorizedOperation")),
			warnings: []string{"AMI ami-0123456789abcdef0: not checked"}},
		"lookup": {needs: withoutImage, notes: "1 AMIs capa-ami-flatcar-stable-?1.36.4-* for x86_64"},
		"lookup finds none": {needs: withoutImage, account: is("DescribeImages", ok(none)), code: fault.CloudLacks,
			problems: []string{"account 819546954734 has no AMI capa-ami-flatcar-stable-?1.36.4-* for x86_64 in region " +
				"eu-central-1", "Build an AMI with image-builder"}},
		"lookup by another format": {needs: func(n *Needs) { n.Image, n.Lookup.Format = "", "{{.BaseOS | upper}}" },
			warnings: []string{"the AMI: not checked"}},
		"no such instance type": {account: is("DescribeInstanceTypes", ec2Fails(400, "InvalidInstanceType")),
			code: fault.CloudLacks, problems: []string{"no instance type t3.large"}},
		"instance types must not be listed": {account: is("DescribeInstanceTypes", ec2Fails(403, "UnauthorizedOperation")),
			warnings: []string{"instance type t3.large: not checked"}},
		"no key pair": {account: is("DescribeKeyPairs", ec2Fails(400, "InvalidKeyPair.NotFound")),
			code: fault.CloudLacks, problems: []string{`no key pair "telco"`, "import-key-pair"}},
		"no key pair is wanted": {needs: func(n *Needs) { n.KeyPair = "" },
			account: is("DescribeKeyPairs", answer{status: 500})},
		"no instance profile": {account: is("GetInstanceProfile nodes.x", awsFails(404, "NoSuchEntity")),
			code: fault.CloudLacks, problems: []string{"no instance profile nodes.x", "clusterawsadm bootstrap iam"}},
		"instance profiles must not be read": {account: is("GetInstanceProfile", awsFails(403, "AccessDenied")),
			warnings: []string{"instance profile control-plane.x: not checked", "instance profile nodes.x: not checked"}},
		"a bucket of this account": {account: is("HEAD", inRegion(200, region)), notes: "telco exists"},
		"a bucket in another region": {account: is("HEAD", inRegion(301, "us-east-1")), code: fault.CloudLacks,
			problems: []string{"is in region us-east-1, but the cluster is in eu-central-1", "AWS_S3_BUCKET_NAME"}},
		"a bucket of another account": {account: all(is("HEAD", inRegion(403, region)), is("GET", buckets("other"))),
			code: fault.CloudLacks, problems: []string{"belongs to another AWS account", "unique in all of AWS"}},
		"a bucket of an unknown owner": {account: all(is("HEAD", inRegion(403, region)),
			is("GET", answer{status: 403, body: "<Error><Code>AccessDenied</Code></Error>"})),
			warnings: []string{"not checked: it exists"}},
		"an own bucket that must not be read": {account: all(is("HEAD", answer{status: 403}),
			is("GET", buckets("cluster-api-provider-aws-telco"))), warnings: []string{"belongs to this account"}},
		"S3 fails": {account: is("HEAD", answer{status: 500}), code: fault.CloudUnreachable,
			problems: []string{"check bucket"}},
		"quotas are small": {account: is("GetServiceQuota", quota("1")), warnings: []string{
			"vCPUs of on-demand instances (others not counted): 4 needed, 0 of 1 used", "VPCs: 1 needed, 1 of 1 used",
			"Elastic IPs, one for each NAT gateway: 3 needed, 0 of 1 used"}},
		"what the cluster has is not needed again": {account: all(is("GetServiceQuota", quota("4")),
			is("DescribeAddresses", ok("<R><addressesSet>"+strings.Repeat("<item><tagSet><item><key>"+tag+
				"mgmt</key></item></tagSet></item>", 3)+"</addressesSet></R>")))},
		"quotas must not be read": {account: is("GetServiceQuota", answer{status: 400,
			body: `{"__type":"com.amazonaws#AccessDeniedException"}`}),
			warnings: []string{"quotas: not checked, from vCPUs of on-demand instances (others not counted) on: " +
				"servicequotas GetServiceQuota: AccessDeniedException (400)"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStandIn(t)
			needs := someNeeds()
			if tc.needs != nil {
				tc.needs(&needs)
			}
			if tc.account != nil {
				tc.account(s)
			}
			report, err := s.run(t, needs)
			if tc.code == "" && err != nil || tc.code != "" && fault.CodeOf(err) != tc.code {
				t.Errorf("error with code %s: %v", fault.CodeOf(err), err)
			}
			said := ""
			if err != nil {
				said = err.Error() + "\n" + fault.HintOf(err)
			}
			for _, part := range tc.problems {
				if !strings.Contains(said, part) {
					t.Errorf("no problem says %q: %s", part, said)
				}
			}
			if len(report.Warnings) != len(tc.warnings) {
				t.Errorf("warnings %q, want %q", report.Warnings, tc.warnings)
			}
			for n, part := range tc.warnings[:min(len(tc.warnings), len(report.Warnings))] {
				if !strings.Contains(report.Warnings[n], part) {
					t.Errorf("warning %q, want %q", report.Warnings[n], part)
				}
			}
			everything := strings.Join(append(report.Notes, report.Warnings...), "\n") + said
			if !strings.Contains(everything, tc.notes) {
				t.Errorf("no note says %q: %q", tc.notes, report.Notes)
			}
			if strings.Contains(everything, "secret-token") || strings.Contains(everything, "\x1b") {
				t.Errorf("what AWS said is quoted: %q", everything)
			}
		})
	}
}

// Credentials that AWS does not take are one problem, not one of each request.
func TestRefusedCredentialsEndIt(t *testing.T) {
	s := newStandIn(t)
	s.answers["GetCallerIdentity"] = awsFails(403, "ExpiredToken")
	if _, err := s.run(t, someNeeds()); err == nil || strings.Contains(err.Error(), "\n") || len(s.asked) != 1 {
		t.Errorf("%d requests, problems %v", len(s.asked), err)
	}
}

// Requests go to the region and the name of their service.
func TestWhereIsAsked(t *testing.T) {
	s := newStandIn(t)
	if _, err := s.run(t, someNeeds()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"sts eu-central-1 GetCallerIdentity", "ec2 eu-central-1 DescribeImages ",
		"iam us-east-1 GetInstanceProfile", "s3 eu-central-1 HEAD", "servicequotas eu-central-1 GetServiceQuota"} {
		if !slices.ContainsFunc(s.asked, func(a string) bool { return strings.HasPrefix(a, want) }) {
			t.Errorf("no request for %q: %q", want, s.asked)
		}
	}
}

// Two architectures are looked up, each of them.
func TestLookupOfTwoArchitectures(t *testing.T) {
	s := newStandIn(t)
	s.answers["DescribeInstanceTypes t4g.large"] = ok(`<R><instanceTypeSet><item><processorInfo><supportedArchitectures>` +
		`<item>arm64</item></supportedArchitectures></processorInfo></item></instanceTypeSet></R>`)
	needs := someNeeds()
	needs.Image, needs.Workers.Type = "", "t4g.large"
	report, err := s.run(t, needs)
	if err != nil || !strings.Contains(strings.Join(report.Notes, "\n"), "for arm64") {
		t.Errorf("%v, %q", err, report.Notes)
	}
	needs.Workers.Count = 0
	if report, err = s.run(t, needs); err != nil || strings.Contains(strings.Join(report.Notes, "\n"), "for arm64") {
		t.Errorf("without workers: %v, %q", err, report.Notes)
	}
}

// A service that never answers, and one that does not exist, end the preflight within its bound.
func TestAWSDoesNotAnswer(t *testing.T) {
	newStandIn(t)
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then the server sees that the client goes
		<-r.Context().Done()
	}))
	defer hangs.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	for name, address := range map[string]string{"no answer in time": hangs.URL, "connection refused": closed.URL} {
		t.Setenv("AWS_ENDPOINT_URL", address)
		client, err := aws.Connect(aws.Credentials{AccessKeyID: "AKIATEST", SecretAccessKey: "s3cret"}, region)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		_, err = Run(ctx, client, someNeeds())
		cancel()
		if fault.CodeOf(err) != fault.CloudUnreachable || !fault.CanRetry(err) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
