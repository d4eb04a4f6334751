package capi

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// handover passes objects in memory to clusterctl, which reads a folder of files: the one file of the folder is a named
// pipe.
type handover struct {
	folder string
	sent   chan error
}

func handOver(objects []*unstructured.Unstructured) (*handover, error) {
	var text []byte
	for _, u := range objects {
		document, err := yaml.Marshal(u.Object)
		if err != nil {
			return nil, fmt.Errorf("write %s as YAML: %w", ObjectOf(u), err)
		}
		text = append(append(text, "---\n"...), document...)
	}
	folder, err := os.MkdirTemp("", "cluster-init-restore-") // MkdirTemp makes it 0700
	if err != nil {
		return nil, err
	}
	h := &handover{folder: folder, sent: make(chan error, 1)}
	if err := syscall.Mkfifo(h.pipe(), 0o600); err != nil {
		return nil, errors.Join(&os.PathError{Op: "mkfifo", Path: h.pipe(), Err: err}, os.RemoveAll(folder))
	}
	go func() { h.sent <- h.send(text) }()
	return h, nil
}

func (h *handover) pipe() string { return filepath.Join(h.folder, "objects.yaml") }

// send waits for a reader, and returns when everything was written or the reader is gone.
func (h *handover) send(text []byte) error {
	f, err := os.OpenFile(h.pipe(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// end removes the folder. Objects that clusterctl did not read are dropped.
func (h *handover) end() error {
	for {
		// this unblocks a sender without a reader
		if reader, err := os.OpenFile(h.pipe(), os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
			_ = reader.Close()
		}
		select {
		case err := <-h.sent:
			if errors.Is(err, syscall.EPIPE) {
				err = nil
			}
			return errors.Join(err, os.RemoveAll(h.folder))
		case <-time.After(10 * time.Millisecond):
		}
	}
}
