package aws

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

const secret = "wJalr/+=s3cret#;key"

// shell gives the test an environment of its own: nothing of AWS is set, no file is there and no machine has a role.
func shell(t *testing.T, variables map[string]string) string {
	t.Helper()
	home := t.TempDir()
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(home, "config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(home, "credentials"))
	for name, value := range variables {
		t.Setenv(name, value)
	}
	return home
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func find(ctx context.Context) (Credentials, error) {
	chain, err := Load(ctx)
	if err != nil {
		return Credentials{}, err
	}
	return chain.Credentials(ctx)
}

func TestChain(t *testing.T) {
	cases := map[string]struct {
		variables           map[string]string
		config, credentials string
		want                Credentials
		failure             string
	}{
		"environment": {
			variables: map[string]string{"AWS_ACCESS_KEY_ID": "AKIA1", "AWS_SECRET_ACCESS_KEY": secret,
				"AWS_SESSION_TOKEN": "t", "AWS_REGION": "eu-central-1"},
			want: Credentials{"AKIA1", secret, "t", "eu-central-1"},
		},
		"other name of the region": {
			variables: map[string]string{"AWS_ACCESS_KEY_ID": "AKIA1", "AWS_SECRET_ACCESS_KEY": secret,
				"AWS_DEFAULT_REGION": "eu-west-1"},
			want: Credentials{"AKIA1", secret, "", "eu-west-1"},
		},
		"files": {
			config:      "[default]\nregion = eu-west-3\n",
			credentials: "[default]\naws_access_key_id = AKIA2\naws_secret_access_key = " + secret + "\n",
			want:        Credentials{"AKIA2", secret, "", "eu-west-3"},
		},
		"profile": {
			variables: map[string]string{"AWS_PROFILE": "telco"},
			config:    "[profile telco]\nregion = eu-north-1\n",
			credentials: "[default]\naws_access_key_id = no\naws_secret_access_key = no\n[telco]\naws_access_key_id = " +
				"AKIA3\naws_secret_access_key = " + secret + "\n",
			want: Credentials{"AKIA3", secret, "", "eu-north-1"},
		},
		"process": {
			config: "[default]\ncredential_process = " +
				`printf '{"Version":1,"AccessKeyId":"AKIA4","SecretAccessKey":"s4"}'` + "\n",
			want: Credentials{"AKIA4", "s4", "", ""},
		},
		"nothing": {failure: "no AWS credentials"},
		"half": {variables: map[string]string{"AWS_SECRET_ACCESS_KEY": secret},
			failure: "no AWS credentials"},
		"no such profile": {variables: map[string]string{"AWS_PROFILE": "nowhere"}, failure: "nowhere"},
		"process that prints no JSON": {config: "[default]\ncredential_process = printf " + "leaked-" + "s3cret\n",
			failure: "credential_process"},
		"process that ends in failure": {config: "[default]\ncredential_process = false\n",
			failure: "credential_process"},
		"SSO without a login": {config: "[default]\nsso_start_url = https://sso.example.com\nsso_region = " +
			"eu-central-1\nsso_account_id = 1\nsso_role_name = r\n", failure: "no AWS credentials"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			home := shell(t, test.variables)
			write(t, filepath.Join(home, "config"), test.config)
			write(t, filepath.Join(home, "credentials"), test.credentials)
			got, err := find(t.Context())
			if test.failure == "" {
				if err != nil || got != test.want {
					t.Fatalf("error %v, or other credentials than wanted", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.failure) ||
				fault.CodeOf(err) != fault.CredentialsMissing {
				t.Errorf("error %v with code %s, want %q", err, fault.CodeOf(err), test.failure)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error holds what a process printed, or a key: %v", err)
			}
			if hint := fault.HintOf(err); !strings.Contains(hint, "AWS_ACCESS_KEY_ID") ||
				!strings.Contains(hint, "AWS_PROFILE") {
				t.Errorf("hint %q", hint)
			}
		})
	}
}

func TestChainEndsWhenNobodyAnswers(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it takes connections and never says a word
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	shell(t, map[string]string{"AWS_EC2_METADATA_DISABLED": "false", "AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://" +
		silent.Addr().String()})
	chain, err := Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	chain.timeout = 200 * time.Millisecond
	start := time.Now()
	_, err = chain.Credentials(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no answer within 200ms") ||
		fault.CodeOf(err) != fault.CredentialsMissing {
		t.Errorf("error %v", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

// The library has a log of its own, which would come in between what the command says.
func TestChainSaysNothingByItself(t *testing.T) {
	refuses := httptest.NewServer(http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer refuses.Close()
	shell(t, map[string]string{"AWS_EC2_METADATA_DISABLED": "false", "AWS_EC2_METADATA_SERVICE_ENDPOINT": refuses.URL})
	stderr := os.Stderr
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	os.Stderr = file
	_, failure := find(t.Context())
	os.Stderr = stderr
	if failure == nil || !strings.Contains(failure.Error(), "no EC2 IMDS role found") {
		t.Errorf("error %v", failure)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if said, err := os.ReadFile(file.Name()); err != nil || len(said) > 0 {
		t.Errorf("it says %q (%v)", said, err)
	}
}

// What Profile makes is read back by the library that Cluster API's provider reads it with.
func TestProfileIsOneOfAWS(t *testing.T) {
	for name, credentials := range map[string]Credentials{
		"long-lived": {"AKIA1", secret, "", "eu-central-1"},
		"temporary":  {"ASIA1", secret, "IQoJb3JpZ2luX2VjE//+==", "us-gov-west-1"},
		"no region":  {"AKIA1", secret, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			home := shell(t, nil)
			encoded := credentials.Profile()
			if strings.ContainsAny(encoded, "\n ") {
				t.Error("it is not one word")
			}
			text, err := base64.StdEncoding.DecodeString(encoded)
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(home, "credentials"), string(text))
			read, err := config.LoadSharedConfigProfile(t.Context(), "default",
				func(o *config.LoadSharedConfigOptions) {
					o.CredentialsFiles = []string{filepath.Join(home, "credentials")}
					o.ConfigFiles = []string{}
				})
			if err != nil {
				t.Fatal(err)
			}
			if got := (Credentials{read.Credentials.AccessKeyID, read.Credentials.SecretAccessKey,
				read.Credentials.SessionToken, read.Region}); got != credentials {
				t.Error("it reads back as other credentials")
			}
		})
	}
	if text, err := base64.StdEncoding.DecodeString(NoProfile); err != nil || strings.TrimSpace(string(text)) != "" {
		t.Errorf("NoProfile holds %q, %v", text, err)
	}
}

func TestCredentialsDoNotShowThemselves(t *testing.T) {
	c := Credentials{"AKIA1", secret, "token-s3cret", "r"}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "credentials", c, "in", []Credentials{c})
	data, err := json.Marshal(map[string]any{"c": c, "p": &c})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{fmt.Sprint(c), fmt.Sprintf("%v %+v %#v %s %q %x", c, c, c, c, c, c),
		fmt.Sprintf("%v", []any{c, &c}), string(data), log.String()} {
		if strings.Contains(text, "s3cret") || strings.Contains(text, "AKIA1") || !strings.Contains(text, "hidden") {
			t.Error("credentials show themselves when they are formatted")
		}
	}
}
