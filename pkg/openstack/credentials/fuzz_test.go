package credentials

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// FuzzClouds reads a clouds.yaml. Whatever it holds: an error has the code, and what is accepted reads back as the same
// and names no file.
func FuzzClouds(f *testing.F) {
	f.Add(passwordYAML, "")
	f.Add("clouds: {a: {auth: {auth_url: 'http://k', application_credential_id: 1, application_credential_secret: "+
		"0x10}, verify: no, cacert: /x}}", "")
	f.Add("clouds: {a: {regions: [{name: r, values: {auth: {password: p}}}]}}", "clouds: {a: {auth: {password: *x}}}")
	f.Add("clouds: {a: &a {auth: *a}}", "clouds: []")
	f.Fuzz(func(t *testing.T, text, secure string) {
		in := files{path: "clouds.yaml"}
		var err error
		if in.clouds, err = parseClouds([]byte(text), "clouds.yaml"); err == nil {
			in.secure, err = parseClouds([]byte(secure), "secure.yaml")
		}
		var cloud openstack.Cloud
		if err == nil {
			cloud, err = finder{lookup: lookup(nil)}.fromFiles("", in)
		}
		if err != nil {
			if fault.CodeOf(err) != fault.CredentialsMissing {
				t.Errorf("code %s", fault.CodeOf(err))
			}
			return
		}
		again, err := parseClouds(cloud.Config, "again")
		if err != nil {
			t.Fatal(err)
		}
		second, err := finder{lookup: lookup(nil)}.fromFiles(cloud.Name, files{clouds: again, path: "again"})
		if err != nil || !bytes.Equal(cloud.Config, second.Config) {
			t.Errorf("what is written is not what is read (%v):\n%s\n%s", err, cloud.Config, second.Config)
		}
		if strings.Contains(string(cloud.Config), "cacert:") {
			t.Error("it names a file")
		}
	})
}

// FuzzPassword holds what is written against the parsers of those who read it: Cluster API's provider and the library.
func FuzzPassword(f *testing.F) {
	for _, password := range []string{secret, "0777", "1_000", "yes", "~", "null", "12:30:45", "0o17", "1e3", "- x",
		"#", "!!int 3", "\u2028", "\ufeff", "\u0085", " x ", "=", "<<", "2001-01-01", "é", ".inf"} {
		f.Add(password, "ada")
	}
	f.Fuzz(func(t *testing.T, password, user string) {
		cloud, err := Find(lookup(map[string]string{"OS_AUTH_URL": "http://k", "OS_USERNAME": user,
			"OS_PASSWORD": password, "OS_PROJECT_NAME": "p"}))
		if err != nil {
			if fault.CodeOf(err) != fault.CredentialsMissing {
				t.Errorf("error %v", err)
			}
			return
		}
		auth, _, _, err := clouds.Parse(clouds.WithCloudName(cloud.Name),
			clouds.WithCloudsYAML(bytes.NewReader(cloud.Config)))
		if err != nil || auth.Password != password || auth.Username != user {
			t.Errorf("the library reads another password or user: %q %q (%v) of\n%s", auth.Username, auth.Password, err,
				cloud.Config)
		}
		var read struct {
			Clouds map[string]struct {
				Auth struct{ Username, Password string } `json:"auth"`
			} `json:"clouds"`
		}
		if err := yaml.Unmarshal(cloud.Config, &read); err != nil ||
			read.Clouds[cloud.Name].Auth.Password != password || read.Clouds[cloud.Name].Auth.Username != user {
			t.Errorf("sigs.k8s.io/yaml reads other ones (%v) of\n%s", err, cloud.Config)
		}
	})
}
