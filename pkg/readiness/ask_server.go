package readiness

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// mostAnswer is the maximum size of an answer, in bytes.
const mostAnswer = 1 << 20

// serverQuestions check the API server's own readiness, clock and certificate, the configuration of CoreDNS and
// kube-proxy, and the certificates stored in the cluster.
func (o *observing) serverQuestions() []question {
	return []question{o.readyz, o.configuration("coredns"), o.configuration("kube-proxy"),
		o.certificatesOf("kubernetes.io/tls"), o.certificatesOf("cluster.x-k8s.io/secret")}
}

func (o *observing) readyz(ctx context.Context) {
	answer, body, err := o.Raw(ctx, "/readyz?verbose", mostAnswer)
	if err != nil {
		o.notChecked("the readiness of the %s cluster's API server: %v", o.Name, err)
		return
	}
	if at, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		o.mu.Lock()
		o.seen.At, o.seen.Local = at, time.Now()
		o.mu.Unlock()
	} else {
		o.notChecked("the clock of the %s cluster's API server: it sends no time", o.Name)
	}
	if answer.TLS != nil && len(answer.TLS.PeerCertificates) > 0 {
		o.expires(Expiry{Object: health.Ref{Kind: "APIServer", Name: o.Name},
			What: "certificate of the API server at " + o.Config.Host, At: answer.TLS.PeerCertificates[0].NotAfter})
	}
	if answer.StatusCode == http.StatusOK {
		o.probed(Probe{Kind: ReadyCheck, Object: health.Ref{Kind: "Check", Name: "readyz"}, OK: true})
		return
	}
	failed := 0
	for line := range strings.Lines(string(body)) {
		if rest, is := strings.CutPrefix(strings.TrimSpace(line), "[-]"); is {
			name, why, _ := strings.Cut(rest, " ")
			failed++
			o.probed(Probe{Kind: ReadyCheck, Object: health.Ref{Kind: "Check", Name: name}, Message: why})
		}
	}
	if failed == 0 {
		o.notChecked("the readiness of the %s cluster's API server: %s", o.Name, answer.Status)
	}
}

// configuration reads one of the ConfigMaps with which a part of Kubernetes starts. If it does not exist, that part
// does not use it.
func (o *observing) configuration(name string) question {
	return func(ctx context.Context) {
		var m corev1.ConfigMap
		key := client.ObjectKey{Namespace: systemNamespace, Name: name}
		switch err := o.Get(ctx, key, &m); {
		case client.IgnoreNotFound(err) != nil:
			o.notChecked("the configuration of %s in the %s cluster: %v", name, o.Name, err)
		case err == nil:
			wrong := readable(name, m.Data)
			o.probed(Probe{Kind: Configuration, Object: health.Ref{Kind: "ConfigMap", Namespace: key.Namespace,
				Name: name}, OK: wrong == "", Message: wrong})
		}
	}
}

// certificatesOf reads when the certificates in Secrets of a type expire. It keeps nothing else of them.
func (o *observing) certificatesOf(kind corev1.SecretType) question {
	return func(ctx context.Context) {
		var list corev1.SecretList
		if err := o.List(ctx, &list, client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector(
			"type", string(kind))}); err != nil {
			o.notChecked("the ends of certificates in Secrets of the %s cluster: %v", o.Name, err)
			return
		}
		for _, s := range list.Items {
			if at, is := endOf(s.Data[corev1.TLSCertKey]); is {
				e := Expiry{Object: health.Ref{Kind: "Secret", Namespace: s.Namespace, Name: s.Name},
					What: fmt.Sprintf("certificate in Secret %s/%s", s.Namespace, s.Name), At: at}
				if s.Annotations["cert-manager.io/certificate-name"] != "" {
					e.RenewedBy = "cert-manager"
				}
				o.expires(e)
			}
		}
	}
}

// endOf returns when the first certificate of a file expires. False means that its first PEM block is none.
func endOf(content []byte) (time.Time, bool) {
	block, _ := pem.Decode(content)
	if block == nil || block.Type != "CERTIFICATE" {
		return time.Time{}, false
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}, false
	}
	return certificate.NotAfter, true
}

// kubeconfigExpiries returns when the credentials of a kubeconfig expire.
func kubeconfigExpiries(config *rest.Config) []Expiry {
	object := health.Ref{Kind: "Kubeconfig", Name: config.Host}
	var found []Expiry
	if at, is := endOf(config.CertData); is {
		found = append(found, Expiry{Object: object, What: "client certificate of the kubeconfig", At: at})
	}
	if at, is := endOfToken(config.BearerToken); is {
		found = append(found, Expiry{Object: object, What: "token of the kubeconfig", At: at})
	}
	return found
}

// endOfToken returns when a token expires, if the token itself says so, as those of service accounts do.
func endOfToken(token string) (time.Time, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}, false
	}
	content, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct {
		Expiry float64 `json:"exp"`
	}
	if err != nil || json.Unmarshal(content, &claims) != nil || claims.Expiry == 0 {
		return time.Time{}, false
	}
	return time.Unix(int64(claims.Expiry), 0), true
}
