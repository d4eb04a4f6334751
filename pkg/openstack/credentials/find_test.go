package credentials

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

const secret = "s3cret#: \"'{x}"

// openrc are the variables of the file that OpenStack's dashboard gives.
func openrc(change ...string) map[string]string {
	return with(map[string]string{"OS_AUTH_URL": "https://keystone.example.org:5000/v3", "OS_USERNAME": "ada",
		"OS_USER_DOMAIN_NAME": "Default",
		"OS_PASSWORD":         secret, "OS_PROJECT_ID": "0123", "OS_PROJECT_NAME": "telco",
		"OS_PROJECT_DOMAIN_ID": "default",
		"OS_REGION_NAME":       "RegionOne", "OS_INTERFACE": "public", "OS_IDENTITY_API_VERSION": "2"}, change)
}

func with(variables map[string]string, change []string) map[string]string {
	for i := 0; i < len(change); i += 2 {
		variables[change[i]] = change[i+1]
	}
	return variables
}

func set(change ...string) map[string]string { return with(map[string]string{}, change) }

func lookup(variables map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	}
}

const passwordYAML = `
x-auth: &domain {user_domain_name: Default, project_domain_name: Default}
clouds:
  telco:
    auth: {<<: *domain, auth_url: "https://keystone.example.org:5000/v3", username: ada, password: 's3cret-1', project_name: telco}
    region_name: RegionOne
`

