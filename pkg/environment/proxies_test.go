package environment_test

import (
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

func TestProxiesAreNormalizedOrRefusedByName(t *testing.T) {
	const form = "variable http_proxy: want http://HOST:PORT"
	cases := map[string]struct {
		given   string // of http_proxy
		want    string // the value; not checked where the proxy is refused
		refused string
	}{
		"none":     {given: "", want: ""},
		"the form": {given: "http://proxy.example.org:3128", want: "http://proxy.example.org:3128"},
		"over TLS": {given: "https://proxy.example.org:3128",
			want: "https://proxy.example.org:3128"},
		"without a scheme": {given: "proxy.example.org:3128", want: "http://proxy.example.org:3128"},
		"a user without a scheme": {given: "me:secret@proxy.example.org:3128",
			want: "http://me:secret@proxy.example.org:3128"},
		"an upper-case scheme": {given: "HTTP://proxy.example.org:3128", want: "http://proxy.example.org:3128"},
		"a blank at the end": {given: "http://proxy.example.org:3128 ",
			want: "http://proxy.example.org:3128"},
		"IPv6": {given: "[fd00::1]:3128", want: "http://[fd00::1]:3128"},
		"an encoded password": {given: "http://user:p%40ss%23@proxy.example.org:3128/",
			want: "http://user:p%40ss%23@proxy.example.org:3128/"},
		"a number sign in a password":  {given: "http://cda:Passw0rd#@192.0.2.10:3128", refused: form},
		"a percent sign in a password": {given: "http://user:abc%G4g@proxy.example.org:3128", refused: form},
		"a domain before the user":     {given: `http://DOMAIN\user:pw@proxy.example.org:3128`, refused: form},
		"no port":                      {given: "http://proxy.example.org:3128x", refused: form},
		"a port that does not exist":   {given: "http://proxy.example.org:99999", refused: form},
		"SOCKS":                        {given: "socks5://proxy.example.org:1080", refused: form},
		"SOCKS, names at the proxy":    {given: "socks5h://proxy.example.org:1080", refused: form},
		"a path":                       {given: "http://proxy.example.org:3128/pac", refused: form},
		"a query":                      {given: "http://proxy.example.org:3128?a=b", refused: form},
		"braces in a password":         {given: "http://u:a${b}@proxy.example.org:3128", refused: form},
		"no host":                      {given: "http://:3128", refused: form},
		"a word":                       {given: "none", refused: form},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd",
				Content: clusterinit.Content(), Variables: variables(map[string]string{"http_proxy": tc.given})})
			if tc.refused != "" {
				refusedAs(t, err, tc.refused)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := env.Spec().Proxies.HTTP; got != tc.want {
				t.Errorf("it is %q, want %q", got, tc.want)
			}
		})
	}
}

// refusedAs verifies that an error is of a value, begins a line with text, and quotes no password.
func refusedAs(t *testing.T, err error, text string) {
	t.Helper()
	if fault.CodeOf(err) != fault.ValuesInvalid || !strings.HasPrefix(err.Error(), text) {
		t.Fatalf("it is %v, want %q", err, text)
	}
	for _, secret := range []string{"Passw0rd", "abc%G4g", "pw"} {
		if strings.Contains(err.Error()+fault.HintOf(err), secret) {
			t.Errorf("it quotes a password: %v", err)
		}
	}
}

func TestNoProxyIsNormalizedOrRefusedByName(t *testing.T) {
	cases := map[string]struct{ given, want, refused string }{
		"names and ranges": {given: ".example.org,localhost,127.0.0.1,10.0.0.0/8",
			want: ".example.org,localhost,127.0.0.1,10.0.0.0/8"},
		"blanks and empty entries":  {given: "localhost, , 127.0.0.1,", want: "localhost,127.0.0.1"},
		"blanks in place of commas": {given: "localhost 127.0.0.1\n10.0.0.0/8", want: "localhost,127.0.0.1,10.0.0.0/8"},
		"a domain with a star":      {given: "*.example.org", want: ".example.org"},
		"IPv6":                      {given: "fd00::/8,[::1],::1", want: "fd00::/8,::1,::1"},
		"a port": {given: "mirror.example.org:5000,192.0.2.1:80,[::1]:80",
			want: "mirror.example.org:5000,192.0.2.1:80,[::1]:80"},
		"a network with a star": {given: "localhost,172.17.*,10.0.*", refused: "variable no_proxy: want names, " +
			".DOMAIN, IP addresses and ranges as 10.0.0.0/8, not 172.17.*, 10.0.*"},
		"everything": {given: "*", refused: "variable no_proxy: want names, .DOMAIN, IP addresses and " +
			"ranges as 10.0.0.0/8, not *"},
		"semicolons": {given: "localhost;127.0.0.1", refused: "variable no_proxy: want names, .DOMAIN, " +
			"IP addresses and ranges as 10.0.0.0/8, not localhost;127.0.0.1"},
		"an address of a page": {given: "http://example.org", refused: "variable no_proxy: want names, .DOMAIN, " +
			"IP addresses and ranges as 10.0.0.0/8, not http://example.org"},
		"an address with a password": {given: "localhost,http://user:Passw0rd@proxy:3128", refused: "variable " +
			"no_proxy: want names, .DOMAIN, IP addresses and ranges as 10.0.0.0/8"},
		"a password with a comma and a blank": {given: "http://user:Passw0rd;,pw; pw/@proxy:3128", refused: "" +
			"variable no_proxy: want names, .DOMAIN, IP addresses and ranges as 10.0.0.0/8"},
		"a range that is none": {given: "10.0.0.0/33",
			refused: "variable no_proxy: want names, .DOMAIN, IP addresses and ranges as 10.0.0.0/8, not 10.0.0.0/33"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd",
				Content: clusterinit.Content(), Variables: variables(map[string]string{"no_proxy": tc.given})})
			if tc.refused != "" {
				refusedAs(t, err, tc.refused)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := env.Spec().Proxies.NoProxy; got != tc.want {
				t.Errorf("it is %q, want %q", got, tc.want)
			}
		})
	}
}

// A proxy has many origins: the message names the one that counts.
func TestProxyProblemsNameTheirOrigin(t *testing.T) {
	cases := map[string]struct {
		options environment.Options
		want    string
	}{
		"a variable in upper case": {environment.Options{Variables: variables(
			map[string]string{"HTTPS_PROXY": "ftp://a:1"})}, "variable HTTPS_PROXY: want http://HOST:PORT"},
		"a flag with a password": {environment.Options{Sets: []string{"proxies.no_proxy=http://a:pw@b:1"}},
			"--set: proxies.no_proxy: want names"},
		"a flag": {environment.Options{Sets: []string{"proxies.https_proxy=ftp://a:1"}},
			"--set: proxies.https_proxy: want http://HOST:PORT"},
		"a flag over a variable": {environment.Options{Variables: variables(
			map[string]string{"https_proxy": "http://a:1"}), Sets: []string{"proxies.https_proxy=ftp://a:1"}},
			"--set: proxies.https_proxy: want"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.options.Name, tc.options.Content = "kubeadm-capd", clusterinit.Content()
			_, err := environment.Load(t.Context(), tc.options)
			refusedAs(t, err, tc.want)
		})
	}
}

// Who only wants names, to look or to delete, needs no proxy that works.
func TestNamesNeedNoProxies(t *testing.T) {
	_, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		NamesOnly: true, Sets: []string{"proxies.no_proxy=172.17.*"},
		Variables: variables(map[string]string{"http_proxy": "socks5://a:1", "https_proxy": "a b"})})
	if err != nil {
		t.Error(err)
	}
}
