package source

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// referencesOverSSH logs in with the key and requests the references, as every clone over ssh begins. It uses no proxy:
// neither does Flux over ssh.
func referencesOverSSH(ctx context.Context, repository string, key *SSHKey) ([]byte, error) {
	u, err := url.Parse(repository)
	if err != nil || u.Hostname() == "" || strings.Trim(u.Path, "/") == "" {
		return nil, fmt.Errorf("not an address of the form ssh://git@HOST/PATH")
	}
	if key == nil {
		return nil, fault.New(fault.SourceUnreadable, "it has no key",
			"Set --source-ssh-key and --source-known-hosts.")
	}
	address := net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "22"))
	config, err := key.clientConfig(cmp.Or(u.User.Username(), "git"), address)
	if err != nil {
		return nil, err
	}
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	defer context.AfterFunc(ctx, func() { connection.Close() })()
	over, channels, requests, err := ssh.NewClientConn(connection, address, config)
	if err != nil {
		return nil, errors.Join(explainSSH(err, key.knownHostsFile, address), ctx.Err())
	}
	client := ssh.NewClient(over, channels, requests)
	defer client.Close()
	refs, err := uploadPack(client, u.Path)
	if err != nil {
		return nil, errors.Join(err, ctx.Err())
	}
	return refs, nil
}

// clientConfig accepts only the kinds of host key that are known for the server: otherwise the server could choose an
// unknown one.
func (k *SSHKey) clientConfig(user, address string) (*ssh.ClientConfig, error) {
	check, err := knownhosts.New(k.knownHostsFile)
	if err != nil {
		return nil, fault.Wrap(err, fault.SourceUnreadable, "Fix the file of --source-known-hosts.")
	}
	config := &ssh.ClientConfig{User: user, Auth: []ssh.AuthMethod{ssh.PublicKeys(k.signer)}, HostKeyCallback: check,
		Timeout: verifyTime}
	unknown, err := ssh.NewPublicKey(ed25519.PublicKey(make([]byte, ed25519.PublicKeySize)))
	if err != nil {
		return nil, err
	}
	known, isKeyError := errors.AsType[*knownhosts.KeyError](check(address, &net.TCPAddr{}, unknown))
	if !isKeyError || len(known.Want) == 0 {
		return nil, fault.New(fault.SourceUnreadable, fmt.Sprintf("%s contains no key of %s", k.knownHostsFile,
			knownhosts.Normalize(address)), hintScan(k.knownHostsFile, address))
	}
	for _, want := range known.Want {
		kind := want.Key.Type()
		if kind == ssh.KeyAlgoRSA { // the same key, signed with hashes that are still accepted
			config.HostKeyAlgorithms = append(config.HostKeyAlgorithms, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		}
		config.HostKeyAlgorithms = append(config.HostKeyAlgorithms, kind)
	}
	return config, nil
}

func hintScan(file, address string) string {
	host, port, _ := net.SplitHostPort(address)
	return fmt.Sprintf(
		"Run \"ssh-keyscan -p %s %s >> %s\", and compare the key with what the server's owner publishes.", port, host,
		file)
}

// explainSSH names the cause of a login error. The library has no error type for a key that the server does not accept.
func explainSSH(err error, knownHosts, address string) error {
	if mismatch, ok := errors.AsType[*knownhosts.KeyError](err); ok && len(mismatch.Want) > 0 {
		return fault.New(fault.SourceUnreadable, fmt.Sprintf("the key of %s is not the one in %s",
			knownhosts.Normalize(address), knownHosts),
			"Find out first which server answers there. If the server has a new key: "+
				hintScan(knownHosts, address))
	}
	if strings.Contains(err.Error(), "unable to authenticate") {
		return fault.New(fault.SourceUnreadable, "the server does not accept the key",
			"Add its public key to the repository (ssh-keygen -y -f KEY prints it), or set another key with "+
				"--source-ssh-key.")
	}
	return fault.Wrap(err, fault.SourceUnreadable, "Check the address, and that an ssh server answers there.")
}

// uploadPack returns the references of a repository as the server advertises them.
func uploadPack(client *ssh.Client, path string) ([]byte, error) {
	session, err := client.NewSession()
	if err != nil {
		return nil, err
	}
	defer session.Close()
	var complaint bytes.Buffer
	session.Stderr = &limitedWriter{&complaint, 300}
	in, err := session.StdinPipe() // kept open: the server waits for a request
	if err != nil {
		return nil, err
	}
	out, err := session.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := session.Start("git-upload-pack '" + strings.ReplaceAll(path, "'", `'\''`) + "'"); err != nil {
		return nil, err
	}
	refs, err := readPackets(out)
	if err != nil {
		in.Close()
		_ = session.Wait() // until the error message is complete
		said := strings.Join(strings.Fields(complaint.String()), " ")
		return nil, fault.New(fault.SourceUnreadable, strings.TrimSuffix("the server does not serve the repository: "+
			said, ": "),
			"Check the address, and that the key may read the repository.")
	}
	return refs, nil
}

// readPackets reads lines of git's protocol up to the flush packet, see gitprotocol-common(5).
func readPackets(in io.Reader) ([]byte, error) {
	var all []byte
	head := make([]byte, 4)
	for {
		if _, err := io.ReadFull(in, head); err != nil {
			return nil, err
		}
		length, err := strconv.ParseUint(string(head), 16, 16)
		switch {
		case err != nil || length > 0 && length < 4:
			return nil, fmt.Errorf("not the answer of a git server")
		case length == 0:
			return all, nil
		case len(all) > maxRefs:
			return nil, fmt.Errorf("more than %d MiB of references", maxRefs>>20)
		}
		line := make([]byte, length-4)
		if _, err := io.ReadFull(in, line); err != nil {
			return nil, err
		}
		all = append(append(all, bytes.TrimRight(line, "\n")...), '\n')
	}
}

// limitedWriter keeps the beginning of what is written to it.
type limitedWriter struct {
	out  *bytes.Buffer
	left int
}

// Write accepts everything and keeps what fits.
func (w *limitedWriter) Write(p []byte) (int, error) {
	kept := p[:min(len(p), w.left)]
	w.left -= len(kept)
	w.out.Write(kept)
	return len(p), nil
}
