package machineadm

import (
	"context"
	"errors"
)

type trustStore struct{ folder, file, command string }

// trustStores are the places where operating systems take certificate authorities from, with the commands that read
// them: Red Hat and its kin, Debian and Ubuntu, Flatcar.
var trustStores = []trustStore{
	{"/etc/pki/ca-trust/source/anchors", "cluster-init.pem", "update-ca-trust"},
	{"/usr/local/share/ca-certificates", "cluster-init.crt", "update-ca-certificates"},
	{"/etc/ssl/certs", "cluster-init.pem", "update-ca-certificates"},
}

func (h Host) trustSteps(c Config) []step {
	if c.CertificateAuthorities == "" {
		return nil
	}
	return []step{{name: "trust the certificate authorities", run: func(ctx context.Context) error {
		for _, store := range trustStores {
			found, err := h.exists(store.folder)
			if err != nil {
				return err
			}
			if !found {
				continue
			}
			if err := h.write(store.folder+"/"+store.file, c.CertificateAuthorities, 0o644); err != nil {
				return err
			}
			return h.run(ctx, store.command)
		}
		return errors.New("the machine has no known folder for them")
	}}}
}
