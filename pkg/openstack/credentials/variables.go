package credentials

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// variables are those of an openrc file, and the fields that they set.
func (s *source) variables() map[string]*string {
	a := &s.Auth
	return map[string]*string{
		"OS_AUTH_URL": &a.AuthURL, "OS_AUTH_TYPE": &s.AuthType,
		"OS_USERNAME": &a.Username, "OS_USER_ID": &a.UserID, "OS_USER_DOMAIN_NAME": &a.UserDomainName,
		"OS_USER_DOMAIN_ID": &a.UserDomainID,
		"OS_PASSWORD":       &a.Password,
		"OS_PROJECT_NAME":   &a.ProjectName, "OS_PROJECT_ID": &a.ProjectID,
		"OS_PROJECT_DOMAIN_NAME": &a.ProjectDomainName, "OS_PROJECT_DOMAIN_ID": &a.ProjectDomainID,
		"OS_DOMAIN_NAME": &a.DomainName, "OS_DOMAIN_ID": &a.DomainID, "OS_DEFAULT_DOMAIN": &a.DefaultDomain,
		"OS_APPLICATION_CREDENTIAL_ID":     &a.ApplicationCredentialID,
		"OS_APPLICATION_CREDENTIAL_NAME":   &a.ApplicationCredentialName,
		"OS_APPLICATION_CREDENTIAL_SECRET": &a.ApplicationCredentialSecret,
		"OS_TOKEN":                         &a.Token, "OS_TRUST_ID": &a.TrustID, "OS_SYSTEM_SCOPE": &a.SystemScope,
	}
}

// identifying returns the set variables that identify the cloud and the user, sorted. Region, interface and domains
// alone identify no cloud.
func (f finder) identifying() []string {
	var set []string
	for _, name := range []string{"OS_APPLICATION_CREDENTIAL_ID", "OS_APPLICATION_CREDENTIAL_NAME",
		"OS_APPLICATION_CREDENTIAL_SECRET", "OS_AUTH_URL",
		"OS_PASSWORD", "OS_PROJECT_ID", "OS_PROJECT_NAME", "OS_TOKEN", "OS_USERNAME", "OS_USER_ID"} {
		if f.get(name) != "" {
			set = append(set, name)
		}
	}
	return set
}

// overlay lets variables choose within the cloud of a file, and add the secret that the file omits. They must not name
// another cloud, project or user: an openrc file that the shell sourced earlier would otherwise decide where a cluster
// is made.
func (f finder) overlay(cloud string, e *source) error {
	fields := e.variables()
	var others []string
	for _, name := range f.identifying() {
		field := fields[name]
		switch {
		case name == "OS_PASSWORD" || name == "OS_APPLICATION_CREDENTIAL_SECRET":
			if *field == "" && e.takes(name) {
				*field = f.get(name)
			}
		case strings.TrimRight(f.get(name), "/") != strings.TrimRight(*field, "/"):
			others = append(others, name)
		}
	}
	if len(others) > 0 {
		slices.Sort(others)
		return missing(fmt.Sprintf("cloud %q of a clouds.yaml is requested, but these variables differ from its "+
			"entry: %s", cloud, strings.Join(others, ", ")),
			"Unset OS_CLOUD to use the variables, or unset the variables to use the clouds.yaml.")
	}
	return f.choices(e)
}

// takes reports whether a secret belongs to the entry's way to log in.
func (s *source) takes(variable string) bool {
	credential := s.AuthType == byCredential || s.AuthType == "" && (s.Auth.ApplicationCredentialID != "" ||
		s.Auth.ApplicationCredentialName != "")
	return credential == (variable == "OS_APPLICATION_CREDENTIAL_SECRET")
}

// choices applies the variables that are valid for every kind of credentials. They override the entry.
func (f finder) choices(e *source) error {
	e.RegionName = cmp.Or(f.get("OS_REGION_NAME"), e.RegionName)
	e.Interface = cmp.Or(f.get("OS_INTERFACE"), f.get("OS_ENDPOINT_TYPE"), e.Interface)
	e.CACert = cmp.Or(f.get("OS_CACERT"), e.CACert)
	e.Cert, e.Key = cmp.Or(f.get("OS_CERT"), e.Cert), cmp.Or(f.get("OS_KEY"), e.Key)
	if text := f.get("OS_INSECURE"); text != "" {
		insecure, err := strconv.ParseBool(strings.ToLower(text))
		if err != nil {
			return missing(fmt.Sprintf("OS_INSECURE %q is neither true nor false", openstack.Printable(text)),
				"Unset it, or set it to true or false.")
		}
		e.Insecure = &insecure
	}
	return nil
}
