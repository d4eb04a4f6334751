package benchmark

import (
	"slices"
	"strconv"
	"strings"
)

// strong are the ciphers that the benchmark names, for the API server and for kubelet.
var strong = []string{
	"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
	"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
	"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
	"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
	"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
}

func areStrong(value string, given bool) bool {
	return given && !slices.ContainsFunc(strings.Split(value, ","), func(s string) bool {
		return !slices.Contains(strong, s)
	})
}

func isGiven(_ string, given bool) bool { return given }

func isAbsent(_ string, given bool) bool { return !given }

func is(values ...string) func(string, bool) bool {
	return func(value string, given bool) bool { return given && slices.Contains(values, value) }
}

func isNot(values ...string) func(string, bool) bool {
	return func(value string, given bool) bool { return given && !slices.Contains(values, value) }
}

func isOrAbsent(want string) func(string, bool) bool {
	return func(value string, given bool) bool { return !given || value == want }
}

func has(item string) func(string, bool) bool {
	return func(value string, _ bool) bool { return slices.Contains(strings.Split(value, ","), item) }
}

func without(item string) func(string, bool) bool {
	return func(value string, _ bool) bool { return !slices.Contains(strings.Split(value, ","), item) }
}

// isWithout is without for an argument that must be set.
func isWithout(item string) func(string, bool) bool {
	return func(value string, given bool) bool { return given && without(item)(value, given) }
}

func atLeast(least int) func(string, bool) bool {
	return func(value string, given bool) bool {
		n, err := strconv.Atoi(value)
		return given && err == nil && n >= least
	}
}