func indent(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

var inFile = indent("clouds:", "    telco:", "        auth:",
	"            auth_url: https://keystone.example.org:5000/v3", "            username: ada",
	"            user_domain_name: Default", "            password: s3cret-1", "            project_name: telco",
	"            project_domain_name: Default",
	"        auth_type: password", "        region_name: RegionOne")

func TestFind(t *testing.T) {
	ca := certificate(t)
	cases := map[string]struct {
		variables  map[string]string
		files      map[string]string
		name, want string // of the cloud
		ca         bool
	}{
		"variables, the id of the project counts": {variables: openrc(), name: "openstack",
			want: indent("clouds:", "    openstack:", "        auth:",
				"            auth_url: https://keystone.example.org:5000/v3", "            username: ada",
				"            user_domain_name: Default",
				`            password: 's3cret#: "''{x}'`, `            project_id: "0123"`,
				"        auth_type: password",
				"        region_name: RegionOne")},
		"an empty CA is none": {variables: set("OS_AUTH_URL", "http://k", "OS_USER_ID", "u", "OS_PASSWORD", "x",
			"OS_PROJECT_ID", "p", "OPENSTACK_CLOUD_CACERT_B64", "Cg=="), name: "openstack",
			want: indent("clouds:", "    openstack:", "        auth:", "            auth_url: http://k",
				"            user_id: u", "            password: x", "            project_id: p",
				"        auth_type: password")},
		"variables, as few as possible": {variables: set("OS_AUTH_URL", "http://k", "OS_USER_ID", "u", "OS_PASSWORD",
			"0777", "OS_PROJECT_NAME", "yes"), name: "openstack",
			want: indent("clouds:", "    openstack:", "        auth:", "            auth_url: http://k",
				"            user_id: u", `            password: "0777"`,
				`            project_name: "yes"`, "            project_domain_id: default",
				"        auth_type: password")},
		"an application credential needs no project": {variables: openrc("OS_AUTH_TYPE", "v3applicationcredential",
			"OS_APPLICATION_CREDENTIAL_ID", "77",
			"OS_APPLICATION_CREDENTIAL_SECRET", "s3cret-app", "OS_INTERFACE", "internalURL", "OS_INSECURE", "True"),
			name: "openstack",
			want: indent("clouds:", "    openstack:", "        auth:",
				"            auth_url: https://keystone.example.org:5000/v3",
				`            application_credential_id: "77"`,
				"            application_credential_secret: s3cret-app", "        auth_type: v3applicationcredential",
				"        region_name: RegionOne",
				"        interface: internal", "        endpoint_type: internal", "        verify: false")},
		"an application credential by name, its type left out": {variables: set("OS_AUTH_URL", "https://k/v3",
			"OS_APPLICATION_CREDENTIAL_NAME", "ci", "OS_USERNAME", "ada",
			"OS_APPLICATION_CREDENTIAL_SECRET", "s3cret-app"), name: "openstack",
			want: indent("clouds:", "    openstack:", "        auth:", "            auth_url: https://k/v3",
				"            username: ada", "            user_domain_id: default",
				"            application_credential_name: ci", "            application_credential_secret: s3cret-app",
				"        auth_type: v3applicationcredential")},
		"the cloud of a file": {variables: set("OS_CLOUD", "telco"),
			files: map[string]string{"clouds.yaml": passwordYAML}, name: "telco", want: inFile},
		"under its other name": {variables: set("OPENSTACK_CLOUD", "telco"),
			files: map[string]string{"clouds.yml": passwordYAML}, name: "telco", want: inFile},
		"the only one of a file": {files: map[string]string{"home/.config/openstack/clouds.yaml": passwordYAML},
			name: "telco", want: inFile},
		"of the folder of the configuration": {variables: set("XDG_CONFIG_HOME", "xdg"),
			files: map[string]string{"xdg/openstack/clouds.yaml": passwordYAML,
				"home/.config/openstack/clouds.yaml": "x"}, name: "telco", want: inFile},
		"of a file with a name": {variables: set("OS_CLIENT_CONFIG_FILE", "other.yaml"),
			files: map[string]string{"other.yaml": passwordYAML, "clouds.yaml": "x"}, name: "telco", want: inFile},
		"of a variable": {variables: set("OPENSTACK_CLOUD_YAML_B64",
			base64.StdEncoding.EncodeToString([]byte(passwordYAML))), files: map[string]string{"clouds.yaml": "x"},
			name: "telco", want: inFile},
		"region and interface of the shell": {variables: set("OS_CLOUD", "telco", "OS_REGION_NAME", "RegionOne",
			"OS_INTERFACE", "public"), files: map[string]string{"clouds.yaml": passwordYAML}, name: "telco",
			want: inFile},
		"what the shell holds of the same one": {variables: set("OS_CLOUD", "telco", "OS_AUTH_URL",
			"https://keystone.example.org:5000/v3/", "OS_USERNAME", "ada", "OS_PASSWORD", "other"),
			files: map[string]string{"clouds.yaml": passwordYAML}, name: "telco", want: inFile},
		"the password in a file of its own": {variables: set("OS_CLOUD", "telco"), name: "telco", want: inFile,
			files: map[string]string{
				"clouds.yaml": strings.Replace(passwordYAML, "password: 's3cret-1', ", "", 1),
				"secure.yaml": "clouds: {telco: {auth: {password: s3cret-1}}}"}},
		"the password in a variable": {variables: set("OS_CLOUD", "telco", "OS_PASSWORD", "s3cret-1"), name: "telco",
			want: inFile, files: map[string]string{
				"clouds.yaml": strings.Replace(passwordYAML, "password: 's3cret-1', ", "", 1)}},
		"a profile": {variables: set("OS_CLOUD", "telco"), name: "telco", want: inFile, files: map[string]string{
			"clouds.yaml": strings.Replace(passwordYAML, `auth_url: "https://keystone.example.org:5000/v3", `,
				"", 1) + "    profile: vendor\n",
			"clouds-public.yaml": "public-clouds: {vendor: {region_name: other, auth: {auth_url: " +
				"'https://keystone.example.org:5000/v3', username: someone}}}"}},
		"the only region": {name: "telco", want: inFile,
			files: map[string]string{"clouds.yaml": strings.Replace(passwordYAML, "region_name: RegionOne",
				"regions: [RegionOne]", 1)}},
		"a region with values of its own": {variables: set("OS_REGION_NAME", "RegionOne"), name: "telco", want: inFile,
			files: map[string]string{
				"clouds.yaml": strings.Replace(passwordYAML, "region_name: RegionOne",
					"regions: [{name: two}, {name: RegionOne, values: {auth: {username: ada}}}]", 1)}},
		"a CA of the file": {name: "telco", ca: true, want: inFile,
			files: map[string]string{"clouds.yaml": passwordYAML + "    cacert: pki/ca.pem\n",
				"pki/ca.pem": "some words\n" + ca + privateKey}},
		"a CA of the home folder": {name: "telco", ca: true, want: inFile,
			files: map[string]string{"clouds.yaml": passwordYAML + "    cacert: ~/ca.pem\n", "home/ca.pem": ca}},
		"a CA of the shell": {variables: set("OS_CACERT", "ca.pem"), name: "telco", ca: true, want: inFile,
			files: map[string]string{"clouds.yaml": passwordYAML + "    cacert: nowhere\n", "ca.pem": ca}},
		"a CA in a variable": {variables: set("OPENSTACK_CLOUD_CACERT_B64", base64.StdEncoding.EncodeToString(
			[]byte(ca))), name: "telco", ca: true, want: inFile, files: map[string]string{"clouds.yaml": passwordYAML}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			cloud, err := inFolder(t, test.variables, test.files).find()
			if err != nil {
				t.Fatalf("%v; hint: %s", err, fault.HintOf(err))
			}
			if cloud.Name != test.name {
				t.Errorf("name %q, want %q", cloud.Name, test.name)
			}
			if diff := cmp.Diff(test.want, string(cloud.Config)); diff != "" {
				t.Errorf("clouds.yaml (-want +got):\n%s", diff)
			}
			want := ""
			if test.ca {
				want = ca
			}
			if diff := cmp.Diff(want, string(cloud.CACert)); diff != "" {
				t.Errorf("CA (-want +got):\n%s", diff)
			}
		})
	}
}

