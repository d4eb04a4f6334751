//go:build capa

package providers

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
)

func writeFiles(folder string, files map[string][]byte) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// lastLines keeps the end of what a process writes.
type lastLines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write keeps the last 64 KiB.
func (l *lastLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(p)
	if extra := l.text.Len() - 64<<10; extra > 0 {
		l.text.Next(extra)
	}
	return len(p), nil
}

// String returns what is kept.
func (l *lastLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
