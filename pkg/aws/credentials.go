package aws

import (
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// Credentials are keys of one AWS user or role. They never show themselves in formatted text or logs.
type Credentials struct {
	AccessKeyID, SecretAccessKey string
	SessionToken                 string // for temporary credentials, else empty
	Region                       string // empty: none
}

const hidden = "AWS credentials (hidden)"

// Format writes no part of the credentials, whatever the verb.
func (Credentials) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// LogValue holds no part of the credentials.
func (Credentials) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalJSON holds no part of the credentials.
func (Credentials) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// Profile returns what `clusterawsadm bootstrap credentials encode-as-profile` prints: a credentials file with the
// profile default, in base64 on one line.
func (c Credentials) Profile() string {
	lines := []string{"[default]", "aws_access_key_id = " + c.AccessKeyID, "aws_secret_access_key = " +
		c.SecretAccessKey}
	if c.Region != "" {
		lines = append(lines, "region = "+c.Region)
	}
	if c.SessionToken != "" {
		lines = append(lines, "aws_session_token = "+c.SessionToken)
	}
	return base64.StdEncoding.EncodeToString([]byte(strings.Join(lines, "\n") + "\n"))
}

// NoProfile is the Profile of no credentials: its reader uses the next link of the chain.
const NoProfile = "Cg=="

// ParseProfile reads what Profile returns, or clusterawsadm prints. found is false for a profile without keys, such as
// NoProfile. Its error quotes nothing.
func ParseProfile(encoded string) (c Credentials, found bool, err error) {
	text, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return Credentials{}, false, errors.New("the AWS credentials are not base64")
	}
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[] ")
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if section != "default" {
			continue
		}
		switch value = strings.TrimSpace(value); strings.ToLower(strings.TrimSpace(key)) {
		case "aws_access_key_id":
			c.AccessKeyID = value
		case "aws_secret_access_key":
			c.SecretAccessKey = value
		case "aws_session_token":
			c.SessionToken = value
		case "region":
			c.Region = value
		}
	}
	return c, c.AccessKeyID != "" && c.SecretAccessKey != "", nil
}
