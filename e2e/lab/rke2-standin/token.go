package main

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// joinToken is what a node shows to a server. A token of RKE2's long form, K10HASH::USER:PASSWORD, also says by which
// certificate authority the server is known; the short form is the password alone.
type joinToken struct {
	password string
	caHash   string // SHA-256 of the authority's PEM file in hexadecimal digits; empty: the first answer is trusted
}

// parseToken reads a token. Errors do not quote it.
func parseToken(text string) (joinToken, error) {
	long, isLong := strings.CutPrefix(text, "K10")
	hash, rest, hasHash := strings.Cut(long, "::")
	if !isLong || !hasHash {
		return joinToken{password: text}, nil
	}
	_, password, found := strings.Cut(rest, ":")
	if !found || password == "" || len(hash) != hex.EncodedLen(sha256.Size) {
		return joinToken{}, errors.New("the token begins as K10... and is not K10HASH::USER:PASSWORD")
	}
	return joinToken{password: password, caHash: hash}, nil
}

// matches compares in a time that tells nothing of the password, nor of its length.
func (t joinToken) matches(password string) bool {
	own, shown := sha256.Sum256([]byte(t.password)), sha256.Sum256([]byte(password))
	return t.password != "" && subtle.ConstantTimeCompare(own[:], shown[:]) == 1
}

// serverToken returns the token of this server: that of the configuration, else the one that it made before, else a
// new one.
func serverToken(p paths, cfg config) (joinToken, error) {
	if cfg.token != "" {
		return parseToken(cfg.token)
	}
	content, err := os.ReadFile(p.token())
	if err == nil {
		return parseToken(strings.TrimSpace(string(content)))
	}
	if !errors.Is(err, os.ErrNotExist) {
		return joinToken{}, fmt.Errorf("read the server's token: %w", err)
	}
	token, err := randomText(32)
	if err != nil {
		return joinToken{}, err
	}
	return joinToken{password: token}, writeFile(p.token(), []byte(token+"\n"))
}

// randomText returns n random characters of those that kubeadm's tokens are made of.
func randomText(n int) (string, error) {
	const alphabet = "abcdefghijklmnopqrstuvwxyz012345" // 32 of them, so that no character is likelier than others
	bytes := make([]byte, n)
	if _, err := io.ReadFull(rand.Reader, bytes); err != nil {
		return "", fmt.Errorf("make a random token: %w", err)
	}
	for i := range bytes {
		bytes[i] = alphabet[bytes[i]%32]
	}
	return string(bytes), nil
}
