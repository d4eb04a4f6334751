package aws

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Error is a request without the wanted answer. Its text quotes no answer: AWS repeats the signed request in some, with
// the session token.
type Error struct {
	// Service and Action are what was asked.
	Service, Action string
	// Status is the answer's. Zero means that there was none.
	Status int
	// Code is AWS's name of the error, such as InvalidAMIID.NotFound. Empty means that the answer has none.
	Code  string
	cause error
}

var code = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

// refusal is the error of an answer. A name that no service of AWS uses is left out.
func refusal(of service, action string, status int, name string) error {
	if !code.MatchString(name) {
		name = ""
	}
	return &Error{Service: of.name, Action: action, Status: status, Code: name}
}

// Error says what was asked and what came.
func (e *Error) Error() string {
	asked := strings.TrimSpace(e.Service + " " + e.Action)
	switch {
	case e.Status == 0:
		return asked + ": " + networkReason(e.cause)
	case e.Code == "" && e.Status == http.StatusOK:
		return asked + ": the answer is not AWS's"
	case e.Code == "":
		return fmt.Sprintf("%s: the answer is %d", asked, e.Status)
	}
	return fmt.Sprintf("%s: %s (%d)", asked, e.Code, e.Status)
}

// Unwrap returns the network's error.
func (e *Error) Unwrap() error { return e.cause }

// networkReason leaves out the request's address, which the library repeats.
func networkReason(err error) string {
	if errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
		return "no answer in time"
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err
	}
	return err.Error()
}

func isTimeout(err error) bool {
	network, ok := errors.AsType[net.Error](err)
	return ok && network.Timeout()
}

// Is reports whether err is an answer with one of these codes.
func Is(err error, codes ...string) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code != "" && slices.Contains(codes, e.Code)
}

// Forbidden reports whether AWS knows these credentials, and does not permit them the request.
func Forbidden(err error) bool {
	return Is(err, "AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "UnauthorizedException")
}

const (
	addressHint = "Check the region (cluster.aws.region), the proxy (https_proxy, no_proxy), and whether this machine " +
		"reaches AWS."
	trustHint  = "Set AWS_CA_BUNDLE to a file with the certificate of the authority, usually that of a proxy."
	failsHint  = "Run the same command again later: AWS itself fails, or there were too many requests."
	regionHint = "Enable the region for the AWS account (Account Settings, AWS Regions), or use another one."
)

// Explain turns a request's error into one for users, which begins with the failed action. Without an answer, or if the
// service fails, the code is fault.CloudUnreachable; for credentials that AWS does not accept it is fault.CloudRefused.
// Other errors, and an interruption, have no code.
func Explain(what string, err error) error {
	e, ok := errors.AsType[*Error](err)
	explained := fmt.Errorf("%s: %w", what, err)
	switch {
	case !ok || errors.Is(err, context.Canceled):
		return explained
	case e.Status == 0:
		if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
			return fault.Wrap(explained, fault.CloudUnreachable, trustHint)
		}
		return fault.Retryable(explained, fault.CloudUnreachable, addressHint)
	case e.Status == http.StatusOK || e.Status/100 == 3:
		return fault.Wrap(explained, fault.CloudUnreachable, addressHint)
	case e.Status == http.StatusTooManyRequests || e.Status >= 500 ||
		strings.Contains(e.Code, "Throttl") || e.Code == "RequestLimitExceeded":
		return fault.Retryable(explained, fault.CloudUnreachable, failsHint)
	}
	for _, refused := range refusals {
		if slices.Contains(refused.codes, e.Code) {
			return fault.Wrap(fmt.Errorf("%s: %s: %w", what, refused.reason, err), fault.CloudRefused, refused.hint)
		}
	}
	return explained
}

// refusals are the answers to credentials that are not accepted.
var refusals = []struct {
	codes        []string
	reason, hint string
}{
	{[]string{"ExpiredToken", "ExpiredTokenException", "RequestExpired"}, "the session credentials have expired",
		"Get new ones (`aws sso login`, or assume the role again), or use keys of an IAM user, which do not expire."},
	{[]string{"InvalidClientTokenId", "UnrecognizedClientException", "InvalidAccessKeyId",
		"MissingAuthenticationToken"},
		"AWS does not know the access key, or the region is not enabled for its account",
		"Check the access key (AWS_ACCESS_KEY_ID, AWS_PROFILE or AWS_B64ENCODED_CREDENTIALS), and that the account has " +
			"the region."},
	{[]string{"SignatureDoesNotMatch", "RequestTimeTooSkewed", "IncompleteSignature", "InvalidSignatureException"},
		"the secret key does not belong to the access key, or this machine's clock is wrong",
		"Check the secret key, and the clock of this machine."},
	{[]string{"AuthFailure", "OptInRequired", "RegionDisabledException"},
		"the account cannot use EC2 in this region", regionHint},
}
