package environment

import (
	"encoding/base64"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// cloudPlace is the place that credentials of OpenStack lead to, as far as they name it.
type cloudPlace struct {
	Auth struct {
		URL         string `json:"auth_url"`
		ProjectID   string `json:"project_id"`
		ProjectName string `json:"project_name"`
	} `json:"auth"`
	Region string `json:"region_name"`
}

// place reads it from the values. What cannot be read is empty, as if not named.
func (v openStackValues) place() cloudPlace {
	text, err := base64.StdEncoding.DecodeString(v.CloudsYAML)
	var file struct {
		Clouds map[string]cloudPlace `json:"clouds"`
	}
	if err != nil || unpack.Unmarshal(text, &file) != nil {
		return cloudPlace{}
	}
	return file.Clouds[v.CloudName]
}

// elsewhere returns a text if other credentials lead to another cloud, region or project. Empty means nothing shows
// that.
func (v openStackValues) elsewhere(after openStackValues) string {
	one, other := v.place(), after.place()
	for _, pair := range [][2]string{{strings.TrimRight(one.Auth.URL, "/"), strings.TrimRight(other.Auth.URL, "/")},
		{one.Region, other.Region},
		{one.Auth.ProjectID, other.Auth.ProjectID}, {one.Auth.ProjectName, other.Auth.ProjectName}} {
		if pair[0] != "" && pair[1] != "" && pair[0] != pair[1] {
			return "the credentials are of another cloud, region or project, which does not have what was made"
		}
	}
	return ""
}
