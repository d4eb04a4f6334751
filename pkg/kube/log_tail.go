package kube

import (
	"bytes"
	"context"
	"errors"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
)

// LogTail returns the end of a container's log: the last complete lines of at most limit bytes. The options must not
// have LimitBytes, because an API server then leaves out the newest lines. A log that ends in an error, such as the end
// of ctx, is returned as far as it was read, if anything was.
func LogTail(ctx context.Context, client kubernetes.Interface, namespace, pod string, options corev1.PodLogOptions,
	limit int) (string, error) {
	stream, err := client.CoreV1().Pods(namespace).GetLogs(pod, &options).Stream(ctx)
	if err != nil {
		return "", err
	}
	defer stream.Close()
	tail, err := readTail(stream, limit)
	if tail != "" {
		return tail, nil
	}
	return "", err
}

// readTail returns the last complete lines of at most limit bytes. Half a line could hold half a secret, which a
// redactor would not find. It keeps at most twice the limit in memory, and one buffer more.
func readTail(from io.Reader, limit int) (string, error) {
	var tail []byte
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		tail = append(tail, buffer[:n]...)
		if len(tail) > 2*limit {
			tail = append(tail[:0], tail[len(tail)-limit-1:]...) // one byte more shows whether the first line is whole
		}
		if errors.Is(err, io.EOF) {
			return string(lastLines(tail, limit)), nil
		}
		if err != nil {
			whole := tail[:bytes.LastIndexByte(tail, '\n')+1]
			return string(lastLines(whole, limit)), err
		}
	}
}

// lastLines returns the last complete lines of at most limit bytes.
func lastLines(text []byte, limit int) []byte {
	if len(text) > limit {
		_, text, _ = bytes.Cut(text[len(text)-limit-1:], []byte("\n"))
	}
	return text
}
