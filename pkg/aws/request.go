package aws

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"time"
)

// mostBytes bounds an answer.
const mostBytes = 8 << 20

// query calls an action of a query API. It decodes the answer's XML into answer; nil means that it is not read.
func (c *Client) query(ctx context.Context, of service, action string, form url.Values, answer any) error {
	if form == nil {
		form = url.Values{}
	}
	form.Set("Action", action)
	form.Set("Version", of.version)
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded; charset=utf-8"}}
	reply, err := c.send(ctx, of, http.MethodPost, "/", header, []byte(form.Encode()))
	if err != nil {
		return err
	}
	if reply.status != http.StatusOK {
		var failure struct {
			Code   string `xml:"Error>Code"`
			Nested string `xml:"Errors>Error>Code"` // of EC2
		}
		_ = xml.Unmarshal(reply.body, &failure) // the status remains
		return refusal(of, action, reply.status, failure.Code+failure.Nested)
	}
	if answer == nil {
		return nil
	}
	if err := xml.Unmarshal(reply.body, answer); err != nil {
		return refusal(of, action, reply.status, "")
	}
	return nil
}

// call calls an action of Service Quotas, whose API speaks JSON.
func (c *Client) call(ctx context.Context, action string, input, answer any) error {
	body, err := json.Marshal(input)
	if err != nil {
		return err
	}
	header := http.Header{"Content-Type": {"application/x-amz-json-1.1"},
		"X-Amz-Target": {"ServiceQuotasV20190624." + action}}
	reply, err := c.send(ctx, quotas, http.MethodPost, "/", header, body)
	if err != nil {
		return err
	}
	if reply.status != http.StatusOK {
		var failure struct {
			Type string `json:"__type"`
		}
		_ = json.Unmarshal(reply.body, &failure) // the status remains
		return refusal(quotas, action, reply.status, namespace.ReplaceAllString(failure.Type, ""))
	}
	if err := json.Unmarshal(reply.body, answer); err != nil {
		return refusal(quotas, action, reply.status, "")
	}
	return nil
}

// namespace stands before the name of an error in JSON.
var namespace = regexp.MustCompile(`^.*#`)

// reply is an answer, whatever its status.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func (c *Client) send(ctx context.Context, to service, method, path string, header http.Header, body []byte) (reply,
	error) {
	address, region := c.endpoint(ctx, to)
	request, err := http.NewRequestWithContext(ctx, method, address+path, bytes.NewReader(body))
	if err != nil {
		return reply{}, &Error{Service: to.name, cause: err}
	}
	request.Header = header
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	request.Header.Set("X-Amz-Content-Sha256", hash) // S3 demands it
	if err := c.signer.SignHTTP(ctx, c.credentials, request, hash, to.name, region, time.Now()); err != nil {
		return reply{}, &Error{Service: to.name, cause: err}
	}
	response, err := c.http.Do(request)
	if err != nil {
		return reply{}, &Error{Service: to.name, cause: err}
	}
	defer func() { _ = response.Body.Close() }() // it is read, or abandoned
	text, err := io.ReadAll(io.LimitReader(response.Body, mostBytes))
	if err != nil {
		return reply{}, &Error{Service: to.name, cause: err}
	}
	return reply{status: response.StatusCode, header: response.Header, body: text}, nil
}