// inFolder returns a finder for a folder of its own, with the home folder `home` in it.
func inFolder(t *testing.T, variables, files map[string]string) finder {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all := map[string]string{"HOME": "home"}
	for name, value := range variables {
		all[name] = value
	}
	f := finder{lookup: lookup(all)}
	f.folders = f.usualFolders()
	if last := len(f.folders) - 1; f.folders[last] != "/etc/openstack" {
		t.Fatalf("folders %v", f.folders)
	} else {
		f.folders = f.folders[:last] // the machine of the test may have one
	}
	return f
}

func TestFindTellsWhatIsMissing(t *testing.T) {
	file := func(text string) map[string]string { return map[string]string{"clouds.yaml": text} }
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	cases := map[string]struct {
		variables     map[string]string
		files         map[string]string
		failure, hint string
	}{
		"nothing": {failure: "no OpenStack credentials: OS_CLOUD and OS_AUTH_URL are not " +
			"set; looked for clouds.yaml in ., home/.config/openstack", hint: "Set OS_CLOUD"},
		"no file": {variables: set("OS_CLOUD", "telco"),
			failure: `no clouds.yaml for cloud "telco"; looked for`,
			hint:    "OS_CLIENT_CONFIG_FILE"},
		"no such file": {variables: set("OS_CLIENT_CONFIG_FILE", "nowhere.yaml"),
			files: file(passwordYAML), failure: "nowhere.yaml"},
		"no such cloud": {variables: set("OS_CLOUD", "other"), files: file(passwordYAML),
			failure: `clouds.yaml has no cloud "other"`, hint: "It has: telco"},
		"two clouds and no word": {files: file("clouds: {a: {}, b: {}}"),
			failure: "has 2 clouds, and OS_CLOUD does not select one", hint: "a, b"},
		"no clouds": {files: file(""), failure: "has 0 clouds"},
		"two names": {variables: set("OS_CLOUD", "a", "OPENSTACK_CLOUD", "b"),
			failure: `OS_CLOUD is "a" and OPENSTACK_CLOUD is "b"`},
		"a file and an openrc of another": {variables: openrc("OS_CLOUD", "telco", "OS_USERNAME", "bob"),
			files:   file(passwordYAML),
			failure: "these variables differ from its entry: OS_PROJECT_ID, OS_USERNAME", hint: "Unset OS_CLOUD"},
		"the only cloud, and parts of an rc": {variables: set("OS_USERNAME", "ada", "OS_PASSWORD", secret),
			files: file(passwordYAML), failure: "missing OS_AUTH_URL; OS_PROJECT_NAME or OS_PROJECT_ID"},
		"no password": {variables: openrc("OS_PASSWORD", ""), failure: "missing OS_PASSWORD"},
		"no user": {variables: openrc("OS_USERNAME", ""),
			failure: "missing OS_USERNAME or OS_USER_ID"},
		"an application credential's secret": {variables: set("OS_AUTH_URL", "http://k", "OS_APPLICATION_CREDENTIAL_ID",
			"1"), failure: "missing OS_APPLICATION_CREDENTIAL_SECRET"},
		"an application credential's user": {variables: set("OS_AUTH_URL", "http://k",
			"OS_APPLICATION_CREDENTIAL_NAME", "1", "OS_APPLICATION_CREDENTIAL_SECRET", secret),
			failure: "missing OS_APPLICATION_CREDENTIAL_ID or OS_USERNAME"},
		"parts of an entry": {files: file("clouds: {telco: {auth: {username: ada}}}"),
			failure: `missing auth.auth_url of cloud "telco" in clouds.yaml; auth.password of cloud "telco" in clouds.yaml; auth.project_name`},
		"an empty entry": {files: file("clouds: {telco: }"), failure: "auth.auth_url"},
		"password and credential": {variables: openrc("OS_APPLICATION_CREDENTIAL_ID", "1"),
			failure: "both an application credential and a password", hint: "OS_AUTH_TYPE"},
		"a token": {variables: set("OS_AUTH_URL", "http://k", "OS_TOKEN", secret),
			failure: "a token expires", hint: "application credential"},
		"a way that does not last": {variables: openrc("OS_AUTH_TYPE", "v3oidcpassword"),
			failure: `"v3oidcpassword" is not supported`},
		"a trust": {variables: openrc("OS_TRUST_ID", "1"),
			failure: "trust_id or system_scope is not supported"},
		"client certificates": {variables: openrc("OS_CERT", "x.pem"), failure: "client certificates"},
		"an address without a scheme": {variables: openrc("OS_AUTH_URL", "keystone:5000/v3"),
			failure: "OS_AUTH_URL is not an http or https address"},
		"an address with a password": {variables: openrc("OS_AUTH_URL", "https://ada:s3cret@k/v3"),
			failure: "OS_AUTH_URL contains more than an address"},
		"version 2": {variables: openrc("OS_AUTH_URL", "https://k/v2.0/"),
			failure: "OS_AUTH_URL is version 2"},
		"an interface": {variables: openrc("OS_INTERFACE", "secret"),
			failure: `interface (OS_INTERFACE) "secret" is not known`},
		"whether to verify": {variables: openrc("OS_INSECURE", "perhaps"),
			failure: `OS_INSECURE "perhaps"`},
		"a line break": {variables: openrc("OS_PASSWORD", "s3cret\n"),
			failure: "control characters"},
		"not base64": {variables: set("OPENSTACK_CLOUD_YAML_B64", "clouds: s3cret"),
			failure: "OPENSTACK_CLOUD_YAML_B64 is not base64"},
		"not YAML": {variables: set("OPENSTACK_CLOUD_YAML_B64",
			encode("clouds:\n  telco: {auth: {password: s3cret")), failure: "this is not a clouds.yaml"},
		"a list for a text": {files: file("clouds:\n  telco:\n    auth:\n      password: [s3cret]"),
			failure: "clouds.yaml, line 4: this is not a clouds.yaml"},
		"a text for a mapping": {files: file("clouds:\n  telco:\n    auth: s3cret"),
			failure: "clouds.yaml, line 3: this is not a clouds.yaml"},
		"a secure.yaml that is none": {files: map[string]string{"clouds.yaml": passwordYAML,
			"secure.yaml": "s3cret"}, failure: "secure.yaml"},
		"an unknown profile": {files: file(passwordYAML + "    profile: vendor\n"),
			failure: `has the profile "vendor", which no clouds-public.yaml contains`, hint: "auth_url"},
		"regions and no word": {files: file(strings.Replace(passwordYAML, "region_name: RegionOne",
			"regions: [one, two]", 1)), failure: `has regions, and "" is none of them`, hint: "one, two"},
		"verify in auth": {files: file("clouds:\n  telco:\n    auth:\n      verify: false\n"),
			failure: `cloud "telco" in clouds.yaml, line 4: verify is in auth`, hint: "Write verify at the level of auth"},
		"a region in auth": {files: file("clouds:\n  telco:\n    auth: {region: one}\n"),
			failure: `line 3: region is in auth`, hint: "Write region_name at the level of auth"},
		"a region by another name": {files: file(strings.Replace(passwordYAML, "region_name", "region", 1)),
			failure: "line 6: no client reads region", hint: "region_name: NAME"},
		"verify next to clouds": {files: file(passwordYAML + "verify: false\n"),
			failure: "clouds.yaml, line 7: verify is next to clouds", hint: `into the entry "telco"`},
		"no CA": {variables: openrc("OS_CACERT", "nowhere.pem"), failure: "nowhere.pem"},
		"a CA that is none": {variables: openrc("OS_CACERT", "clouds.yaml"), files: file("s3cret"),
			failure: "clouds.yaml contains no certificate in PEM"},
		"a private key alone": {variables: openrc("OS_CACERT", "clouds.yaml"), files: file(privateKey),
			failure: "contains no certificate in PEM"},
		"a CA that is not base64": {variables: openrc("OPENSTACK_CLOUD_CACERT_B64", "s3cret!"),
			failure: "OPENSTACK_CLOUD_CACERT_B64 is not base64"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := inFolder(t, test.variables, test.files).find()
			if fault.CodeOf(err) != fault.CredentialsMissing || !strings.Contains(err.Error(), test.failure) {
				t.Fatalf("error %v with code %s, want %q", err, fault.CodeOf(err), test.failure)
			}
			if hint := fault.HintOf(err); hint == "" || !strings.Contains(hint, test.hint) {
				t.Errorf("hint %q, want %q", hint, test.hint)
			}
			if strings.Contains(err.Error()+fault.HintOf(err), "s3cret") {
				t.Errorf("a secret is in the error: %v", err)
			}
		})
	}
}
