package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"
)

// registrationPort is where RKE2's servers take in further nodes.
const registrationPort = "9345"

// The paths of RKE2 that others than nodes ask, and the stand-in's own for nodes.
const (
	pathAuthority = "/cacerts"
	pathReady     = "/v1-rke2/readyz"
	pathServer    = "/v1-rke2-standin/server"
	pathNode      = "/v1-rke2-standin/node"
)

// admission is what a joining node gets: where the API server is, and a token of kubeadm to register with.
type admission struct {
	APIServer string `json:"apiServer"`
	Authority []byte `json:"authority"`
	Token     string `json:"token"`
}

// serverAdmission is what a joining server gets besides.
type serverAdmission struct {
	Files   material `json:"files"`
	Members []member `json:"members"`
}

// registrar answers at the registration port. Its functions read what this server is now.
type registrar struct {
	token     joinToken
	authority []byte
	admit     func(context.Context) (admission, error)
	server    func(context.Context) (serverAdmission, error)
}

// handler serves the registration port. What needs no token: the certificate authority. Without credentials all else
// is forbidden, which load balancers take for a sign of life: they expect 403 of /v1-rke2/readyz.
func (r registrar) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+pathAuthority, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		reply(w, r.authority)
	})
	mux.Handle("GET "+pathReady, r.authenticated(
		func(w http.ResponseWriter, _ *http.Request) { reply(w, []byte("ok\n")) }))
	mux.Handle("POST "+pathNode, r.authenticated(func(w http.ResponseWriter, request *http.Request) {
		answer(w, request, "admit a node", r.admit)
	}))
	mux.Handle("POST "+pathServer, r.authenticated(func(w http.ResponseWriter, request *http.Request) {
		answer(w, request, "admit a server", r.server)
	}))
	return mux
}

// authenticated lets requests through that show the token as the password of basic authentication, as RKE2's do.
func (r registrar) authenticated(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		_, password, shown := request.BasicAuth()
		switch {
		case !shown:
			http.Error(w, "forbidden", http.StatusForbidden)
		case !r.token.matches(password):
			http.Error(w, "not authorized", http.StatusUnauthorized)
		default:
			next(w, request)
		}
	})
}

// answer writes what produce returns as JSON. Why it failed is for this node's journal.
func answer[T any](w http.ResponseWriter, request *http.Request, what string, produce func(context.Context) (
	T, error)) {
	value, err := produce(request.Context())
	if err != nil {
		log.Printf("cannot %s: %v", what, err)
		http.Error(w, "this server cannot "+what+" now", http.StatusServiceUnavailable)
		return
	}
	content, err := json.Marshal(value)
	if err != nil {
		log.Printf("cannot %s: %v", what, err)
		http.Error(w, "this server cannot "+what, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	reply(w, content)
}

// reply writes the body. A client that has gone away meanwhile asks again.
func reply(w http.ResponseWriter, content []byte) {
	if _, err := w.Write(content); err != nil {
		log.Print("an answer did not reach its node: ", err)
	}
}

// serveRegistration serves until the context ends. It calls ready when the port is open.
func serveRegistration(ctx context.Context, handler http.Handler, certificate tls.Certificate,
	ready func() error) error {
	listener, err := net.Listen("tcp", hostPort("", registrationPort))
	if err != nil {
		return fmt.Errorf("open the registration port: %w", err)
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: time.Minute,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
	}
	ended := make(chan error, 1)
	go func() { ended <- server.ServeTLS(listener, "", "") }()
	if err := ready(); err != nil {
		return errors.Join(err, server.Close())
	}
	select {
	case err := <-ended:
		return fmt.Errorf("serve the registration port: %w", err)
	case <-ctx.Done():
		return server.Close()
	}
}
