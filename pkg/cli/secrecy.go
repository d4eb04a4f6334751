package cli

import (
	"sync"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/redact"
)

// secrecy knows the secrets of this process, to mask them in messages, events and reports. It is safe for concurrent
// use. Nil knows none.
type secrecy struct {
	mu    sync.Mutex
	known *redact.Redactor
}

// newSecrecy knows the secrets among these variables (NAME=value).
func newSecrecy(variables []string) *secrecy {
	return &secrecy{known: redact.New(redact.FromEnvironment(variables)...)}
}

// learn makes the secrets of an environment known, as soon as they are read: it may be refused, and the error may quote
// them.
func (s *secrecy) learn(documents ...map[string]any) {
	for _, document := range documents {
		s.add(redact.FromValues(document)...)
	}
}

// learnOf makes the secrets of an environment known. env may be nil.
func (s *secrecy) learnOf(env *environment.Environment) {
	if env != nil {
		s.learn(env.SecretDocuments()...)
	}
}

func (s *secrecy) add(secrets ...string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.Add(secrets...)
}

// text returns a text with its secrets masked.
func (s *secrecy) text(text string) string {
	if s == nil {
		return text
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known.Text(text)
}
