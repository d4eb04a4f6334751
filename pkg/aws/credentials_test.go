package aws

import (
	"encoding/base64"
	"errors"
	"testing"
)

func TestParseProfile(t *testing.T) {
	full := Credentials{AccessKeyID: "AKIATEST", SecretAccessKey: secret, SessionToken: "t=o=", Region: "eu-central-1"}
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	cases := map[string]struct {
		profile string
		want    Credentials
		found   bool
		invalid bool
	}{
		"what Profile returns": {profile: full.Profile(), want: full, found: true},
		"no keys":              {profile: NoProfile},
		"half of them":         {profile: encode("[default]\naws_access_key_id=A\n"), want: Credentials{AccessKeyID: "A"}},
		"another profile":      {profile: encode("[other]\naws_access_key_id=A\naws_secret_access_key=B\n")},
		"without blanks": {profile: encode("[default]\r\naws_access_key_id=A\r\naws_secret_access_key=B=\r\n"),
			want: Credentials{AccessKeyID: "A", SecretAccessKey: "B="}, found: true},
		"no base64": {profile: "s3cret!", invalid: true},
	}
	for name, tc := range cases {
		got, found, err := ParseProfile(tc.profile)
		if got != tc.want || found != tc.found || (err != nil) != tc.invalid {
			t.Errorf("%s: keys %v, found %v, error %v", name, got == tc.want, found, err)
		}
	}
}

// Where AWS_ENDPOINT_URL does not say otherwise, each partition has hosts of its own.
func TestEndpoints(t *testing.T) {
	shell(t, nil)
	for region, want := range map[string][3]string{
		"eu-central-1":  {"https://ec2.eu-central-1.amazonaws.com", "https://iam.amazonaws.com", "us-east-1"},
		"cn-north-1":    {"https://ec2.cn-north-1.amazonaws.com.cn", "https://iam.cn-north-1.amazonaws.com.cn", "cn-north-1"},
		"us-gov-east-1": {"https://ec2.us-gov-east-1.amazonaws.com", "https://iam.us-gov.amazonaws.com", "us-gov-west-1"},
	} {
		client, err := Connect(Credentials{}, region)
		if err != nil {
			t.Fatal(err)
		}
		regional, itself := client.endpoint(t.Context(), ec2)
		global, signed := client.endpoint(t.Context(), iam)
		if got := [3]string{regional, global, signed}; got != want || itself != region {
			t.Errorf("%s: %q, want %q", region, got, want)
		}
	}
	for _, region := range []string{"us-iso-east-1", "eusc-de-east-1", "eu-isoe-west-1"} {
		if _, err := Connect(Credentials{}, region); !errors.Is(err, ErrPartition) {
			t.Errorf("%s: %v", region, err)
		}
	}
	t.Setenv("AWS_ENDPOINT_URL", "http://all.example.org/")
	t.Setenv("AWS_ENDPOINT_URL_S3", "http://s3.example.org")
	client, err := Connect(Credentials{}, "eu-central-1")
	if err != nil {
		t.Fatal(err)
	}
	for of, want := range map[service]string{s3: "http://s3.example.org", sts: "http://all.example.org"} {
		if got, _ := client.endpoint(t.Context(), of); got != want {
			t.Errorf("requests to %s go to %s", of.name, got)
		}
	}
}
