package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// cluster of one server that admits everyone who knows the token.
func newCluster(t *testing.T, admitted admission, failure error) (*httptest.Server, []byte) {
	t.Helper()
	own := registrar{
		token: joinToken{password: "s3cret"},
		admit: func(context.Context) (admission, error) { return admitted, failure },
		server: func(context.Context) (serverAdmission, error) {
			return serverAdmission{Files: material{"tls/server-ca.key": []byte("key")},
				Members: []member{{ID: "1", Name: "a-x"}}}, failure
		},
	}
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	t.Cleanup(server.Close)
	// Its own certificate is its authority.
	own.authority = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	server.Config.Handler = own.handler()
	return server, own.authority
}

func TestRegistrationPortAsksForTheToken(t *testing.T) {
	server, authority := newCluster(t, admission{Token: "abc.def"}, nil)
	tests := []struct {
		name, method, path, password string
		status                       int
		body                         string
	}{
		{"the authority is for everyone", "GET", pathAuthority, "", 200, string(authority)},
		{"the load balancer's question", "GET", pathReady, "", 403, "forbidden\n"},
		{"a node's question", "GET", pathReady, "s3cret", 200, "ok\n"},
		{"a wrong token", "GET", pathReady, "s3cre", 401, "not authorized\n"},
		{"no token for a node", "POST", pathNode, "", 403, "forbidden\n"},
		{"a wrong token for a node", "POST", pathNode, "wrong", 401, "not authorized\n"},
		{"a node", "POST", pathNode, "s3cret", 200, `{"apiServer":"","authority":null,"token":"abc.def"}`},
		{"no token for a server", "POST", pathServer, "", 403, "forbidden\n"},
		{"a wrong token for a server", "POST", pathServer, "S3cret", 401, "not authorized\n"},
		{"something else", "GET", "/v1-rke2/config", "s3cret", 404, "404 page not found\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			request, err := http.NewRequest(test.method, server.URL+test.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if test.password != "" {
				request.SetBasicAuth("node", test.password)
			}
			response, err := server.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = response.Body.Close() }()
			body, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != test.status || string(body) != test.body {
				t.Errorf("got %d %q (%v), want %d %q", response.StatusCode, body, err, test.status, test.body)
			}
		})
	}
}

func TestRegistrationWithoutTokenLetsNobodyIn(t *testing.T) {
	if (joinToken{}).matches("") {
		t.Error("an empty token matches")
	}
}

func TestMeetAndBeAdmitted(t *testing.T) {
	server, authority := newCluster(t, admission{APIServer: "https://lb:6443", Authority: []byte("ca"),
		Token: "abc.def"}, nil)
	hash := sha256.Sum256(authority)
	for name, token := range map[string]joinToken{
		"first answer trusted": {password: "s3cret"},
		"authority named":      {password: "s3cret", caHash: hex.EncodeToString(hash[:])},
	} {
		t.Run(name, func(t *testing.T) {
			met, err := meet(context.Background(), server.URL+"/", token)
			if err != nil {
				t.Fatal(err)
			}
			admitted, err := met.node(context.Background())
			if err != nil || admitted.APIServer != "https://lb:6443" || string(admitted.Authority) != "ca" ||
				admitted.Token != "abc.def" {
				t.Errorf("got %+v (%v)", admitted, err)
			}
			more, err := met.server(context.Background())
			if err != nil || string(more.Files["tls/server-ca.key"]) != "key" || len(more.Members) != 1 ||
				more.Members[0].Name != "a-x" {
				t.Errorf("got %+v (%v)", more, err)
			}
		})
	}
}

func TestMeetRefusesAnotherAuthority(t *testing.T) {
	server, _ := newCluster(t, admission{}, nil)
	_, err := meet(context.Background(), server.URL, joinToken{password: "s3cret", caHash: strings.Repeat("00", 32)})
	if err == nil || !strings.Contains(err.Error(), "not the one that the token names") {
		t.Errorf("got %v", err)
	}
}

func TestAdmissionFailsWithoutDetails(t *testing.T) {
	server, _ := newCluster(t, admission{}, errors.New("inner details"))
	met, err := meet(context.Background(), server.URL, joinToken{password: "s3cret"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = met.node(context.Background())
	if err == nil || !strings.Contains(err.Error(), "503") || strings.Contains(err.Error(), "inner details") {
		t.Errorf("got %v", err)
	}
}

func TestAWrongTokenIsNotShown(t *testing.T) {
	server, _ := newCluster(t, admission{}, nil)
	met, err := meet(context.Background(), server.URL, joinToken{password: "other-s3cret"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = met.node(context.Background()); err == nil || strings.Contains(err.Error(), "other-s3cret") {
		t.Errorf("got %v", err)
	}
}
