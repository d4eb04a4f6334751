package redact

import (
	"regexp"
	"slices"
	"strings"
)

// pattern finds a secret by its surroundings. keep is what stays of a match. A text without any of the hints has no
// match; that check is a hundred times faster. Without hints the pattern always runs.
type pattern struct {
	find  *regexp.Regexp
	keep  string
	hints []string
}

func (p pattern) redact(s string) string {
	if p.hints != nil && !slices.ContainsFunc(p.hints, func(hint string) bool { return strings.Contains(s, hint) }) {
		return s
	}
	return p.find.ReplaceAllString(s, p.keep)
}

// patterns returns the patterns of unknown secrets. Logs often escape line breaks and quotes, hence the backslashes.
func patterns() []pattern {
	return []pattern{
		// Private keys, also truncated ones.
		{regexp.MustCompile(
			`-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:[A-Za-z0-9+/=\s]|\\+[nr])*(?:-----END [A-Z0-9 ]*PRIVATE KEY-----)?`), Mark, []string{"PRIVATE KEY-----"}},
		{regexp.MustCompile(`(?:[A-Za-z0-9+/=]{16,}(?:\s|\\+[nr])+)+-----END [A-Z0-9 ]*PRIVATE KEY-----`), Mark,
			[]string{"PRIVATE KEY-----"}},
		// What begins with "-----BEGIN" in base64; certificates go with the keys.
		{regexp.MustCompile(`LS0tLS1CRUdJT[A-Za-z0-9+/_=-]+`), Mark, []string{"LS0tLS1CRUdJT"}},
		// "PRIVATE KEY-----" in base64, wherever it begins in a group of three bytes.
		{regexp.MustCompile(
			`[A-Za-z0-9+/_-]*(?:UFJJVkFURSBLRVktLS0tL|BSSVZBVEUgS0VZLS0tLS|QUklWQVRFIEtFWS0tLS0t)[A-Za-z0-9+/_=-]*`),
			Mark, []string{"UFJJVkFURSBLRVktLS0tL", "BSSVZBVEUgS0VZLS0tLS", "QUklWQVRFIEtFWS0tLS0t"}},
		// Compressed data in base64, as Helm stores it: its content cannot be searched.
		{regexp.MustCompile(`H4sI[A-Za-z0-9+/_-](?:[A-Za-z0-9+/_-]|\s|\\+[nr]){15,}=*`), Mark, []string{"H4sI"}},
		// HTTP: Authorization: Bearer ..., Basic ...
		{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}`), "${1} " + Mark, nil},
		// JSON web tokens, as those of service accounts.
		{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`), Mark,
			[]string{"eyJ"}},
		// Bootstrap tokens: kubeadm's, and RKE2's.
		{regexp.MustCompile(`\b[a-z0-9]{6}\.[a-z0-9]{16}\b`), Mark, nil},
		{regexp.MustCompile(`\bK10[0-9a-f]{64}::[^\s"'\\]+`), Mark, []string{"K10"}},
		// Tokens of GitLab and GitHub, keys of AWS.
		{regexp.MustCompile(
			`\b(?:gl[a-z]{2,5}-[A-Za-z0-9_-]{16,}|gh[a-z]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})`), Mark,
			[]string{"gl", "gh", "github_pat"}},
		{regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`), Mark, []string{"AKIA", "ASIA"}},
		// https://token@host, https://token:x-oauth-basic@host
		{regexp.MustCompile(`(https?://)[^/\s@"'\\?#]+@`), "${1}" + Mark + "@", []string{"://"}},
		// scheme://user:password@host
		{regexp.MustCompile(`(://[^/\s:@"'\\]*:)[^/\s@"'\\]+@`), "${1}" + Mark + "@", []string{"://"}},
		// password=..., "token":"...", password: ...
		{regexp.MustCompile(
			`(?i)((?:password|passwd|passphrase|secret|token|api_?key|access_?key|private_?key|certificate_?key)=\\*["']?)[^\s"'\\,;&*]{4,}`), "${1}" + Mark, nil},
		{regexp.MustCompile(
			`(?i)((?:password|passwd|passphrase|secret|token|api_?key|access_?key|private_?key|certificate_?key)\\*["']\s*:\s*\\*["'])[^"'\\*]{4,}`), "${1}" + Mark, nil},
		{regexp.MustCompile(`(?i)((?:password|passwd|passphrase): *\\*["']?)[^\s"'\\,;*]{4,}`), "${1}" + Mark, nil},
	}
}
