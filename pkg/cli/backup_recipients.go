package cli

import (
	"github.com/spf13/pflag"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// recipientOptions are the flags of every command that writes a backup.
type recipientOptions struct {
	keys []string
	sign string
}

// sealing holds who can decrypt a backup, and who signs it.
type sealing struct {
	recipients backup.Recipients
	signer     backup.Signer
}

func (o *recipientOptions) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.keys, "recipient", nil, "public key of age (age1...) or ssh (ssh-ed25519, ssh-rsa): "+
		"encrypt the backup, so that only the key's owner can open it (repeatable)")
	f.StringVar(&o.sign, "sign-key", "", "file with an ssh private key without a passphrase: sign the backup, "+
		"so that restore --verify-key can verify who made it")
}

// checkScheduled refuses recipients of backups on a schedule for which none could be made. The chart checks only their
// form.
func checkScheduled(env *environment.Environment) error {
	_, err := backup.ParseRecipients("cluster.backup.recipients", env.BackupRecipients())
	if err == nil {
		return nil
	}
	return fault.Wrap(err, fault.ValuesInvalid, fault.HintOf(err))
}

func (o *recipientOptions) parse() (sealing, error) {
	recipients, err := backup.ParseRecipients("--recipient", o.keys)
	s := sealing{recipients: recipients}
	var signErr error
	if o.sign != "" {
		s.signer, signErr = backup.ReadSigner("--sign-key", o.sign)
	}
	return s, fault.Join(err, signErr)
}
