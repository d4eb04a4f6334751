package credentials

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// entry is the written form of a cloud. Cluster API's provider reads endpoint_type where the others read interface.
type entry struct {
	Auth         auth   `yaml:"auth"`
	AuthType     string `yaml:"auth_type,omitempty"`
	RegionName   string `yaml:"region_name,omitempty"`
	Interface    string `yaml:"interface,omitempty"`
	EndpointType string `yaml:"endpoint_type,omitempty"`
	Verify       *bool  `yaml:"verify,omitempty"`
}

// auth is the login. The fields after the blank line are only read.
type auth struct {
	AuthURL                     string `yaml:"auth_url,omitempty"`
	Username                    string `yaml:"username,omitempty"`
	UserID                      string `yaml:"user_id,omitempty"`
	UserDomainName              string `yaml:"user_domain_name,omitempty"`
	UserDomainID                string `yaml:"user_domain_id,omitempty"`
	Password                    string `yaml:"password,omitempty"`
	ProjectName                 string `yaml:"project_name,omitempty"`
	ProjectID                   string `yaml:"project_id,omitempty"`
	ProjectDomainName           string `yaml:"project_domain_name,omitempty"`
	ProjectDomainID             string `yaml:"project_domain_id,omitempty"`
	ApplicationCredentialID     string `yaml:"application_credential_id,omitempty"`
	ApplicationCredentialName   string `yaml:"application_credential_name,omitempty"`
	ApplicationCredentialSecret string `yaml:"application_credential_secret,omitempty"`

	DomainName    string `yaml:"domain_name,omitempty"`
	DomainID      string `yaml:"domain_id,omitempty"`
	DefaultDomain string `yaml:"default_domain,omitempty"`
	Token         string `yaml:"token,omitempty"`
	TrustID       string `yaml:"trust_id,omitempty"`
	SystemScope   string `yaml:"system_scope,omitempty"`
}

// source is a cloud as the user gives it.
type source struct {
	entry    `yaml:",inline"`
	Insecure *bool       `yaml:"insecure"`
	CACert   string      `yaml:"cacert"`
	Cert     string      `yaml:"cert"`
	Key      string      `yaml:"key"`
	Profile  string      `yaml:"profile"`
	Cloud    string      `yaml:"cloud"`
	Regions  []yaml.Node `yaml:"regions"`
}

// The supported ways to log in. A token is none: it expires, and a management cluster keeps using its credentials.
const (
	byPassword   = "password"
	byCredential = "v3applicationcredential"
)

// normalize returns the entry with only the fields that its way to log in needs, so that every client reads it alike.
func (s source) normalize(called func(field string) string) (entry, error) {
	e, a := s.entry, s.Auth
	if s.Cert != "" || s.Key != "" {
		return entry{}, missing("client certificates (cert, key, OS_CERT, OS_KEY) are not supported",
			"Use a password or an application credential.")
	}
	way, err := a.way(e.AuthType)
	if err != nil {
		return entry{}, err
	}
	if e.AuthType, e.Auth = way, a.byPassword(); way == byCredential {
		e.Auth = a.byCredential()
	}
	if lacks := e.Auth.missingFields(way, called); len(lacks) > 0 {
		return entry{}, missing("OpenStack credentials are incomplete: missing "+strings.Join(lacks, "; "),
			"Set them as docs/environments/openstack.md describes.")
	}
	if err := checkURL(e.Auth.AuthURL, called("auth_url")); err != nil {
		return entry{}, err
	}
	if e.Interface, err = s.availability(); err != nil {
		return entry{}, err
	}
	e.EndpointType = e.Interface
	insecure := e.Verify != nil && !*e.Verify
	if s.Insecure != nil {
		insecure = *s.Insecure
	}
	if e.Verify = nil; insecure {
		e.Verify = new(bool)
	}
	return e, nil
}

// way decides how to log in. An explicit auth_type wins, so that it resolves contradictory fields.
func (a auth) way(authType string) (string, error) {
	credential := a.ApplicationCredentialID != "" || a.ApplicationCredentialName != "" ||
		a.ApplicationCredentialSecret != ""
	switch authType {
	case "password", "v3password":
		return byPassword, nil
	case byCredential:
		return byCredential, nil
	case "":
	default:
		return "", missing(fmt.Sprintf("the way to log in %q is not supported", openstack.Printable(authType)),
			"Use password or v3applicationcredential as auth_type (OS_AUTH_TYPE).")
	}
	switch {
	case a.TrustID != "" || a.SystemScope != "":
		return "", missing("a trust_id or system_scope is not supported", "Use credentials of one project.")
	case credential && a.Password != "":
		return "", missing("there are both an application credential and a password",
			"Choose one with auth_type (OS_AUTH_TYPE): password or v3applicationcredential.")
	case credential:
		return byCredential, nil
	case a.Token != "" && a.Password == "":
		return "", missing("a token expires after some hours, and the management cluster keeps using the credentials",
			"Use a password or an application credential.")
	}
	return byPassword, nil
}

