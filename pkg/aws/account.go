package aws

import (
	"context"
	"encoding/xml"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

// Identity is whose credentials they are.
type Identity struct {
	// Account is the number of the AWS account, ARN the name of the user or role.
	Account string `xml:"GetCallerIdentityResult>Account"`
	ARN     string `xml:"GetCallerIdentityResult>Arn"`
}

// Identity asks STS, which needs no permission: a refusal is one of the credentials themselves.
func (c *Client) Identity(ctx context.Context) (Identity, error) {
	var found Identity
	return found, c.query(ctx, sts, "GetCallerIdentity", nil, &found)
}

// InstanceProfile returns nil if the instance profile exists, and an error with the code NoSuchEntity if not.
func (c *Client) InstanceProfile(ctx context.Context, name string) error {
	return c.query(ctx, iam, "GetInstanceProfile", url.Values{"InstanceProfileName": {name}}, nil)
}

// Bucket is what S3 says of a name.
type Bucket struct {
	// Exists is false if no account has a bucket of this name.
	Exists bool
	// Forbidden reports that it exists, and may not be looked at: it may belong to another account.
	Forbidden bool
	// Region is the bucket's. Empty means not known.
	Region string
}

// Bucket looks at a bucket.
func (c *Client) Bucket(ctx context.Context, name string) (Bucket, error) {
	reply, err := c.send(ctx, s3, http.MethodHead, "/"+url.PathEscape(name), http.Header{}, nil)
	if err != nil {
		return Bucket{}, err
	}
	found := Bucket{Exists: true, Region: reply.header.Get("X-Amz-Bucket-Region")}
	switch reply.status {
	case http.StatusOK:
	case http.StatusNotFound:
		return Bucket{}, nil
	case http.StatusForbidden:
		found.Forbidden = true
	case http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusBadRequest:
		if found.Region == "" || found.Region == c.Region {
			return Bucket{}, refusal(s3, "HeadBucket", reply.status, "")
		}
	default:
		return Bucket{}, refusal(s3, "HeadBucket", reply.status, "")
	}
	return found, nil
}

// OwnsBucket reports whether the account of the credentials has the bucket.
func (c *Client) OwnsBucket(ctx context.Context, name string) (bool, error) {
	reply, err := c.send(ctx, s3, http.MethodGet, "/", http.Header{}, nil)
	if err != nil {
		return false, err
	}
	var list struct {
		Code  string   `xml:"Code"`
		Names []string `xml:"Buckets>Bucket>Name"`
	}
	if err := xml.Unmarshal(reply.body, &list); err != nil || reply.status != http.StatusOK {
		return false, refusal(s3, "ListBuckets", reply.status, list.Code)
	}
	return slices.Contains(list.Names, name), nil
}

// Quota returns the limit of a quota of this account and region.
func (c *Client) Quota(ctx context.Context, service, quota string) (float64, error) {
	var found struct {
		Quota struct{ Value *float64 }
	}
	err := c.call(ctx, "GetServiceQuota", map[string]string{"ServiceCode": service, "QuotaCode": quota}, &found)
	if err == nil && found.Quota.Value == nil {
		err = refusal(quotas, "GetServiceQuota", http.StatusOK, "")
	}
	if err != nil {
		return 0, err
	}
	return *found.Quota.Value, nil
}

// listed are the parameters of a list: NAME.1, NAME.2 and so on.
func listed(name string, values ...string) url.Values {
	form := url.Values{}
	for n, value := range values {
		form.Set(name+"."+strconv.Itoa(n+1), value)
	}
	return form
}
