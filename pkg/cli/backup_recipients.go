package cli

import (
	"github.com/spf13/pflag"

	"github.com/cluster-init/cluster-init/pkg/backup"
)

// recipientOptions are the flags of every command that writes a backup.
type recipientOptions struct{ keys []string }

func (o *recipientOptions) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.keys, "backup-recipient", nil, "public key of age (age1...) or of ssh (ssh-ed25519, ssh-rsa): encrypt the backup, so that only its owner can open it (repeatable)")
}

func (o *recipientOptions) parse() (backup.Recipients, error) {
	return backup.ParseRecipients("--backup-recipient", o.keys)
}