// byPassword keeps what a password needs. An id is more precise than a name, and clients refuse both.
func (a auth) byPassword() auth {
	kept := auth{AuthURL: a.AuthURL, Password: a.Password, ProjectID: a.ProjectID}
	kept.user(a)
	if kept.ProjectID == "" {
		if kept.ProjectName = a.ProjectName; kept.ProjectName != "" {
			kept.ProjectDomainID, kept.ProjectDomainName = a.domain(a.ProjectDomainID, a.ProjectDomainName)
		}
	}
	return kept
}

// byCredential keeps what an application credential needs. It implies its project, and identity refuses another one.
func (a auth) byCredential() auth {
	kept := auth{AuthURL: a.AuthURL, ApplicationCredentialSecret: a.ApplicationCredentialSecret,
		ApplicationCredentialID: a.ApplicationCredentialID}
	if kept.ApplicationCredentialID == "" {
		kept.ApplicationCredentialName = a.ApplicationCredentialName
		kept.user(a)
	}
	return kept
}

func (a *auth) user(from auth) {
	if a.UserID = from.UserID; a.UserID != "" {
		return
	}
	if a.Username = from.Username; a.Username != "" {
		a.UserDomainID, a.UserDomainName = from.domain(from.UserDomainID, from.UserDomainName)
	}
}

// domain returns the id or name of a domain: the given one, else that of the login, else its default, else "default".
func (a auth) domain(id, name string) (string, string) {
	switch {
	case id != "" || name != "":
	case a.DomainID != "" || a.DomainName != "":
		id, name = a.DomainID, a.DomainName
	default:
		id = cmp.Or(a.DefaultDomain, "default")
	}
	if id != "" {
		name = ""
	}
	return id, name
}

// missingFields names each required field that is missing.
func (a auth) missingFields(way string, called func(field string) string) []string {
	var lacks []string
	need := func(there bool, fields ...string) {
		if there {
			return
		}
		for i, field := range fields {
			fields[i] = called(field)
		}
		lacks = append(lacks, strings.Join(fields, " or "))
	}
	user := a.Username != "" || a.UserID != ""
	need(a.AuthURL != "", "auth_url")
	if way == byCredential {
		need(a.ApplicationCredentialID != "" || a.ApplicationCredentialName != "", "application_credential_id")
		need(a.ApplicationCredentialSecret != "", "application_credential_secret")
		need(user || a.ApplicationCredentialID != "" || a.ApplicationCredentialName == "", "application_credential_id",
			"username")
		return lacks
	}
	need(user, "username", "user_id")
	need(a.Password != "", "password")
	need(a.ProjectID != "" || a.ProjectName != "", "project_name", "project_id")
	return lacks
}

// availability is the interface of the endpoints to use. Empty means the public ones.
func (s source) availability() (string, error) {
	asked := cmp.Or(s.Interface, s.EndpointType)
	switch strings.TrimSuffix(asked, "URL") {
	case "", "public":
		return "", nil
	case "internal":
		return "internal", nil
	case "admin":
		return "admin", nil
	}
	return "", missing(fmt.Sprintf("interface (OS_INTERFACE) %q is not known", openstack.Printable(asked)),
		"Use public, internal or admin.")
}

// checkURL refuses an identity address that clients do not accept. It does not quote it: it may contain a password.
func checkURL(text, called string) error {
	parsed, err := url.Parse(text)
	switch {
	case err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Hostname() == "":
		return missing(called+" is not an http or https address", "Set it as https://HOST:5000/v3.")
	case parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "":
		return missing(called+" contains more than an address", "Set it as https://HOST:5000/v3.")
	case strings.HasSuffix(strings.TrimRight(parsed.Path, "/"), "/v2.0"):
		return missing(called+" is version 2 of the identity API, which is not supported",
			"Use the address that ends in /v3.")
	}
	return nil
}

// write makes a clouds.yaml of one entry.
func write(name string, e entry) ([]byte, error) {
	a := e.Auth
	for _, text := range []string{name, e.RegionName, a.AuthURL, a.Username, a.UserID, a.UserDomainName, a.UserDomainID,
		a.Password, a.ProjectName, a.ProjectID,
		a.ProjectDomainName, a.ProjectDomainID, a.ApplicationCredentialID, a.ApplicationCredentialName,
		a.ApplicationCredentialSecret} {
		// YAML parsers read control characters differently
		if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			return nil, missing("the OpenStack credentials contain control characters",
				"Remove line breaks at the end of names and passwords.")
		}
	}
	text, err := yaml.Marshal(map[string]any{"clouds": map[string]entry{name: e}})
	if err != nil { // the error may quote a secret
		return nil, missing(fmt.Sprintf("the credentials of cloud %q cannot be written as YAML", name),
			openstack.CredentialsHint)
	}
	return text, nil
}
