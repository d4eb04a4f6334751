package etcd_test

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/etcd"
)

func TestVerify(t *testing.T) {
	database := bytes.Repeat([]byte{7}, 4096)
	digest := sha256.Sum256(database)
	well := append(bytes.Clone(database), digest[:]...)
	flipped := bytes.Clone(well)
	flipped[100] ^= 1
	for name, tc := range map[string]struct {
		snapshot []byte
		ok       bool
	}{
		"well":          {well, true},
		"one bit":       {flipped, false},
		"no digest":     {database, false},
		"half":          {well[:2048], false},
		"digest alone":  {digest[:], false},
		"empty":         {nil, false},
		"last byte off": {well[:len(well)-1], false},
	} {
		if err := etcd.Verify(tc.snapshot); (err == nil) != tc.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
