package openstack

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"
	"go.yaml.in/yaml/v3"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// readLogin returns how to log in to a cloud, which endpoints to use, and whom to trust. The library's clouds.Parse
// would also apply OS_CACERT, OS_CERT and OS_KEY of the process, which may belong to another cloud.
func readLogin(cloud Cloud) (gophercloud.AuthOptions, gophercloud.EndpointOpts, *tls.Config, error) {
	refuse := func(message, hint string) (gophercloud.AuthOptions, gophercloud.EndpointOpts, *tls.Config, error) {
		return gophercloud.AuthOptions{}, gophercloud.EndpointOpts{}, nil,
			fault.New(fault.CredentialsMissing, message, hint)
	}
	var file clouds.Clouds
	err := yaml.Unmarshal(cloud.Config, &file)
	entry, known := file.Clouds[cloud.Name]
	if err != nil || !known || entry.AuthInfo == nil { // the error may quote a secret
		return refuse(fmt.Sprintf("the clouds.yaml with cloud %q cannot be read, or has no such cloud", cloud.Name),
			CredentialsHint)
	}
	trust := &tls.Config{InsecureSkipVerify: entry.Verify != nil && !*entry.Verify} // as the user requests
	if len(cloud.CACert) > 0 {
		trust.RootCAs = x509.NewCertPool()
		if !trust.RootCAs.AppendCertsFromPEM(cloud.CACert) {
			return refuse(fmt.Sprintf("the CA certificate of cloud %q is not in PEM", cloud.Name),
				"Set it as docs/environments/openstack.md describes.")
		}
	}
	login := entry.AuthInfo
	return gophercloud.AuthOptions{
			IdentityEndpoint:            login.AuthURL,
			Username:                    login.Username,
			UserID:                      login.UserID,
			Password:                    login.Password,
			DomainID:                    login.UserDomainID,
			DomainName:                  login.UserDomainName,
			Scope:                       projectScope(login),
			ApplicationCredentialID:     login.ApplicationCredentialID,
			ApplicationCredentialName:   login.ApplicationCredentialName,
			ApplicationCredentialSecret: login.ApplicationCredentialSecret,
			AllowReauth:                 true,
		}, gophercloud.EndpointOpts{
			Region:       entry.RegionName,
			Availability: availability(cmp.Or(entry.EndpointType, entry.Interface)),
		}, trust, nil
}

// projectScope returns the project to log in to. Nil means that the login implies it: an application credential does.
func projectScope(login *clouds.AuthInfo) *gophercloud.AuthScope {
	switch {
	case login.ProjectID != "":
		return &gophercloud.AuthScope{ProjectID: login.ProjectID}
	case login.ProjectName != "":
		return &gophercloud.AuthScope{ProjectName: login.ProjectName, DomainID: login.ProjectDomainID,
			DomainName: login.ProjectDomainName}
	}
	return nil
}

// availability returns the kind of endpoints that an interface names: the public ones unless it names others.
func availability(endpoints string) gophercloud.Availability {
	switch strings.TrimSuffix(endpoints, "URL") {
	case "internal":
		return gophercloud.AvailabilityInternal
	case "admin":
		return gophercloud.AvailabilityAdmin
	}
	return gophercloud.AvailabilityPublic
}
